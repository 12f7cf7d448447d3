"""Sources of rows, reading of rows, and messages about shards that can not be read."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scale.comparing import assert_same_fit, before, cut
from zshash import LSH, ZSH, scale
from zshash.hashing.steps.rows import BLOCK_ROWS
from zshash.scale import ShardError
from zshash.scale.samples import ShardedSamples
from zshash.scale.shards import Shard, ShardRows, is_shard_folder, open_shards
from zshash.scale.tables import NumpyTable

SIZES = [1300, 1, 199]


@pytest.fixture
def parts(digits):
    return cut(digits[0], SIZES)


def quick():
    return ZSH(9, n_anchors=60, graph="anchor", normalize=True, max_iter=3, random_state=0)


def rows_of(data):
    """All rows of all shards, read as a fit reads them."""
    return np.concatenate([ShardRows(shard.looked_at())[:] for shard in open_shards(data)])


def save(path, array):
    np.save(path, array)
    return path


def parquet(path, X, groups, **columns):
    """A Parquet file of row groups of the given sizes."""
    table = pa.table({"X": list(X), **columns})
    with pq.ParquetWriter(path, table.schema) as writer:
        first = 0
        for size in groups:
            writer.write_table(table.slice(first, size), row_group_size=size)
            first += size
    return path


SOURCES = {
    "arrays": lambda _, parts: parts,
    "lists": lambda _, parts: [part.tolist() for part in parts],
    "a generator": lambda _, parts: (part for part in parts),
    "float64": lambda _, parts: [part.astype(np.float64) for part in parts],
    "by columns in memory": lambda _, parts: [np.asfortranarray(part) for part in parts],
    "every second row": lambda _, parts: [np.repeat(part, 2, axis=0)[::2] for part in parts],
    "files": lambda folder, parts: npy_files(folder, parts),
    "names": lambda folder, parts: [str(path) for path in npy_files(folder, parts)],
    "a folder": lambda folder, parts: npy_files(folder, parts)[0].parent,
    "float16": lambda folder, parts: npy_files(folder, parts, np.float16),
    "float64 files": lambda folder, parts: npy_files(folder, parts, np.float64),
    "big-endian": lambda folder, parts: npy_files(folder, parts, ">f4"),
    "bytes": lambda folder, parts: npy_files(folder, parts, np.uint8),
    "numbers": lambda folder, parts: npy_files(folder, parts, np.int64),
    "mappings": lambda folder, parts: [
        np.load(path, mmap_mode="r") for path in npy_files(folder, parts)
    ],
    "slices of a mapping": lambda folder, parts: cut(
        np.load(save(folder / "all.npy", np.concatenate(parts)), mmap_mode="r"), SIZES
    ),
    "archives": lambda folder, parts: [
        archive(folder / f"{n}.npz", part) for n, part in enumerate(parts)
    ],
    "row groups": lambda folder, parts: parquet(folder / "x.parquet", np.concatenate(parts), SIZES),
    "all kinds": lambda folder, parts: [
        parts[0],
        archive(folder / "1.npz", parts[1]),
        save(folder / "2.NPY.npy", parts[2]),
    ],
}


def npy_files(folder, parts, dtype=np.float32):
    folder = folder / "rows"
    folder.mkdir()
    return [save(folder / f"{n}.npy", part.astype(dtype)) for n, part in enumerate(parts)]


def archive(path, part):
    np.savez(path, X=part)
    return path


@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_gives_the_same_rows_and_fit(kind, parts, digits, tmp_path):
    rows = rows_of(SOURCES[kind](tmp_path, parts))
    assert rows.dtype == np.float32
    assert np.array_equal(rows, digits[0])
    again = tmp_path / "again"
    again.mkdir()
    fitted = scale.fit(quick(), SOURCES[kind](again, parts), digits[1])
    assert_same_fit(scale.fit(quick(), parts, digits[1]), fitted)


def test_one_array_is_one_shard(digits):
    assert len(open_shards(digits[0])) == 1


def test_a_folder_is_read_in_the_order_of_names_without_labels(parts, tmp_path):
    save(tmp_path / "b.npy", parts[0])
    save(tmp_path / "a.npy", parts[1])
    archive(tmp_path / "c.npz", parts[2]).rename(tmp_path / "c.NPZ")
    save(tmp_path / "a.labels.npy", np.zeros(1))
    (tmp_path / "notes.txt").write_text("these are no rows")
    (tmp_path / "d.npy").mkdir()
    assert np.array_equal(rows_of(tmp_path), np.concatenate([parts[1], parts[0], parts[2]]))
    assert is_shard_folder(tmp_path)
    assert not is_shard_folder(tmp_path / "d.npy")
    assert not is_shard_folder(tmp_path / "notes.txt")


def whole(folder, X):
    path = save(folder / "x.npy", X)
    return np.load(path, mmap_mode="r"), True


def written_to(folder, X):
    array = np.lib.format.open_memmap(folder / "x.npy", mode="w+", dtype=np.float32, shape=X.shape)
    array[:] = X  # and not flushed
    return array, True


def sliced(folder, X):
    twice = np.concatenate([X[:3], X])
    return np.load(save(folder / "x.npy", twice), mmap_mode="r")[3:], False


def turned(folder, X):
    return np.load(save(folder / "x.npy", X[::-1]), mmap_mode="r")[::-1], False


def transposed(folder, X):
    return np.load(save(folder / "x.npy", X.T), mmap_mode="r").T, False


def changed_in_memory(folder, X):
    array = np.load(save(folder / "x.npy", np.zeros_like(X)), mmap_mode="c")
    array[:] = X
    return array, False


def read_as_another_type(folder, X):
    return np.load(save(folder / "x.npy", X.view(np.int32)), mmap_mode="r").view("f4"), False


def without_a_header(folder, X):
    array = np.memmap(folder / "x.dat", dtype=np.float32, mode="w+", shape=X.shape)
    array[:] = X
    return array, False


def under_another_name(folder, X):
    path = save(folder / "x.npy", X).rename(folder / "x.bin")
    return np.load(path, mmap_mode="r"), False


def of_a_file_that_is_gone(folder, X):
    array = np.load(save(folder / "x.npy", X), mmap_mode="r")
    (folder / "x.npy").unlink()
    return array, False


def computed(folder, X):
    return np.load(save(folder / "x.npy", X - 1), mmap_mode="r") + 1, False


MAPPINGS = [
    whole,
    written_to,
    sliced,
    turned,
    transposed,
    changed_in_memory,
    read_as_another_type,
    without_a_header,
    under_another_name,
    of_a_file_that_is_gone,
    computed,
]


@pytest.mark.parametrize("kind", MAPPINGS)
def test_mappings_show_the_rows_that_the_user_sees(kind, digits, tmp_path):
    """Some can be sent as the name of their file, and others can not."""
    X = digits[0][:1200]
    array, is_file = kind(tmp_path, X)
    for data in (array, [array]):
        (shard,) = open_shards(data)
        assert isinstance(shard.source, os.PathLike) == is_file
        assert np.array_equal(rows_of(data), X)


class Counted:
    """Counts the rows that are read of ``.npy`` files, and the longest piece."""

    def __init__(self, patch):
        self.rows, self.longest, read = 0, 0, NumpyTable.read

        def counting(table, first, last):
            self.rows, self.longest = self.rows + last - first, max(self.longest, last - first)
            return read(table, first, last)

        patch.setattr(NumpyTable, "read", counting)


@settings(deadline=None, max_examples=150)
@given(data=st.data())
def test_any_rows_are_read_right_and_a_block_at_most(data, tmp_path_factory):
    n = data.draw(st.sampled_from([1, 70, 1024, 1025, 9000]))
    table = np.arange(2 * n, dtype=np.float32).reshape(n, 2)
    density = data.draw(st.sampled_from([1, 2, 20, 64, 65, 66, 300, 9000]))
    seed = data.draw(st.integers(0, 1000))
    some = np.flatnonzero(np.random.RandomState(seed).randint(0, density, n) == 0)
    path = tmp_path_factory.getbasetemp() / f"{n}.npy"
    shard = Shard(save(path, table), "it").looked_at()
    with pytest.MonkeyPatch.context() as patch:
        counted = Counted(patch)
        assert np.array_equal(ShardRows(shard)[some], table[some])
        assert counted.longest <= max(BLOCK_ROWS, len(some))
        if len(some) < n:
            assert counted.longest <= BLOCK_ROWS + 64
        chosen = shard.select(some)
        assert len(ShardRows(chosen)) == len(some) == chosen.shape[0]
        assert np.array_equal(ShardRows(chosen)[3:50], table[some][3:50])
        assert np.array_equal(
            ShardRows(chosen.select(np.arange(len(some))[::2]))[:], table[some][::2]
        )


def test_far_rows_are_read_without_those_between(tmp_path, monkeypatch):
    shard = Shard(save(tmp_path / "x.npy", np.ones((50_000, 3))), "it").looked_at()
    counted = Counted(monkeypatch)
    assert ShardRows(shard)[np.arange(0, 50_000, 1000)].shape == (50, 3)
    assert counted.rows == 50


def test_a_fit_reads_a_block_at_a_time(clusters, tmp_path, monkeypatch):
    X, y, _ = clusters
    path = save(tmp_path / "x.npy", np.repeat(X, 3, axis=0))
    counted = Counted(monkeypatch)
    hasher = ZSH(9, n_anchors=20, anchors="kmeans", graph="anchor", max_iter=1, random_state=0)
    scale.fit(hasher, path, np.repeat(y, 3))
    assert 0 < counted.longest <= BLOCK_ROWS
    assert counted.rows < 7 * 12_000


SCRIPT = """
import re, sys
import numpy as np
from pathlib import Path
from zshash import LSH, ZSH, scale

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024

X = np.random.RandomState(0).standard_normal((3000, 1024)).astype(np.float32)
hasher = ZSH(16, n_anchors=40, graph="anchor", max_iter=2, random_state=0)
vectors = np.eye(10)
scale.fit(hasher, X, np.arange(3000) % 10, vectors=vectors)  # compiles what is compiled
scale.encode(hasher, X)
before = peak()
scale.fit(hasher, sys.argv[1], np.arange(100_000) % 10, vectors=vectors)
fitted = peak()
codes = scale.encode(hasher, sys.argv[1], output=sys.argv[1] + ".codes")
assert codes.shape == (100_000, 2) and len(np.unique(codes)) > 10
print(fitted - before, peak() - before)
"""


@pytest.mark.large
@pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is read from /proc")
def test_a_file_larger_than_the_memory_it_needs(tmp_path):
    path = tmp_path / "large.npy"
    rng = np.random.RandomState(0)
    some = rng.standard_normal((10_000, 1024)).astype(np.float32)
    table = np.lib.format.open_memmap(path, "w+", np.float32, (100_000, 1024))
    for first in range(0, 100_000, 10_000):
        table[first : first + 10_000] = some
    table._mmap.close()
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT), path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    fit, both = map(float, run.stdout.split())
    assert path.stat().st_size > 400e6
    assert fit < 60  # MB
    assert both < 150  # 16,384 rows are encoded at a time
    path.unlink()


def failing(folder, kind, X):
    """Files that are no shards, and the message for each."""
    path = folder / "x.npy"
    if kind == "by columns":
        save(path, np.asfortranarray(X))
        return path, "stored by columns: save np.ascontiguousarray"
    if kind == "cut off":
        save(path, X)
        os.truncate(path, path.stat().st_size - 1)
        return path, "no whole .npy file .* copy it again"
    if kind == "empty":
        path.touch()
        return path, "no whole .npy file .* copy it again"
    if kind == "text":
        path.write_text("these are no rows")
        return path, "no whole .npy file"
    if kind == "objects":
        np.save(path, np.array([[1, "a"]], dtype=object), allow_pickle=True)
        return path, "it holds objects of Python: save an array of numbers"
    if kind == "no rows":
        return save(path, X[:0]), "it has no rows: leave it out"
    if kind == "an archive":
        with path.open("wb") as file:
            np.savez(file, X=X)
        return path, r"it is a .npz file: let its name end in .npz"
    if kind == "a folder":
        path.mkdir()
        (folder / "y.npy").mkdir()
        return [path], "it can not be read"
    tables = {
        "one row long": X[0],
        "no numbers": X.astype(str),
        "complex": X.astype(complex),
        "no columns": X[:, :0],
        "a cube": X[None],
    }
    return save(path, tables[kind]), "x.npy: it can not be read"


@pytest.mark.parametrize(
    "kind",
    [
        "by columns", "cut off", "empty", "text", "objects", "an archive", "a folder",
        "one row long", "no numbers", "complex", "no rows", "no columns", "a cube",
    ],
)  # fmt: skip
def test_files_that_are_no_shards(kind, digits, tmp_path):
    path, words = failing(tmp_path, kind, digits[0])
    with pytest.raises(ShardError, match=words) as caught:
        scale.fit(LSH(9), path)
    assert "x.npy" in str(caught.value)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([], "there are no shards"),
        (iter([]), "there are no shards"),
        ("nowhere.npy", "nowhere.npy: there is no such file"),
        ("nowhere.npz", "nowhere.npz: .*there is no such file"),
        ("nowhere.parquet", "nowhere.parquet: there is no such file"),
        ("table.csv", "table.csv: shards end in .npy, .npz, .parquet, and there is no such folder"),
        (None, "files or arrays, or a folder of such files, got None"),
        (["table.csv"], "table.csv: shards end in .npy, .npz, .parquet"),
        ([np.zeros((3, 4)), np.zeros(4)], r"shard 1: .* got shape \(4,\)"),
        (np.zeros((3, 4), dtype=bool), "the array: .* of bool"),
    ],
)
def test_what_is_no_shard(data, words):
    with pytest.raises(ShardError, match=words):
        scale.fit(LSH(9), data)


def test_a_folder_without_shards(tmp_path):
    save(tmp_path / "x.labels.npy", np.zeros(3))
    with pytest.raises(ShardError, match=f"{tmp_path}: no shards in it"):
        scale.fit(LSH(9), tmp_path)


def test_an_archive_without_features(tmp_path):
    np.savez(tmp_path / "x.npz", Z=np.zeros((3, 4)))
    with pytest.raises(ShardError, match=r"x.npz: .*no features under the name X"):
        scale.fit(LSH(9), tmp_path / "x.npz")


def test_shards_of_different_widths(parts):
    with pytest.raises(ShardError, match=r"shard 1: 9 features .*, but shard 0 has 64"):
        scale.fit(LSH(9), [parts[0], parts[1][:, :9]])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e39])
@pytest.mark.parametrize("kind", ["array", "npy"])
def test_numbers_that_are_none_are_named(value, kind, parts, digits, tmp_path):
    bad = parts[0].astype(np.float64)
    bad[1100, 5] = value
    data, name = (bad, "shard 2") if kind == "array" else (save(tmp_path / "x.npy", bad), "x.npy")
    with pytest.raises(ShardError, match=f"{name}: .* the first is row 1100: remove") as caught:
        scale.fit(quick(), [parts[1], parts[2], data], np.r_[digits[1][1300:], digits[1][:1300]])
    assert "infinity" in str(caught.value)


def test_rows_too_long_for_float32_are_named(parts):
    bad = parts[0].copy()
    bad[1100, 5] = 1e20
    with pytest.raises(ShardError, match=r"shard 0: .* too large for float32 .* row 1100: rescale"):
        scale.fit(LSH(9), [bad])


def test_rows_among_chosen_ones_have_the_numbers_of_their_file(parts, tmp_path):
    bad = parts[0].copy()
    bad[700] = np.nan
    shard = Shard(save(tmp_path / "x.npy", bad), "it").looked_at().select(np.arange(0, 1300, 10))
    assert np.array_equal(ShardRows(shard)[:70], bad[:700:10])
    with pytest.raises(ShardError, match="the first is row 700"):
        ShardRows(shard)[:71]


def test_a_row_beyond_the_last_one(parts):
    shard = Shard(parts[0], "it", rows=np.array([3, 1300]))
    with pytest.raises(ShardError, match="it: it has 1300 rows, and row 1300 is wanted"):
        shard.looked_at()


def vanish(path):
    path.unlink()


def shorten(path):
    os.truncate(path, path.stat().st_size // 2)


def shrink(path):
    save(path, np.load(path)[:-1])


def narrow(path):
    save(path, np.load(path)[:, 1:])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (vanish, r"there is no such file \(any more\)"),
        (shorten, "copy it again"),
        (shrink, r"its shape was \(1300, 64\) and is \(1299, 64\) now"),
        (narrow, r"its shape was \(1300, 64\) and is \(1300, 63\) now"),
    ],
)
def test_a_file_that_changes_between_passes(change, words, parts, digits, tmp_path, monkeypatch):
    path = save(tmp_path / "x.npy", parts[0])
    shards = [parts[1], path, parts[2]]
    y = np.r_[digits[1][1300:1301], digits[1][:1300], digits[1][1301:]]
    with (
        before(monkeypatch, ShardedSamples, "update", 2, lambda: change(path)),
        pytest.raises(ShardError, match=f"x.npy: .*{words}"),
    ):
        scale.fit(quick(), shards, y)


def test_a_file_that_is_cut_off_within_a_pass(parts, tmp_path):
    path = save(tmp_path / "x.npy", parts[0])
    rows = ShardRows(Shard(path, "it").looked_at())
    assert np.array_equal(rows[:1024], parts[0][:1024])
    shorten(path)
    with pytest.raises(ShardError, match=r"it: .* the file has become shorter: copy it again"):
        rows[1024:]


def test_parquet_files_without_rows_or_features(tmp_path):
    path = tmp_path / "x.parquet"
    empty = pa.table({"X": pa.array([], pa.list_(pa.float32()))})
    pq.write_table(empty, path)
    with pytest.raises(ShardError, match=r"x.parquet \(row group 0\): .* there are no rows"):
        scale.fit(LSH(9), path)
    with pq.ParquetWriter(path, empty.schema):
        pass  # not even a row group
    for data in (path, tmp_path, [path]):
        with pytest.raises(ShardError, match=r"x.parquet: it has no rows: leave it out"):
            scale.fit(LSH(9), data)
    pq.write_table(pa.table({"Z": [1, 2]}), path)
    with pytest.raises(ShardError, match="no features under the name X") as caught:
        scale.fit(LSH(9), path)
    assert str(caught.value).count("x.parquet") == 1
