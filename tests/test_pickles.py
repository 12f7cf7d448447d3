"""Pickles of strangers: plain values come through, nothing else happens."""

import io
import os
import pickle
import subprocess
import sys
from collections import OrderedDict
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zshash._pickles import ARRAYS, PickledDict, SafeUnpickler, UnpicklingError


def load(data, table=ARRAYS, **options):
    return SafeUnpickler(io.BytesIO(data), table, **options).load()


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("dtype", ["u1", "<i4", ">i2", "f8", "?"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_every_protocol(protocol, dtype, order):
    array = np.asarray(np.arange(24).reshape(2, 3, 4).astype(dtype), order=order)
    value = {"data": array, "mean": np.float32(0.5), b"bytes": [b"x", "ü", None, True, -3]}
    found = load(pickle.dumps(value, protocol))
    np.testing.assert_array_equal(np.asarray(found["data"]), array)
    assert np.asarray(found["data"]).dtype == array.dtype
    assert found["mean"] == 0.5
    assert found[b"bytes"] == value[b"bytes"]


def test_strings_of_python_2_are_decoded():
    assert load(b"\x80\x02U\x02\xe9tq\x00.") == "ét"
    assert load(b"\x80\x02U\x02\xc3\xa9.", encoding="utf-8") == "é"


def test_ordered_dictionaries_keep_order_and_lose_attributes():
    value = OrderedDict(b=1, a=2)
    value.note = "lost"
    found = load(pickle.dumps(value, 2))
    assert isinstance(found, PickledDict)
    assert list(found.items()) == [("b", 1), ("a", 2)]


class Runs:
    def __init__(self, function, *arguments):
        self.reduced = function, arguments

    def __reduce__(self):
        return self.reduced


@pytest.mark.parametrize(
    ("function", "arguments", "name"),
    [
        (os.mkdir, ("{folder}/hacked",), "mkdir"),
        (eval, ("__import__('os').mkdir('{folder}/hacked')",), "eval"),
        (getattr, ("", "format"), "getattr"),
        (np.load, ("{folder}/x",), "load"),
    ],
)
@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_nothing_outside_of_the_table_is_called(tmp_path, function, arguments, name, protocol):
    arguments = [text.format(folder=tmp_path) for text in arguments]
    data = pickle.dumps([Runs(function, *arguments)], protocol)
    with pytest.raises(UnpicklingError, match=rf"it asks for .*\.{name}, which is not allowed"):
        load(data)
    assert not (tmp_path / "hacked").exists()


def test_nothing_is_imported():
    name = "this"  # a module that nobody has imported
    assert name not in sys.modules
    with pytest.raises(UnpicklingError, match="not allowed"):
        load(f"c{name}\nd\n.".encode())
    assert name not in sys.modules


@pytest.mark.parametrize(
    "data",
    [
        b"(i__main__\nRuns\n.",  # INST
        b"(cnumpy\ndtype\nU\x02u1o.",  # OBJ
        b"\x80\x02cnumpy\ndtype\nU\x02u1\x85\x81.",  # NEWOBJ
        b"\x80\x02\x82\x01.",  # EXT1
        b"\x80\x04\x8f.",  # a set
        b"\x80\x05\x97.",  # a buffer from elsewhere
    ],
)
def test_other_ways_to_make_objects_are_closed(data):
    with pytest.raises(UnpicklingError):
        load(data)


def test_what_the_table_holds_can_not_be_changed():
    class Thing:
        pass

    state = b"\x80\x02cx\ny\n}U\x01aK\x01sb."
    with pytest.raises(UnpicklingError, match="it changes an object of type type"):
        load(state, {("x", "y"): Thing})
    assert not hasattr(Thing, "a")
    with pytest.raises(UnpicklingError, match="it changes an object of type function"):
        load(state, {("x", "y"): test_nothing_is_imported})
    assert not hasattr(test_nothing_is_imported, "a")


@pytest.mark.parametrize(
    "array",
    [
        np.array([{}, 1], dtype=object),
        np.array(["cat"]),
        np.zeros(2, dtype=[("a", "i4"), ("b", "f4")]),
        np.zeros(2, dtype="M8[s]"),
    ],
)
@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_only_arrays_of_numbers(array, protocol):
    with pytest.raises(UnpicklingError, match="only numbers are allowed"):
        load(pickle.dumps(array, protocol))


@pytest.mark.parametrize("shape", [b"K\x09K\x03", b"J\xfe\xff\xff\xffJ\xfd\xff\xff\xff"])
def test_an_array_has_the_bytes_it_claims(shape):
    data = pickle.dumps(np.arange(6, dtype=np.uint8).reshape(2, 3), 2)
    assert np.asarray(load(data)).shape == (2, 3)
    with pytest.raises(UnpicklingError, match=r"an array of shape \((9, 3|-2, -3)\) with 6 bytes"):
        load(data.replace(b"K\x02K\x03", shape))


def test_ten_bytes_do_not_take_gigabytes():
    """In C, the number of a memo entry is the length of a table."""
    resource = pytest.importorskip("resource")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert load(b"\x80\x02Nr\xff\xff\xff\x3f.") is None
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kB


def test_deep_keys_do_not_overflow_the_stack():
    code = "import io\nfrom zshash._pickles import SafeUnpickler, UnpicklingError\n"
    code += "data = b'\\x80\\x02})' + b'\\x85' * 1_000_000 + b'Ns.'\n"
    code += "try:\n    SafeUnpickler(io.BytesIO(data), {}).load()\n"
    code += "except UnpicklingError as error:\n    print(error)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "it has a key of type tuple"


def test_persistent_ids_are_for_subclasses():
    data = b"\x80\x02U\x03abcQ."
    with pytest.raises(UnpicklingError, match="refers to data outside of it"):
        load(data)

    class Resolving(SafeUnpickler):
        def persistent_load(self, pid):
            return pid.upper()

    assert Resolving(io.BytesIO(data), {}).load() == "ABC"


VALID = pickle.dumps({"data": np.arange(6, dtype=np.uint8), "labels": [1, 2], "x": (1.5, "é")}, 4)


@given(st.data())
def test_damage_is_an_unpickling_error(data):
    damaged = bytearray(VALID)
    for _ in range(data.draw(st.integers(0, 3))):
        damaged[data.draw(st.integers(0, len(VALID) - 1))] = data.draw(st.integers(0, 255))
    damaged = damaged[: data.draw(st.integers(0, len(VALID)))]
    with suppress(UnpicklingError):  # and nothing else
        load(bytes(damaged))
