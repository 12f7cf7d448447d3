"""Collections whose index is in Milvus: the same answers, and nothing lost, on a real server."""

import json
import multiprocessing
import shutil
import time
from itertools import count

import numpy as np
import pytest
from click.testing import CliRunner

from tests.collection.conftest import draw
from zshash import LSH, ZSH, Collection, CollectionError
from zshash.cli import main
from zshash.collection.storage import remote
from zshash.hashing import save
from zshash.index import HammingIndex, MilvusIndex
from zshash.index.milvus import MilvusError
from zshash.semantics import WordNet

NAMES = count()


@pytest.fixture
def address(milvus):
    """A name that nobody has used."""
    return f"milvus://{milvus.address}/photos_{next(NAMES)}?timeout=2"


@pytest.fixture
def photos(address, folder, hasher):
    with Collection.create(folder, hasher, index=address, keep_features=True) as collection:
        yield collection


@pytest.fixture
def twin(tmp_path, hasher):
    """The same collection with its index in memory."""
    with Collection.create(tmp_path / "twin", hasher, keep_features=True) as collection:
        yield collection


def assert_same(one, other, X, where=None):
    assert one.ids.tolist() == other.ids.tolist()
    assert len(one) == len(other)
    for query in X[:4]:
        for options in ({"k": 25}, {"radius": 4}, {"k": 25, "distance": "bits"}):
            found = one.search(query, where=where, **options)
            expected = other.search(query, where=where, **options)
            assert found == expected
            assert found.total == expected.total


def assert_whole(photos):
    """The server holds what the catalogue says."""
    assert photos.verify() == []
    assert photos.index.ids.tolist() == photos.ids.tolist()
    codes = [item.code for item in photos.items()]
    assert [code.tobytes() for code in photos.index.codes] == codes


def test_same_answers_as_with_the_index_in_memory(photos, twin, X, address, folder):
    for each in (photos, twin):
        assert each.search(X[0]) == []
        each.add(X, labels=["cat"] * 30 + ["dog"] * 30, metadata=[{"n": i} for i in range(60)])
        assert len(each.add(X[:5]).duplicates) == 5
        assert each.remove([3, 40]) == 2
    assert_same(photos, twin, X)
    assert_same(photos, twin, X, "label = 'dog' and n >= 45")
    assert photos.search(code=twin.index.codes[:9], k=7) == twin.search(
        code=twin.index.codes[:9], k=7
    )
    assert photos.duplicates("alike", r=3) == twin.duplicates("alike", r=3)
    assert photos[5] == twin[5]
    assert 5 in photos
    assert 3 not in photos
    with pytest.raises(CollectionError, match="there is no item 3"):
        photos.items([3])
    with pytest.raises(CollectionError, match="there is no item 3"):
        photos.remove([3])
    assert_whole(photos)
    assert photos.info()["index"] == address
    assert twin.info()["index"] == "memory"
    photos.compact()
    photos.close()
    assert not list(folder.glob("index-*"))
    with Collection.open(folder) as again:
        assert_same(again, twin, X)


def test_pictures_of_a_folder(address, tmp_path, hasher, reader, pictures):
    options = {"source": hasher, "reader": reader}
    one = Collection.create(tmp_path / "one", index=address, **options)
    other = Collection.create(tmp_path / "other", **options)
    with one, other:
        for each in (one, other):
            each.sync(pictures)
        draw(pictures / "cat" / "0.png", 99)
        draw(pictures / "cat" / "new.png", 98)
        (pictures / "dog" / "1.png").unlink()
        (pictures / "dog" / "2.png").rename(pictures / "moved.png")
        done = [each.sync(pictures) for each in (one, other)]
        assert [len(ids) for ids in done[0][:4]] == [len(ids) for ids in done[1][:4]] == [1] * 4
        picture = pictures / "ship" / "0.png"
        assert one.search(picture, k=20) == other.search(picture, k=20)
        assert_whole(one)


def test_names(address, tmp_path):
    seen = ["cat", "dog", "truck", "ship"]
    rng = np.random.RandomState(0)
    labels = np.repeat(np.arange(4), 20)
    X = (np.eye(12)[labels] * 4 + rng.randn(80, 12)).astype(np.float32)
    vectors = WordNet(basis=seen).embed(seen)
    hasher = ZSH(n_bits=16, n_anchors=20, random_state=0).fit(X, vectors[labels])
    save(hasher, tmp_path / "model", notes={"labels": ["wordnet"], "seen": seen})
    one = Collection.create(tmp_path / "one", tmp_path / "model", index=address)
    other = Collection.create(tmp_path / "other", tmp_path / "model")
    with one, other:
        for each in (one, other):
            each.add(X, labels=[seen[label] for label in labels])
        for where in (None, "label = 'ship'"):
            found = one.search(name="lorry", k=30, where=where)
            assert found == other.search(name="lorry", k=30, where=where)
            assert found
        one.remove([found[0].id])
        other.remove([found[0].id])
        assert one.search(name="lorry", k=30) == other.search(name="lorry", k=30)


def test_codes_of_another_length(photos, twin, X):
    longer = LSH(n_bits=20, random_state=1).fit(X)
    for each in (photos, twin):
        each.add(X)
        assert each.reencode(longer) == 60
    assert photos.n_bits == photos.index.n_bits == 20
    assert_same(photos, twin, X)
    assert_whole(photos)


def _reencode(folder, X):
    """Give all items codes of another length."""
    from tests.milvus_server import use_client

    use_client()
    with Collection.open(folder) as photos:
        photos.reencode(LSH(n_bits=20, random_state=1).fit(X))


def number_of(photos):
    """The server's id of the collection, which changes when it is made anew."""
    table = photos.index._table
    return table._client.describe_collection(table.address.name)["collection_id"]


def test_another_process_changes_the_length(photos, twin, X, folder):
    for each in (photos, twin):
        each.add(X[:30])
        each.search(X[0])
    writer = multiprocessing.get_context("spawn").Process(target=_reencode, args=(folder, X))
    writer.start()
    writer.join(60)
    assert writer.exitcode == 0
    number = number_of(photos)
    twin.reencode(LSH(n_bits=20, random_state=1).fit(X))
    assert_same(photos, twin, X)
    for each in (photos, twin):
        each.add(X[30:])
    assert_same(photos, twin, X)
    assert_whole(photos)
    assert number_of(photos) == number  # the index that the writer has made is not made again


def test_codes_of_another_length_that_the_server_does_not_take(photos, twin, X, monkeypatch):
    longer = LSH(n_bits=20, random_state=1).fit(X)
    for each in (photos, twin):
        each.add(X)
    with monkeypatch.context() as patch:

        def fail(*_):
            raise MilvusError("gone")

        patch.setattr(MilvusIndex, "clear", fail)
        with pytest.raises(CollectionError, match=r"safe in the catalogue.*: gone"):
            photos.reencode(longer)
    twin.reencode(longer)
    assert_same(photos, twin, X)
    assert_whole(photos)


def test_the_mark_is_read_before_what_it_speaks_of(photos, X, folder, monkeypatch):
    """Otherwise a reader trusts a mark whose rows it does not see yet."""
    done = []
    with Collection.open(folder) as reader:
        photos.add(X)
        for name in ("notes", "refresh", "__len__"):
            was = getattr(MilvusIndex, name)
            spy = lambda self, was=was, name=name: done.append(name) or was(self)  # noqa: E731
            monkeypatch.setattr(MilvusIndex, name, spy)
        assert len(reader) == 60
    assert done == ["notes", "refresh", "__len__"]


def test_a_collection_that_is_dropped_while_it_is_in_use(photos, twin, X, folder, monkeypatch):
    with Collection.open(folder) as reader:
        for each in (photos, twin):
            each.add(X[:30])
        assert_same(reader, twin, X)

        def crash(self, *_):
            self.index._table.drop()  # as a process does that makes it anew
            raise MilvusError("killed")

        with monkeypatch.context() as patch:
            patch.setattr(remote.Remote, "apply", crash)
            with pytest.raises(CollectionError, match="safe in the catalogue"):
                photos.add(X[30:])
        twin.add(X[30:])
        assert_same(reader, twin, X)
        assert_same(photos, twin, X)
        assert_whole(reader)


def test_a_crash_between_catalogue_and_server(photos, twin, X, folder, monkeypatch):
    for each in (photos, twin):
        each.add(X[:30])
        each.remove([2])
    photos.close()
    for start, n_done in ((30, 0), (40, 5), (50, 10)):  # nothing, half, all but the mark

        def crash(self, _state, added, _removed, n=n_done):
            self.index.put(added[1][:n], added[0][:n])
            raise MilvusError("killed")

        with monkeypatch.context() as patch, Collection.open(folder) as doomed:
            patch.setattr(remote.Remote, "apply", crash)
            with pytest.raises(CollectionError, match=r"safe in the catalogue.*: killed"):
                doomed.add(X[start : start + 10])
        twin.add(X[start : start + 10])
        with Collection.open(folder) as again:
            assert_same(again, twin, X)
            assert_whole(again)


def test_a_crash_is_repaired_without_opening_again(photos, twin, X, monkeypatch):
    for each in (photos, twin):
        each.add(X[:30])
    with monkeypatch.context() as patch:
        patch.setattr(MilvusIndex, "note", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            photos.remove([5])
    twin.remove([5])
    assert_same(photos, twin, X)
    assert_whole(photos)


def test_a_server_from_an_older_backup(photos, twin, X, folder):
    for each in (photos, twin):
        each.add(X[:40])
    then = photos.index.notes()["state"]
    codes = photos.index.codes
    for each in (photos, twin):
        each.remove([1, 2])
        each.add(X[40:])
    photos.index.discard(range(40, 60))
    photos.index.put(codes[1:3], [1, 2])
    photos.index.note(state=then)
    with Collection.open(folder) as again:
        assert_same(again, twin, X)
        assert_whole(again)


def test_a_server_that_has_lost_rows_or_all(photos, twin, X, folder):
    for each in (photos, twin):
        each.add(X)
    photos.index.discard([7, 8])  # the mark is as it was
    with Collection.open(folder) as again:
        assert_same(again, twin, X)
        assert_whole(again)
    photos.index._table.drop()
    with pytest.raises(MilvusError, match="photos"):
        photos.search(X[0])
    with Collection.open(folder) as again:
        assert_same(again, twin, X)
        assert_whole(again)


def test_a_catalogue_from_an_older_copy(photos, X, folder, tmp_path):
    photos.add(X[:20])
    photos.close()
    shutil.copytree(folder, tmp_path / "copy")
    with Collection.open(folder) as later:
        later.add(X[20:])
    shutil.rmtree(folder)
    (tmp_path / "copy").rename(folder)
    with Collection.open(folder) as again:
        assert again.ids.tolist() == list(range(20))
        assert_whole(again)


def test_verify_finds_codes_that_are_wrong(photos, X):
    photos.add(X)
    photos.index.put(np.zeros((1, 2), dtype=np.uint8), [4])
    (problem,) = photos.verify()
    assert "not what the catalogue says: drop this collection in Milvus" in problem


def test_moving_the_index(photos, twin, X, folder, milvus):
    for each in (photos, twin):
        each.add(X[:30])
    photos.close()
    with Collection.open(folder, index="memory") as moved:
        moved.add(X[30:])
        assert isinstance(moved.index, HammingIndex)
    twin.add(X[30:])
    elsewhere = f"milvus://{milvus.address}/moved_{next(NAMES)}"
    with Collection.open(folder, index=elsewhere) as moved:
        assert_same(moved, twin, X)
    with Collection.open(folder) as again:
        assert again.info()["index"] == elsewhere
        assert_whole(again)


def test_a_crash_while_the_index_is_moved(twin, X, address, monkeypatch):
    twin.add(X)
    with monkeypatch.context() as patch:
        patch.setattr(remote.Remote, "_look", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            Collection.open(twin.path, index=address)
    with Collection.open(twin.path) as still:
        assert still.info()["index"] == "memory"
    with Collection.open(twin.path, index=address) as moved:  # no address was noted
        assert_same(moved, twin, X)
        assert_whole(moved)


def test_a_name_that_is_taken(photos, X, address, tmp_path, hasher):
    photos.add(X)
    with pytest.raises(CollectionError, match="there is a collection of this name already"):
        Collection.create(tmp_path / "second", hasher, index=address)
    assert not (tmp_path / "second").exists()
    with (
        Collection.create(tmp_path / "third", hasher),
        pytest.raises(CollectionError, match="not the index of this collection"),
    ):
        Collection.open(tmp_path / "third", index=address)
    with Collection.open(tmp_path / "third") as third:
        assert third.info()["index"] == "memory"
    assert_whole(photos)


@pytest.mark.usefixtures("milvus_client")
def test_addresses_that_lead_nowhere(tmp_path, hasher):
    with pytest.raises(MilvusError, match="no Milvus server answers there"):
        Collection.create(tmp_path / "col", hasher, index="milvus://127.0.0.1:1/col")
    with pytest.raises(ValueError, match="not the address of a collection in Milvus"):
        Collection.create(tmp_path / "col", hasher, index="elsewhere")
    assert not (tmp_path / "col").exists()


def test_passwords_are_not_stored(address, folder, hasher, X):
    secret = address.replace("milvus://", "milvus://me:open-sesame@")
    with Collection.create(folder, hasher, index=secret) as photos:
        photos.add(X)
        assert photos.info()["index"] == address
    assert b"sesame" not in b"".join(path.read_bytes() for path in folder.iterdir())


def test_readers_see_what_another_writes(photos, twin, X, folder):
    with Collection.open(folder) as reader:
        for step in range(3):
            for each in (photos, twin):
                each.add(X[20 * step : 20 * step + 20])
                each.remove([20 * step])
            assert_same(reader, twin, X)


def _write(folder, X, seconds):
    """Add rows one by one, and remove some, for some seconds."""
    from tests.milvus_server import use_client

    use_client()
    end = time.monotonic() + seconds
    with Collection.open(folder) as photos:
        for number, row in enumerate(X):
            photos.add(row[None])
            if number % 10 == 9:
                photos.remove([number - 5])
            if time.monotonic() > end:
                return


def test_searching_while_another_process_writes(photos, folder, hasher):
    more = np.random.RandomState(1).randn(3000, 12).astype(np.float32)
    writer = multiprocessing.get_context("spawn").Process(target=_write, args=(folder, more, 5))
    writer.start()
    n_found, first = 0, time.monotonic()
    while writer.is_alive() and time.monotonic() - first < 60:
        found = photos.search(more[0], k=10, distance="bits")
        distances = [(match.bits, match.id) for match in found]
        assert distances == sorted(distances)
        for match in found:
            assert match.item.code == hasher.encode(more[match.id][None])[0].tobytes()
        n_found += len(found)
    writer.join(30)
    assert writer.exitcode == 0
    assert n_found > 10
    assert_whole(photos)


def run(*arguments, code=0):
    done = CliRunner().invoke(main, list(map(str, arguments)))
    assert done.exit_code == code, done.output
    return done.output


def test_on_the_command_line(address, folder, hasher, X, tmp_path, milvus):
    save(hasher, tmp_path / "model")
    np.savez(tmp_path / "data.npz", X=X)
    run("create", folder, "-m", tmp_path / "model", "--index", address)
    run("add", folder, tmp_path / "data.npz")
    assert json.loads(run("info", folder, "--json"))["index"] == address
    assert address in run("info", folder)
    copy = f"milvus://{milvus.address}/exported_{next(NAMES)}"
    assert f"{copy}: 60 codes of 16 bits" in run("export", folder, "--to", copy)
    with Collection.open(folder) as photos:
        exported = MilvusIndex(copy, 16)
        np.testing.assert_array_equal(exported.ids, photos.ids)
        np.testing.assert_array_equal(exported.codes, photos.index.codes)
        exported.close()
    taken = run("export", folder, "--to", copy, code=2)
    assert "there is a collection of this name already, with 60 codes" in taken
    assert "choose another name" in run("export", folder, "--to", address, code=2)
    assert "a FILE, or --to" in run("export", folder, code=2)
    assert "a FILE, or --to" in run("export", folder, tmp_path / "x.npy", "--to", copy, code=2)
    run("export", folder, tmp_path / "codes.npy")
    assert np.load(tmp_path / "codes.npy").shape == (60, 2)
    assert "is not the address" not in run("export", folder, tmp_path / "codes.faiss")


def test_a_server_that_is_gone_in_the_middle(photos, twin, X, folder, milvus):
    for each in (photos, twin):
        each.add(X[:30])
    milvus.stop()
    try:
        with pytest.raises(MilvusError, match="see that it runs, and try again"):
            photos.search(X[0])
        with pytest.raises(CollectionError, match="what was written so far is safe"):
            photos.add(X[30:])
        photos.close()
        with pytest.raises(MilvusError, match="no Milvus server answers there"):
            Collection.open(folder)
    finally:
        milvus.start()
    twin.add(X[30:])
    with Collection.open(folder) as again:
        assert_same(again, twin, X)
        assert_whole(again)
