import json
import struct
import tempfile
from pathlib import Path

import faiss
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zshash import LSH, Collection
from zshash.collection.exchange import parquet_files
from zshash.collection.exchange.exchange import export_codes, import_codes
from zshash.datasets import DataError


def create(folder, n_bits):
    hasher = LSH(n_bits=n_bits, random_state=0).fit(np.eye(4))
    return Collection.create(folder, hasher)


@pytest.fixture
def make(tmp_path_factory):
    """Empty collections; those with the same number of bits have the same model."""
    made = []

    def new(n_bits):
        made.append(create(tmp_path_factory.mktemp("made") / "collection", n_bits))
        return made[-1]

    yield new
    for collection in made:
        collection.close()


@pytest.fixture(autouse=True)
def _one_thread():
    faiss.omp_set_num_threads(1)


def codes_of(n, n_bits, seed=0):
    bits = np.random.RandomState(seed).randint(0, 2, (n, n_bits))
    return np.packbits(bits, axis=1)


def fill(collection, n=30):
    """Items of all kinds, with a gap among their ids."""
    collection.add_codes(
        codes_of(n, collection.n_bits),
        sources=[None if i % 5 == 4 else f"/photos/{i} ä.jpg" for i in range(n)],
        labels=[["cat", 'a"b'][: i % 3] for i in range(n)],
        metadata=[{"year": 2000 + i, "of": {"ü": [1.5, None]}} if i % 2 else {} for i in range(n)],
        contents=[None if i % 7 == 6 else bytes([i]) * 16 for i in range(n)],
    )
    collection.remove([3, 4, n - 1])
    return collection


def facts(item):
    return (item.code, item.source, item.labels, item.metadata, item.content)


@pytest.mark.parametrize("suffix", [".parquet", ".npz", ".NPZ"])
@pytest.mark.parametrize("n_bits", [8, 12, 64])
def test_everything_comes_back(make, tmp_path, suffix, n_bits):
    first, second = fill(make(n_bits)), make(n_bits)
    path = tmp_path / f"codes{suffix}"
    said = export_codes(first, path)
    assert said == {"output": str(path), "n": 27, "bits": n_bits, "bytes": path.stat().st_size}
    added = import_codes(second, path)
    assert added.ids.tolist() == list(range(27))
    before, after = first.items(first.ids), second.items(second.ids)
    assert list(map(facts, before)) == list(map(facts, after))


@pytest.mark.parametrize("suffix", [".faiss", ".npy"])
def test_codes_alone_come_back(make, tmp_path, suffix):
    first, second = fill(make(12)), make(12)
    export_codes(first, tmp_path / f"codes{suffix}")
    import_codes(second, str(tmp_path / f"codes{suffix}"))
    np.testing.assert_array_equal(first.index.codes, second.index.codes)
    assert second.items(second.ids)[0].labels == ()


@pytest.mark.parametrize("suffix", [".faiss", ".parquet", ".npz", ".npy"])
def test_no_items(make, tmp_path, suffix):
    empty = make(16)
    assert export_codes(empty, tmp_path / f"codes{suffix}")["n"] == 0
    added = import_codes(empty, tmp_path / f"codes{suffix}")
    assert (len(added.ids), len(added.duplicates), len(empty)) == (0, 0, 0)


@pytest.mark.parametrize("suffix", [".parquet", ".npz"])
def test_what_is_there_already_is_left_out(make, tmp_path, suffix):
    collection = fill(make(16))
    export_codes(collection, tmp_path / f"codes{suffix}")
    added = import_codes(collection, tmp_path / f"codes{suffix}")
    known = [item.id for item in collection.items(collection.ids) if item.content]
    assert added.duplicates.tolist() == known
    assert len(added.ids) + len(known) == 27


def test_faiss_searches_an_export(make, tmp_path):
    collection = make(64)
    collection.add_codes(codes_of(500, 64))
    path = tmp_path / "codes.faiss"
    assert "ids" not in export_codes(collection, path)
    index = faiss.read_index_binary(str(path))
    assert (index.d, index.ntotal, index.is_trained) == (64, 500, True)
    queries = codes_of(20, 64, seed=1)
    same_neighbours(index, collection.index, queries, np.arange(500))
    faiss.write_index_binary(index, str(tmp_path / "theirs.faiss"))
    assert (tmp_path / "theirs.faiss").read_bytes() == path.read_bytes()


def test_ids_beside_an_export_for_faiss(make, tmp_path):
    collection = make(24)
    collection.add_codes(codes_of(300, 24))
    collection.remove([0, 7])
    path = tmp_path / "codes.faiss"
    said = export_codes(collection, path)
    assert said["ids"] == f"{path}.ids.npy"
    ids = np.load(said["ids"])
    assert ids.tolist() == collection.ids.tolist()
    same_neighbours(faiss.read_index_binary(str(path)), collection.index, codes_of(9, 24, 1), ids)
    whole = make(24)
    whole.add_codes(codes_of(300, 24))
    assert "ids" not in export_codes(whole, path)
    assert not Path(said["ids"]).exists()  # ids of an earlier export would be wrong


def test_an_index_that_faiss_wrote(make, tmp_path):
    index = faiss.IndexBinaryFlat(32)
    index.add(codes_of(400, 32))
    faiss.write_index_binary(index, str(tmp_path / "theirs.faiss"))
    collection = make(32)
    import_codes(collection, tmp_path / "theirs.faiss")
    same_neighbours(index, collection.index, codes_of(20, 32, seed=1), np.arange(400))


def same_neighbours(theirs, ours, queries, ids):
    """All distances in order; and the ids within each, for faiss breaks ties as it likes."""
    distances, rows = theirs.search(queries, len(ids))
    expected, neighbours = ours.search(queries, len(ids))
    np.testing.assert_array_equal(distances, expected)
    order = np.lexsort((ids[rows], distances), axis=1)
    np.testing.assert_array_equal(np.take_along_axis(ids[rows], order, axis=1), neighbours)


def test_columns_of_a_parquet_file(make, tmp_path, monkeypatch):
    monkeypatch.setattr("zshash.collection.exchange.batches.BATCH_ROWS", 10)
    monkeypatch.setattr(parquet_files, "BATCH_ROWS", 10)
    first, second = fill(make(12)), make(12)
    export_codes(first, tmp_path / "codes.parquet")
    table = pq.read_table(tmp_path / "codes.parquet")
    assert table.column("id").to_pylist() == first.ids.tolist()
    assert table.schema.field("code").type == pa.binary(2)
    assert table.column("labels").to_pylist()[2] == ["cat", 'a"b']
    assert json.loads(table.column("metadata").to_pylist()[1].encode())["year"] == 2001
    assert table.schema.metadata[b"zshash.n_bits"] == b"12"
    assert pq.ParquetFile(tmp_path / "codes.parquet").num_row_groups == 3
    assert len(import_codes(second, tmp_path / "codes.parquet").ids) == 27


def test_what_encode_writes(make, tmp_path):
    paths = np.array(["a.jpg", "", "c.jpg"])
    collection = make(16)
    known = {"codes": codes_of(3, 16), "paths": paths, "model": collection.info()["model"]}
    np.savez(tmp_path / "one.npz", y=np.array([1, 0, 1]), names=np.array(["cat", "dog"]), **known)
    import_codes(collection, tmp_path / "one.npz")
    items = collection.items(collection.ids)
    assert [item.source for item in items] == ["a.jpg", None, "c.jpg"]
    assert [item.labels for item in items] == [("dog",), ("cat",), ("dog",)]
    several = np.array([[1, 1], [0, 0], [0, 1]])
    np.savez(tmp_path / "several.npz", y=several, names=np.array(["cat", "dog"]), **known)
    import_codes(collection, tmp_path / "several.npz")
    labels = [item.labels for item in collection.items(collection.ids[3:])]
    assert labels == [("cat", "dog"), (), ("dog",)]
    np.save(tmp_path / "bare.npy", known["codes"])
    assert len(import_codes(collection, tmp_path / "bare.npy").ids) == 3


def test_names_of_files_that_are_no_unicode(make, tmp_path):
    collection, other = make(16), make(16)
    collection.add_codes(codes_of(1, 16), sources=["/a/\udcff.jpg"], labels=["\udcff"])
    with pytest.raises(DataError, match=r"no Unicode, which Parquet can not hold; export to .npz"):
        export_codes(collection, tmp_path / "codes.parquet")
    assert list(tmp_path.iterdir()) == []
    export_codes(collection, tmp_path / "codes.npz")
    import_codes(other, tmp_path / "codes.npz")
    assert other.items(other.ids)[0].source == "/a/\udcff.jpg"


def test_texts_too_long_for_numpy(make, tmp_path, monkeypatch):
    monkeypatch.setattr("zshash.collection.exchange.numpy_files.MAX_TEXT_BYTES", 1000)
    with pytest.raises(DataError, match=r"too much for a .npz file; export to .parquet"):
        export_codes(fill(make(16)), tmp_path / "codes.npz")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".parquet", ".npz"])
def test_codes_of_another_collection(make, tmp_path, suffix):
    path = tmp_path / f"codes{suffix}"
    export_codes(fill(make(16)), path)
    with pytest.raises(DataError, match="its codes have 16 bits, those of the collection 15"):
        import_codes(make(15), path)


@pytest.mark.parametrize("suffix", [".faiss", ".npy"])
def test_codes_of_another_width(make, tmp_path, suffix):
    path = tmp_path / f"codes{suffix}"
    export_codes(fill(make(16)), path)
    with pytest.raises(DataError, match="its codes have 2 bytes, those of 24 bits have 3"):
        import_codes(make(24), path)
    with pytest.raises(DataError, match="must leave the last 4 bits of the last byte zero"):
        import_codes(make(12), path)


def test_files_of_no_known_kind(make, tmp_path):
    for path in ("codes.csv", "codes"):
        with pytest.raises(DataError, match=r"codes lie in .faiss, .parquet, .npz, .npy files"):
            export_codes(make(16), tmp_path / path)
    with pytest.raises(DataError, match="there is no such file"):
        import_codes(make(16), tmp_path / "codes.npz")


def test_every_bit_of_a_faiss_header_counts(make, tmp_path):
    path = tmp_path / "codes.faiss"
    export_codes(fill(make(16)), path)
    Path(f"{path}.sha256").unlink()  # it would notice all of this
    whole, collection = path.read_bytes(), make(16)
    for bit in range(33 * 8):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        with pytest.raises(DataError, match=r"codes.faiss: "):
            import_codes(collection, path)
    for n in range(len(whole)):
        path.write_bytes(whole[:n])
        with pytest.raises(DataError, match=r"codes.faiss: "):
            import_codes(collection, path)


def test_other_kinds_of_faiss_indexes(make, tmp_path):
    binary = faiss.IndexBinaryIDMap(faiss.IndexBinaryFlat(16))
    binary.add_with_ids(codes_of(3, 16), np.array([1, 5, 7]))
    faiss.write_index_binary(binary, str(tmp_path / "map.faiss"))
    faiss.write_index(faiss.IndexFlatL2(4), str(tmp_path / "floats.faiss"))
    for name in ("map", "floats"):
        with pytest.raises(DataError, match="another kind of index than faiss's IndexBinaryFlat"):
            import_codes(make(16), tmp_path / f"{name}.faiss")
    # a length that would overflow what can be allocated
    huge = struct.pack("<4siiqBiQ", b"IBxF", 16, 2, 2**62, 1, 1, 2**63)
    (tmp_path / "huge.faiss").write_bytes(huge)
    with pytest.raises(DataError, match="damaged"):
        import_codes(make(16), tmp_path / "huge.faiss")


@pytest.mark.parametrize("suffix", [".parquet", ".npz"])
def test_damage_is_noticed_and_adds_nothing(make, tmp_path, suffix):
    path = tmp_path / f"codes{suffix}"
    first = fill(make(16))
    export_codes(first, path)
    whole, expected = path.read_bytes(), list(map(facts, first.items()))
    collection = make(16)
    rng = np.random.RandomState(0)
    ends = [*range(20), *range(len(whole) - 60, len(whole))]
    for place in [*rng.choice(len(whole), 100, replace=False), *ends]:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << rng.randint(8)
        path.write_bytes(damaged)
        try:
            import_codes(collection, path)
        except DataError:
            assert len(collection) == 0
        else:  # a bit that says nothing, such as a time or who wrote the file
            assert list(map(facts, collection.items())) == expected
            collection.remove(collection.ids)
    for n in range(0, len(whole), 197):
        path.write_bytes(whole[:n])
        with pytest.raises(DataError):
            import_codes(collection, path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"codes": np.zeros((3, 2))}, "must be packed bytes"),
        ({"codes": np.zeros(3, np.uint8)}, "no table of codes under the name codes"),
        ({"codes": np.zeros((2, 2), np.uint8)}, "not an entry for each of the 2 codes"),
        ({"format": 2}, "written in format 2, this zshash reads 1: upgrade it"),
        ({"n_bits": 15}, "its codes have 15 bits, those of the collection 16"),
        ({"model": "other"}, "codes of another model than the collection's"),
        ({"labels_json": np.array(["[]", "[", "[]"])}, "is no JSON"),
        ({"labels_json": np.array(["[]", "[3]", "[]"])}, "a label is a word"),
        ({"metadata_json": np.array(["{}", "[]", "3"])}, "metadata: row 2 is int"),
        ({"contents": np.array(["", "zz", ""])}, "damaged"),
        ({"contents": np.array(["", "00" * 65, ""])}, "must be 1 to 64 bytes"),
        ({"ids": np.array(["a", "b", "c"])}, "ids is not an entry for each"),
    ],
)
def test_arrays_that_make_no_sense(make, tmp_path, change, message):
    collection = make(16)
    collection.add_codes(codes_of(3, 16))
    export_codes(collection, tmp_path / "codes.npz")
    with np.load(tmp_path / "codes.npz") as file:
        arrays = dict(file)
    np.savez(tmp_path / "codes.npz", **(arrays | change))
    with pytest.raises(DataError, match=message):
        import_codes(collection, tmp_path / "codes.npz")
    assert len(collection) == 3


def table_of(**change):
    columns = {
        "id": pa.array([0, 1]),
        "code": pa.array([b"ab", b"cd"], pa.binary(2)),
        "path": pa.array(["a", None]),
        "labels": pa.array([["cat"], []], pa.list_(pa.string())),
        "metadata": pa.array(["{}", '{"a": 1}']),
        "content": pa.array([None, b"c"], pa.binary()),
    }
    return pa.table(columns | change)


@pytest.mark.parametrize(
    ("change", "about", "message"),
    [
        ({}, {"zshash.format": "7"}, "written in format 7"),
        ({}, {"zshash.format": "1", "zshash.model": "other"}, "codes of another model"),
        ({}, {}, "not a file of codes"),
        ({"id": pa.array(["a", "b"])}, {"zshash.format": "1"}, "not of the types"),
        ({"more": pa.array([0, 1])}, {"zshash.format": "1"}, "not a file of codes"),
        ({"code": pa.array([b"ab", None], pa.binary(2))}, {"zshash.format": "1"}, "without id"),
        ({"metadata": pa.array(["{}", "{"])}, {"zshash.format": "1"}, "no JSON"),
        ({"labels": pa.array([["cat"], [None]])}, {"zshash.format": "1"}, "a label is a word"),
    ],
)
def test_tables_that_make_no_sense(make, tmp_path, change, about, message):
    table = table_of(**change).replace_schema_metadata(about)
    pq.write_table(table, tmp_path / "codes.parquet")
    collection = make(16)
    with pytest.raises(DataError, match=message):
        import_codes(collection, tmp_path / "codes.parquet")
    assert len(collection) == 0


def test_a_bad_row_at_the_end_keeps_all_out(make, tmp_path, monkeypatch):
    monkeypatch.setattr(parquet_files, "BATCH_ROWS", 1)
    table = table_of(metadata=pa.array(["{}", "3"]))
    table = table.replace_schema_metadata({"zshash.format": "1"})
    pq.write_table(table, tmp_path / "codes.parquet")
    collection = make(16)
    with pytest.raises(DataError, match="metadata: row 0 is int"):
        import_codes(collection, tmp_path / "codes.parquet")
    assert len(collection) == 0
    np.savez(tmp_path / "objects.npz", codes=np.array([None, "a"], dtype=object))
    with pytest.raises(DataError, match="it holds Python objects"):
        import_codes(collection, tmp_path / "objects.npz")


texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=5)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)
known = st.tuples(
    st.none() | texts,
    st.lists(texts.map(str.strip).filter(bool), max_size=3, unique=True),
    st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=4), values, max_size=3),
    st.none() | st.binary(min_size=1, max_size=20),
)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(known, max_size=8, unique_by=lambda row: row[3] or object()),
    st.integers(8, 40),
    st.sampled_from([".npz", ".parquet"]),
)
def test_whatever_is_known_comes_back(rows, n_bits, suffix):
    sources, labels, metadata, contents = zip(*rows, strict=True) if rows else ((), (), (), ())
    codes = codes_of(len(rows), n_bits)
    with (
        tempfile.TemporaryDirectory() as folder,
        create(Path(folder) / "first", n_bits) as first,
        create(Path(folder) / "second", n_bits) as second,
    ):
        first.add_codes(codes, sources=sources, labels=labels, metadata=metadata, contents=contents)
        export_codes(first, Path(folder) / f"codes{suffix}")
        import_codes(second, Path(folder) / f"codes{suffix}")
        found = list(map(facts, second.items()))
    expected = [
        (bytes(code), source, tuple(own), more, content)
        for code, (source, own, more, content) in zip(codes, rows, strict=True)
    ]
    assert found == expected
