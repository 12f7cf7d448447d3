"""Methods of a collection, in the order in which a user meets them."""

import json
import multiprocessing
import os
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zshash import Collection, CollectionError
from zshash.codes import hamming
from zshash.collection import Item, Match
from zshash.collection.storage import mirror, store
from zshash.datasets import DataError, Dataset
from zshash.hashing import save


def test_create_add_search_open(folder, hasher, X):
    with Collection.create(folder, hasher) as photos:
        assert (len(photos), photos.n_bits, photos.path) == (0, 16, folder)
        assert photos.search(X[0]) == []
        added = photos.add(X, labels=["cat"] * 30 + [["dog", "pet"]] * 30)
        assert added.ids.tolist() == list(range(60))
        assert (len(added.duplicates), added.failures) == (0, ())
        found = photos.search(X[40], k=5, distance="bits")
    with Collection.open(folder) as photos:
        assert photos.search(X[40], k=5, distance="bits") == found
        assert found[0] == Match(photos[40], 1.0, 0)
        assert photos[40].labels == ("dog", "pet")
        assert photos[40].code == hasher.encode(X[40:41]).tobytes()
        assert len(photos[40].content) == 16
        assert photos.ids.tolist() == list(photos) == list(range(60))
        assert 59 in photos
        assert 60 not in photos
        assert photos.verify() == []
    with pytest.raises(CollectionError, match="it is closed: open it again"):
        photos.search(X[0])


def test_search_is_exact(photos, hasher, X):
    photos.add(X[:50])
    codes = hasher.encode(X)
    distances = hamming(codes[50:], codes[:50])
    for query, own in zip(photos.search(code=codes[50:], k=7), distances, strict=True):
        best = sorted(zip(own.tolist(), range(50), strict=True))[:7]
        assert [(match.bits, match.id) for match in query] == best
    for query, own in zip(photos.search(code=codes[50:], radius=3), distances, strict=True):
        assert [match.id for match in query] == [
            number for distance, number in sorted(zip(own, range(50), strict=True)) if distance <= 3
        ]
    assert photos.search(X[3], radius=0)[0].bits == 0


def test_where(photos, X):
    photos.add(
        X[:30], labels=["cat"] * 10 + ["dog"] * 20, metadata=[{"year": i} for i in range(30)]
    )
    assert photos.find("label = 'dog' and year < 12").tolist() == [10, 11]
    matches = photos.search(X[0], k=3, where="label = 'dog'")
    assert [match.item.labels for match in matches] == [("dog",)] * 3
    assert photos.search(X[0], where="label = 'cow'") == []
    assert {match.id for match in photos.search(X[0], radius=16, where="year >= 28")} == {28, 29}
    with pytest.raises(ValueError, match="label"):
        photos.find("label = ")


def test_what_is_there_is_not_added_again(photos, X):
    photos.add(X[:10])
    again = photos.add(np.vstack([X[12:13], X[5:12], X[12:13]]))
    assert again.ids.tolist() == [10, 11, 12]
    assert again.duplicates.tolist() == [5, 6, 7, 8, 9, 10]
    assert len(photos) == 13


def test_ids_are_never_given_again(folder, hasher, X):
    with Collection.create(folder, hasher) as photos:
        photos.add(X[:10])
        assert photos.remove([9, 3, 9]) == 2
        assert photos.remove([]) == 0
        with pytest.raises(CollectionError, match="no item 3, so nothing was removed"):
            photos.remove([3, 4])
        assert photos.add(X[9:11]).ids.tolist() == [10, 11]
    with Collection.open(folder) as photos:
        photos.remove([11])
        assert photos.add(X[20:21]).ids.tolist() == [12]
        assert photos.ids.tolist() == [0, 1, 2, 4, 5, 6, 7, 8, 10, 12]
        with pytest.raises(CollectionError, match="there is no item 3"):
            photos[3]
        assert photos.verify() == []


def test_codes_from_elsewhere(photos, hasher, X):
    codes = hasher.encode(X)
    contents = [bytes([i % 50]) * 16 for i in range(60)]
    added = photos.add_codes(
        codes,
        sources=[f"http://here/{i}" for i in range(60)],
        labels=["cat"] * 60,
        metadata=[{"i": i} for i in range(60)],
        contents=contents,
    )
    assert len(added.ids) == 50
    assert added.duplicates.tolist() == list(range(10))
    expected = Item(7, codes[7].tobytes(), "http://here/7", contents[7], ("cat",), {"i": 7})
    assert photos[7] == expected
    assert photos.add_codes(codes[:2]).ids.tolist() == [50, 51]
    with pytest.raises(ValueError, match="shape"):
        photos.add_codes(codes[:, :1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": ["cat"]}, "labels: 1 entries for 2 items"),
        ({"labels": ["cat", " "]}, "labels: row 1 has ' '"),
        ({"labels": ["cat", 3]}, "labels: row 1 has 3"),
        ({"labels": "ab"}, "labels: a list"),
        ({"metadata": [{}, {"a": float("nan")}]}, "metadata: row 1 can not be written as JSON"),
        ({"metadata": [{}, {"a": {3: 4}}]}, "metadata: row 1 has the key 3"),
        ({"metadata": [{}, {"a": object()}]}, "metadata: row 1 can not be written as JSON"),
        ({"metadata": [{}, [1]]}, "metadata: row 1 is list"),
        ({"sources": ["a", ""]}, "sources: row 1 has ''"),
        ({"sources": ["a", "b\0"]}, "sources: row 1"),
    ],
)
def test_bad_facts_are_refused_before_anything_is_written(photos, X, options, message):
    with pytest.raises(ValueError, match=message):
        photos.add(X[:2], **options)
    with pytest.raises(ValueError, match=message):
        photos.add_codes(photos.model.hasher.encode(X[:2]), **options)
    assert len(photos) == 0
    assert photos.info()["generation"] == 0


def test_bad_data(photos, X, tmp_path):
    broken = X.copy()
    broken[40, 2] = np.nan
    with pytest.raises(DataError, match="row 40 holds NaN"):
        photos.add(broken)
    with pytest.raises(DataError, match="5 features for each sample"):
        photos.add(X[:, :5])
    with pytest.raises(DataError, match="there is no such file or folder"):
        photos.add(tmp_path / "nowhere")
    with pytest.raises(TypeError, match="int can not be added: give a path"):
        photos.add(3)
    with pytest.raises(ValueError, match="uint8 and shape"):
        photos.add(np.zeros((3, 4), dtype=np.uint8))
    with pytest.raises(ValueError, match="can not be searched for"):
        photos.search(X[None])
    with pytest.raises(TypeError, match="can not be searched for"):
        photos.search(object())
    with pytest.raises(ValueError, match="contents: row 0"):
        photos.add_codes(np.zeros((1, 2), np.uint8), contents=["x"])
    with pytest.raises(CollectionError, match="ids are whole numbers"):
        photos.items([0.5])
    assert len(photos) == 0
    assert photos.add([]).ids.tolist() == []


def test_names_that_are_no_unicode(photos, X):
    odd = os.fsdecode(b"/photos/caf\xe9/\xff.jpg")
    photos.add(X[:3], sources=[odd, "/photos/café.jpg", None], labels=[odd[8:12], "é", None])
    assert [item.source for item in photos.items()] == [odd, "/photos/café.jpg", None]
    assert photos[0].labels == (odd[8:12],)
    assert photos.find("label = 'é'").tolist() == [1]
    assert photos.verify() == []


def test_files_of_features(photos, X, tmp_path):
    paths = np.array(["a.jpg", "b.jpg"])
    (tmp_path / "b.jpg").write_bytes(b"")
    np.savez(tmp_path / "f.npz", X=X[:2], y=[1, 0], names=["cat", "dog"], paths=paths)
    photos.add(tmp_path / "f.npz")
    assert [item.labels for item in photos.items()] == [("dog",), ("cat",)]
    assert [item.source for item in photos.items()] == ["a.jpg", "b.jpg"]
    data = Dataset(X[2:4], np.array([[True, True], [False, False]]), ("x", "y"))
    photos.add(data)
    assert [item.labels for item in photos.items([2, 3])] == [("x", "y"), ()]


def test_features_are_kept_only_if_wanted(tmp_path, hasher, X):
    for keeps in (False, True):
        folder = tmp_path / str(keeps)
        with Collection.create(folder, hasher, keep_features=keeps) as photos:
            photos.add(X)
            assert photos.info()["features"] == 60 * keeps
            photos.remove([0, 1])
            assert photos.info()["features"] == 58 * keeps
            assert photos.verify() == []


def test_models_from_files_keep_their_notes(folder, hasher, tmp_path):
    save(hasher, tmp_path / "model", notes={"seen": ["cat"]})
    with Collection.create(folder, tmp_path / "model") as photos:
        assert photos.model.notes == {"seen": ["cat"]}
        assert photos.info()["method"] == "LSH"


def test_folders_that_are_taken(tmp_path, hasher, photos):
    with pytest.raises(CollectionError, match="there is a collection already"):
        Collection.create(photos.path, hasher)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("x")
    with pytest.raises(CollectionError, match=r"not empty .it holds thesis\.txt"):
        Collection.create(tmp_path / "other", hasher)
    with pytest.raises(CollectionError, match="a file has this name"):
        Collection.create(tmp_path / "other" / "thesis.txt", hasher)
    with pytest.raises(CollectionError, match="there is no collection here"):
        Collection.open(tmp_path / "other")
    with pytest.raises(CollectionError, match="there is no such folder"):
        Collection.open(tmp_path / "nowhere")


def test_mistakes_leave_no_folder(tmp_path, hasher):
    with pytest.raises(ValueError, match="thumbnails is their longer side"):
        Collection.create(tmp_path / "a", hasher, thumbnails=-1)
    with pytest.raises(CollectionError, match="say wordnet"):
        Collection.create(tmp_path / "a", hasher, semantics="nowhere.txt")
    with pytest.raises(DataError, match="there is no such file or folder"):
        Collection.create(tmp_path / "a", tmp_path / "nowhere")
    with pytest.raises(TypeError):
        Collection.create(tmp_path / "a" / "b", object())
    assert not (tmp_path / "a" / "b").exists()


def test_info_is_ready_for_json(photos, X):
    photos.add(X)
    facts = json.loads(json.dumps(photos.info()))
    assert (facts["items"], facts["bits"], facts["format"], facts["next id"]) == (60, 16, 4, 60)


def test_others_see_what_is_written(folder, hasher, X):
    with Collection.create(folder, hasher) as one, Collection.open(folder) as two:
        one.add(X[:30])
        assert len(two) == 30
        two.remove([3])
        one.add(X[30:])
        two.remove([40])
        assert one.ids.tolist() == two.ids.tolist()
        np.testing.assert_array_equal(one.index.codes, two.index.codes)
        one.compact()
        one.remove([5])
        assert 5 not in two
        assert one.verify() == two.verify() == []


@settings(max_examples=20, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["add", "remove", "compact", "reopen"]), st.integers(0, 59)),
        max_size=12,
    ),
    st.data(),
)
def test_any_sequence_of_changes(tmp_path_factory, hasher, X, steps, data):
    folder = tmp_path_factory.mktemp("c") / "c"
    codes, model = hasher.encode(X), {}
    photos, other = Collection.create(folder, hasher), Collection.open(folder)
    n_given = 0
    for step, number in steps:
        who = data.draw(st.sampled_from([photos, other]))
        if step == "add":
            who.add_codes(codes[number : number + 3])
            fresh = codes[number : number + 3]
            model |= {n_given + i: code.tobytes() for i, code in enumerate(fresh)}
            n_given += len(fresh)
        elif step == "remove" and model:
            victim = sorted(model)[number % len(model)]
            who.remove([victim])
            del model[victim]
        elif step == "compact":
            who.compact()
        elif step == "reopen":
            photos.close()
            photos = Collection.open(folder)
        for each in (photos, other):
            index = each.index
            found = dict(zip(index.ids.tolist(), (c.tobytes() for c in index.codes), strict=True))
            assert found == model
    assert photos.verify() == other.verify() == []
    photos.close()
    other.close()


def test_threads_share_an_object(photos, X):
    def work(start):
        photos.add(X[start : start + 10])
        photos.search(X[start])

    threads = [threading.Thread(target=work, args=[10 * i]) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(photos.ids.tolist()) == list(range(60))
    assert photos.verify() == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_processes_do_not(photos):
    def work(pipe):
        try:
            len(photos)
        except CollectionError as error:
            pipe.send(str(error))
        photos.close()

    ours, theirs = multiprocessing.Pipe()
    child = multiprocessing.get_context("fork").Process(target=work, args=[theirs])
    child.start()
    assert f"opened by process {os.getpid()}, and this is process {child.pid}" in ours.recv()
    child.join()
    assert len(photos) == 0


def test_relative_paths(tmp_path, hasher, X, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Collection.create("here", hasher) as photos:
        monkeypatch.chdir(Path("/"))
        photos.add(X[:3], sources=[Path("x.jpg"), "y.jpg", None])
        assert [item.source for item in photos.items()] == ["/x.jpg", "y.jpg", None]
    assert (tmp_path / "here" / "catalogue.sqlite").exists()


def test_a_reader_follows_without_reading_everything_again(photos, X, monkeypatch):
    photos.add(X)
    with Collection.open(photos.path) as reader:
        monkeypatch.setattr(mirror.Mirror, "of_rows", None)
        monkeypatch.setattr(store, "newest_snapshot", None)
        photos.remove([3])
        assert len(reader) == 59
        photos.remove([4, 7])
        photos.add(X[3:8])
        photos.remove([60])
        assert reader.ids.tolist() == photos.ids.tolist()
        photos.compact()
        photos.remove([61])
        assert len(reader) == len(photos)


def test_the_remains_of_a_collection_are_not_written_over(folder, hasher, X):
    with Collection.create(folder, hasher) as photos:
        photos.add(X)
    for path in folder.glob("catalogue.sqlite*"):
        path.unlink()
    remains = sorted(folder.iterdir())
    with pytest.raises(CollectionError, match="the catalogue of a collection is missing here"):
        Collection.create(folder, hasher)
    assert sorted(folder.iterdir()) == remains


def test_fields_that_no_item_has(photos, X):
    photos.add(X, metadata=[{"year": 2020, "camera": {"model": "A"}}] * len(X))
    assert photos.unknown_fields("year > 2000 and label = 'x' and id < 3") == []
    assert photos.unknown_fields("yaer > 2000 or not camera.model = 'x'") == ["yaer"]
    assert photos.unknown_fields("camera.lens = 'x'") == ["camera.lens"]
