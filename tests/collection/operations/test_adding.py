"""Pictures on their way into a collection."""

import os
import shutil
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from tests.collection.conftest import Colours, draw
from zshash import Collection
from zshash.collection.operations import adding
from zshash.datasets import DataError, Pictures
from zshash.images import PictureReader, PictureWarning


def test_a_folder_of_pictures(album, pictures, hasher):
    added = album.add(pictures)
    assert len(added.ids) == 12
    item = album[5]
    path = pictures / "dog" / "1.png"
    assert item.source == str(path)
    assert item.labels == ("dog",)
    assert (item.size, item.mtime_ns) == (path.stat().st_size, path.stat().st_mtime_ns)
    features = Colours().extract([path])
    assert item.code == hasher.encode(features).tobytes()
    small = Image.open(BytesIO(album.thumbnail(5)))
    assert (small.format, small.size) == ("WEBP", (20, 16))
    again = album.add(pictures)
    assert len(again.ids) == 0
    assert again.duplicates.tolist() == list(range(12))
    assert album.verify() == []


def test_ways_to_search(album, pictures):
    album.add(pictures)
    path = pictures / "ship" / "2.png"
    pixels = np.asarray(Image.open(path))
    for query in (path, str(path), path.read_bytes(), pixels, Colours().extract([path])[0]):
        assert album.search(query, k=1)[0].bits == 0
        assert 10 in [match.id for match in album.search(query, radius=0)]
    with pytest.raises(DataError, match="No such file"):
        album.search(pictures / "nowhere.png")
    with pytest.raises(ValueError, match="not a picture"):
        album.search(b"no picture")


def test_a_list_of_pictures(album, pictures, tmp_path):
    paths = [pictures / "cat" / "0.png", str(pictures / "cat" / "1.png")]
    added = album.add(paths, labels=["a", None], metadata=[{"x": 1}, None])
    assert added.ids.tolist() == [0, 1]
    assert [item.labels for item in album.items()] == [("a",), ()]
    assert album[0].metadata == {"x": 1, "width": 20, "height": 16}
    draw(tmp_path / "one.png", 99)
    mixed = album.add([tmp_path / "one.png", pictures / "dog", pictures / "ship" / "0.png"])
    assert len(mixed.ids) == 6
    with pytest.raises(TypeError, match="a list that holds int"):
        album.add([1])


def test_copies_are_one_item(album, pictures):
    for i in range(3):
        shutil.copy(pictures / "cat" / "0.png", pictures / "dog" / f"copy{i}.png")
    added = album.add(pictures)
    assert len(added.ids) == 12
    assert added.duplicates.tolist() == [0, 0, 0]


def test_pixels(album):
    pixels = np.random.RandomState(0).randint(0, 256, size=(5, 8, 8), dtype=np.uint8)
    pixels[4] = pixels[0]
    added = album.add(pixels)
    assert added.duplicates.tolist() == [0]
    assert album[1].source is None
    assert album.thumbnail(1)
    labelled = Pictures(255 - pixels[:2], np.array([1, 0]), ("zero", "one"))
    assert [item.labels for item in album.items(album.add(labelled).ids)] == [("one",), ("zero",)]


def test_unreadable_pictures_are_left_out(album, pictures, monkeypatch):
    monkeypatch.setattr(adding, "PICTURES_AT_ONCE", 4)
    for i in range(4):  # a whole batch
        (pictures / "dog" / f"{i}.png").write_bytes(b"no picture %d" % (i // 2))
    (pictures / "ship" / "0.png").write_bytes(b"")
    paths = sorted(pictures.glob("*/*.png"))
    with pytest.warns(PictureWarning) as warned:
        added = album.add([*paths, pictures / "gone.png"])
    assert len(added.ids) == 7
    assert len(added.failures) == 6
    assert "6 of 13 pictures could not be used" in str(warned[-1].message)
    named = "\n".join(added.failures)
    assert "gone.png: No such file" in named
    assert "dog/0.png: not a picture" in named
    assert "dog/1.png: the same as" in named
    assert album.verify() == []


def test_all_pictures_bad(album, tmp_path):
    (tmp_path / "a.png").write_bytes(b"x")
    with pytest.warns(PictureWarning):
        added = album.add(tmp_path / "a.png")
    assert len(added.ids) == 0
    (failure,) = added.failures
    assert "a.png: not a picture" in failure


def test_a_picture_that_changes_meanwhile(album, pictures, monkeypatch):
    original = Colours.prepare

    def disturb(self, image):
        os.utime(pictures / "cat" / "2.png", ns=(5, 5))
        return original(self, image)

    monkeypatch.setattr(Colours, "prepare", disturb)
    with pytest.warns(PictureWarning):
        added = album.add(pictures)
    assert len(added.ids) == 11
    assert "2.png: changed while" in added.failures[0]


def test_no_thumbnails(tmp_path, hasher, reader, pictures):
    with Collection.create(tmp_path / "c", hasher, reader=reader, thumbnails=0) as album:
        album.add(pictures)
        assert album.thumbnail(0) is None
    with Collection.create(tmp_path / "d", hasher, extractor=Colours(), thumbnails=8) as album:
        album.add(pictures)
        assert max(Image.open(BytesIO(album.thumbnail(0))).size) == 8


def test_the_network_is_remembered(album, pictures):
    album.add(pictures)
    assert album.model.notes["extractor"]["name"] == "colours"
    with Collection.open(album.path) as other:
        assert len(other.search(code=other.index.codes[:1], k=3)[0]) == 3
        with pytest.raises(
            DataError, match="trained on features of colours, which is not available"
        ):
            other.search(pictures / "cat" / "0.png")


def test_a_model_that_names_no_network(tmp_path, hasher, pictures):
    with Collection.create(tmp_path / "c", hasher) as made:
        made.close()
    with Collection.open(tmp_path / "c", reader=PictureReader(extractor=Colours())) as album:
        with pytest.warns(UserWarning, match="does not say which network"):
            album.add(pictures)
        assert album.search(pictures / "cat" / "0.png", k=1)[0].bits == 0  # said once


def test_extractor_and_reader_are_one_too_many(tmp_path, hasher, reader):
    with pytest.raises(ValueError, match="extractor or reader, not both"):
        Collection.create(tmp_path / "c", hasher, extractor="x", reader=reader)


def test_features_in_the_cache_are_used(tmp_path, hasher, pictures, monkeypatch):
    reader = PictureReader(extractor=Colours())
    reader.read(pictures)

    def refuse(*_):
        raise AssertionError

    monkeypatch.setattr(Colours, "run", refuse)
    with Collection.create(tmp_path / "c", hasher, reader=reader) as album:
        assert len(album.add(pictures).ids) == 12
