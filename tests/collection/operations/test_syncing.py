import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.collection.conftest import Colours, draw
from zshash import Collection, CollectionError
from zshash.collection.operations import pictures as seen
from zshash.collection.operations.same_files import same_files
from zshash.collection.operations.unreadable import ToldBefore
from zshash.collection.storage.rows import content_of
from zshash.images import PictureReader, PictureWarning


def ids(synced):
    return {name: getattr(synced, name).tolist() for name in nothing()}


def nothing(**but):
    return {"added": [], "changed": [], "moved": [], "removed": []} | but


def test_first_time_and_second_time(album, pictures, monkeypatch):
    assert ids(album.sync(pictures)) == nothing(added=list(range(12)))
    assert album[0].labels == ("cat",)
    monkeypatch.setattr(seen.hashlib, "file_digest", None)  # nothing is read again
    assert ids(album.sync(str(pictures) + "/../pictures/")) == nothing()
    assert album.verify() == []


def test_every_kind_of_change(album, pictures):
    album.add(pictures)
    before = {item.source: item for item in album.items()}
    draw(pictures / "cat" / "0.png", 100)
    (pictures / "cat" / "1.png").rename(pictures / "dog" / "moved.png")
    (pictures / "cat" / "2.png").unlink()
    draw(pictures / "bird" / "0.png", 101)
    os.utime(pictures / "cat" / "3.png", ns=(1, 1))
    assert ids(album.sync(pictures)) == nothing(added=[12], changed=[0], moved=[1], removed=[2])
    assert album[0].labels == before[str(pictures / "cat" / "0.png")].labels
    assert album[0].content != before[str(pictures / "cat" / "0.png")].content
    assert album.search(pictures / "cat" / "0.png", k=1)[0].bits == 0
    assert album[1].source == str(pictures / "dog" / "moved.png")
    assert album[3].mtime_ns == 1
    assert album[12].labels == ("bird",)
    assert album.verify() == []
    with Collection.open(album.path) as other:
        assert other.items() == album.items()
    assert ids(album.sync(pictures)) == nothing()


def test_two_files_change_places(album, pictures):
    album.add(pictures)
    one, two = pictures / "cat" / "0.png", pictures / "dog" / "0.png"
    one.rename(pictures / "x.png")
    two.rename(one)
    (pictures / "x.png").rename(two)
    assert ids(album.sync(pictures)) == nothing(moved=[0, 4])
    assert album[0].source == str(two)
    assert album.verify() == []


def test_a_copy_stands_in_for_its_original(album, pictures):
    album.add(pictures)
    shutil.copy(pictures / "cat" / "0.png", pictures / "dog" / "copy.png")
    assert ids(album.sync(pictures)) == nothing()
    (pictures / "cat" / "0.png").unlink()
    assert ids(album.sync(pictures)) == nothing(moved=[0])


def test_a_file_that_became_a_copy_of_another(album, pictures):
    album.add(pictures)
    shutil.copy(pictures / "cat" / "0.png", pictures / "dog" / "0.png")
    assert ids(album.sync(pictures)) == nothing(removed=[4])
    assert ids(album.sync(pictures)) == nothing()


def test_files_that_take_the_same_new_picture(album, pictures):
    album.add(pictures)
    draw(pictures / "cat" / "0.png", 100)
    draw(pictures / "dog" / "0.png", 100)
    assert ids(album.sync(pictures)) == nothing(changed=[0], removed=[4])


def test_other_folders_are_left_alone(album, pictures, tmp_path):
    draw(tmp_path / "pictures2" / "a.png", 50)
    album.add(pictures)
    album.add(tmp_path / "pictures2")
    shutil.rmtree(pictures / "cat")
    assert ids(album.sync(pictures)) == nothing(removed=[0, 1, 2, 3])
    assert 12 in album
    (tmp_path / "pictures2" / "a.png").rename(pictures / "dog" / "a.png")
    assert ids(album.sync(pictures)) == nothing(moved=[12])
    shutil.rmtree(pictures)
    with pytest.raises(CollectionError, match="there is no such folder, so nothing was"):
        album.sync(pictures)
    pictures.mkdir()
    with pytest.raises(CollectionError, match="no picture is left there of 9 in the collection"):
        album.sync(pictures)
    assert len(album) == 9


def test_what_can_not_be_read_stays(album, pictures):
    album.add(pictures)
    (pictures / "cat" / "0.png").write_bytes(b"half a pict")
    (pictures / "dog" / "new.png").write_bytes(b"also half")
    with pytest.warns(PictureWarning):
        synced = album.sync(pictures)
    assert ids(synced) == nothing()
    assert (len(synced.failures), synced.told) == (2, 0)
    with pytest.warns(ToldBefore, match="2 files that can not be read were told before") as told:
        synced = album.sync(pictures)
    assert len(told) == 1
    assert ids(synced) == nothing()
    assert (synced.failures, synced.told) == ((), 2)
    assert 0 in album
    draw(pictures / "cat" / "0.png", 100)
    draw(pictures / "dog" / "new.png", 101)
    assert ids(album.sync(pictures)) == nothing(changed=[0], added=[12])


def test_items_that_were_no_pictures(album, pictures, X):
    sources = [str(pictures / "cat" / "0.png"), str(pictures / "gone.png")]
    album.add(X[:2], sources=sources)
    synced = album.sync(pictures)
    assert synced.removed.tolist() == [1]
    assert len(synced.added) == 11


def test_a_folder_without_order(album, tmp_path):
    draw(tmp_path / "all" / "a.png", 1)
    draw(tmp_path / "all" / "deep" / "er" / "b.png", 2)
    assert ids(album.sync(tmp_path / "all")) == nothing(added=[0, 1])
    assert album[0].labels == ()


def test_names_that_are_no_unicode(album, tmp_path):
    odd = tmp_path / os.fsdecode(b"caf\xe9")
    try:
        draw(odd / "a.png", 1)
    except OSError:
        pytest.skip("the file system takes no such names")
    assert ids(album.sync(odd)) == nothing(added=[0])
    assert album[0].source == str(odd / "a.png")
    assert ids(album.sync(odd)) == nothing()
    (odd / "a.png").rename(odd / "b.png")
    assert ids(album.sync(tmp_path)) == nothing(moved=[0])
    draw(odd / "c.png", 2)
    (odd / "b.png").unlink()
    assert ids(album.sync(odd)) == nothing(added=[1], removed=[0])


def test_a_picture_stays_beside_codes_of_the_same_source(album, pictures):
    album.add(pictures)
    codes = np.zeros((1, 2), np.uint8)
    (bare,) = album.add_codes(codes, sources=[str(pictures / "cat" / "0.png")]).ids.tolist()
    assert ids(album.sync(pictures)) == nothing()
    draw(pictures / "cat" / "0.png", 100)
    assert ids(album.sync(pictures)) == nothing(changed=[0])
    (pictures / "cat" / "0.png").unlink()
    assert ids(album.sync(pictures)) == nothing(removed=[0, bare])


@pytest.mark.parametrize("is_copied", [False, True])
def test_items_of_files_that_can_not_be_read_stay(album, pictures, is_copied):
    album.add(pictures)
    path = pictures / "cat" / "0.png"
    if is_copied:
        shutil.copy(path, pictures / "dog" / "copy.png")
    path.unlink()
    path.symlink_to(pictures / "nowhere.png")
    with pytest.warns(PictureWarning):
        assert ids(album.sync(pictures)) == nothing()
    assert album[0].source == str(path)


def test_codes_of_a_picture_do_not_move(album, pictures):
    content = content_of((pictures / "cat" / "0.png").read_bytes())
    album.add_codes(np.zeros((1, 2), np.uint8), sources=["/gone.png"], contents=[content])
    assert ids(album.sync(pictures)) == nothing(added=list(range(1, 12)))
    assert album[0].source == "/gone.png"


def test_a_copy_of_a_picture_that_can_not_be_looked_at(album, pictures, tmp_path, monkeypatch):
    path, exists = pictures / "cat" / "0.png", Path.exists
    album.add(path)
    (tmp_path / "other").mkdir()
    shutil.copy(path, tmp_path / "other" / "copy.png")

    def look(one):
        if one == path:
            raise PermissionError(13, "Permission denied", str(one))
        return exists(one)

    monkeypatch.setattr(Path, "exists", look)
    assert ids(album.sync(tmp_path / "other")) == nothing()


def copies_in(album):
    """Paths of copies that the catalogue knows, by id."""
    with album._store.reading():
        return same_files(album._store)


def test_copies_are_named_and_noted(album, pictures, tmp_path):
    album.add(pictures)
    first, copy = pictures / "cat" / "0.png", pictures / "dog" / "copy.png"
    shutil.copy(first, copy)
    synced = album.sync(pictures)
    assert synced.copies == {str(copy): str(first)}
    assert copies_in(album) == {0: [str(copy)]}
    generation = album.generation
    assert album.sync(pictures).copies == synced.copies
    assert album.generation == generation  # nothing was written again
    other = tmp_path / "other" / "x.png"
    other.parent.mkdir()
    shutil.copy(first, other)
    assert album.sync(other.parent).copies == {str(other): str(first)}
    assert copies_in(album) == {0: sorted([str(copy), str(other)])}
    copy.unlink()
    assert album.sync(pictures).copies == {}
    assert copies_in(album) == {0: [str(other)]}
    other.unlink()
    draw(tmp_path / "other" / "y.png", 60)
    album.sync(other.parent)
    assert copies_in(album) == {}
    assert album.verify() == []


def test_copies_of_what_is_new_changed_or_moved(album, pictures):
    album.add(pictures)
    draw(pictures / "new.png", 100)
    shutil.copy(pictures / "new.png", pictures / "new copy.png")
    draw(pictures / "cat" / "1.png", 101)
    shutil.copy(pictures / "cat" / "1.png", pictures / "dog" / "z.png")
    shutil.copy(pictures / "cat" / "2.png", pictures / "dog" / "a.png")
    shutil.copy(pictures / "cat" / "2.png", pictures / "dog" / "b.png")
    (pictures / "cat" / "2.png").unlink()
    foreseen = album.sync(pictures, dry_run=True)
    synced = album.sync(pictures)
    assert ids(synced) == ids(foreseen) == nothing(added=[12], changed=[1], moved=[2])
    assert synced.copies == foreseen.copies
    for copy, original in synced.copies.items():
        assert Path(copy).read_bytes() == Path(original).read_bytes()
    stored = {
        path: album[number].source for number, own in copies_in(album).items() for path in own
    }
    assert stored == synced.copies
    assert len(stored) == 3


def test_copies_of_what_can_not_be_read_are_none(album, pictures):
    for name in ("a.png", "b.png"):
        (pictures / name).write_bytes(b"half")
    with pytest.warns(PictureWarning):
        synced = album.sync(pictures)
    assert (synced.copies, copies_in(album)) == ({}, {})


def test_a_dry_run_says_what_a_sync_does_then(album, pictures):
    album.add(pictures)
    before = album.items(), album.generation
    cat = pictures / "cat"
    draw(cat / "0.png", 100)
    (cat / "1.png").rename(pictures / "dog" / "moved.png")
    (cat / "2.png").unlink()
    draw(pictures / "bird" / "0.png", 101)
    foreseen = album.sync(pictures, dry_run=True)
    assert (album.items(), album.generation) == before
    assert foreseen.paths == {
        0: (str(cat / "0.png"),) * 2,
        1: (str(cat / "1.png"), str(pictures / "dog" / "moved.png")),
        2: (str(cat / "2.png"), None),
        12: (None, str(pictures / "bird" / "0.png")),
    }
    done = album.sync(pictures)
    assert ids(done) == ids(foreseen)
    assert done.paths == {}


def test_a_dry_run_needs_no_right_to_write(album, pictures):
    with Collection.open(album.path) as writer, writer._store.writing():
        assert len(album.sync(pictures, dry_run=True).added) == 12


def test_a_picture_alone(album, pictures):
    path = pictures / "cat" / "0.png"
    assert ids(album.sync(path)) == nothing(added=[0])
    assert ids(album.sync(path)) == nothing()
    draw(path, 100)
    assert ids(album.sync(path)) == nothing(changed=[0])
    path.unlink()
    with pytest.raises(CollectionError, match="there is no such folder"):
        album.sync(path)


def test_a_list_of_pictures(album, pictures, tmp_path):
    rows = [f"pictures/cat/{i}.png,cat;pet" for i in range(4)] + ["pictures/dog/0.png,dog"]
    manifest = tmp_path / "list.csv"
    manifest.write_text("\n".join(["path,labels", *rows]))
    assert ids(album.sync(manifest)) == nothing(added=[0, 1, 2, 3, 4])
    assert album[0].labels == ("cat", "pet")
    album.add(pictures)
    draw(pictures / "cat" / "1.png", 100)
    draw(pictures / "ship" / "1.png", 101)
    (pictures / "cat" / "2.png").unlink()
    (pictures / "ship" / "2.png").unlink()
    assert ids(album.sync(manifest)) == nothing(changed=[1], removed=[2])
    shutil.rmtree(pictures)
    with pytest.raises(CollectionError, match="no picture is left there of 4"):
        album.sync(manifest)


def test_features_are_not_synced(album, X, tmp_path):
    np.save(tmp_path / "X.npy", X)
    with pytest.raises(CollectionError, match="it holds no paths of pictures"):
        album.sync(tmp_path / "X.npy")


NAMES = st.sampled_from(["a/0.png", "a/1.png", "b/0.png", "b/1.png", "b/c/2.png"])
STEPS = st.one_of(
    st.tuples(st.just("draw"), NAMES, st.integers(0, 4)),
    st.tuples(st.just("move"), NAMES, NAMES),
    st.tuples(st.just("copy"), NAMES, NAMES),
    st.tuples(st.just("delete"), NAMES, st.none()),
    st.tuples(st.just("sync"), st.none(), st.none()),
)


def act(root, step, name, other):
    path = root / name
    if step == "draw":
        draw(path, other)
    elif step == "delete":
        path.unlink(missing_ok=True)
    elif path.exists() and name != other:
        (root / other).parent.mkdir(parents=True, exist_ok=True)
        (path.rename if step == "move" else lambda to: shutil.copy(path, to))(root / other)


@settings(max_examples=20, deadline=None)
@given(st.lists(STEPS, max_size=14))
def test_after_a_sync_items_and_files_agree(tmp_path_factory, hasher, steps):
    root = tmp_path_factory.mktemp("s") / "all"
    draw(root / "kept.png", 9)  # a folder without any picture is refused
    reader = PictureReader(extractor=Colours(), cache=False)
    with Collection.create(root.parent / "c", hasher, reader=reader) as album:
        for step in [*steps, ("sync", None, None)]:
            if step[0] != "sync":
                act(root, *step)
                continue
            before = {item.content: item.id for item in album.items()}
            album.sync(root)
            files = {path: path.read_bytes() for path in root.rglob("*.png")}
            now = {item.content: item for item in album.items()}
            assert set(now) == {content_of(data) for data in files.values()}
            for content, item in now.items():
                assert content_of(files[Path(item.source)]) == content
                assert before.get(content, item.id) == item.id
                assert album.search(item.source, k=1)[0].bits == 0
            again = album.sync(root)
            assert ids(again) == nothing()
            kept = {item.source for item in album.items()}
            assert set(again.copies) == set(map(str, files)) - kept
            assert all(files[Path(a)] == files[Path(b)] for a, b in again.copies.items())
            noted = {path for own in copies_in(album).values() for path in own}
            assert noted == set(again.copies)
        assert album.verify() == []
