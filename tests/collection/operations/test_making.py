"""Collections made from pictures in one call, also after interruptions."""

import shutil

import numpy as np
import pytest
from PIL import Image

from zshash import LSH, Collection, CollectionError
from zshash.collection.operations import adding, making, refitting
from zshash.datasets import DataError, Dataset
from zshash.images import PictureReader


def draw(folder, n=40):
    """Pictures of noise around one of four colours, without names that tell the colour."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(n):
        rng = np.random.RandomState(number)
        base = np.array([(200, 40, 40), (40, 200, 40), (40, 40, 200), (200, 200, 40)][number % 4])
        pixels = np.clip(base + rng.randint(-40, 40, (12, 16, 3)), 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"{number:02d}.png")
    return folder


@pytest.fixture
def photos(tmp_path):
    return draw(tmp_path / "photos")


def contents(collection):
    """All that makes two collections the same."""
    with collection._store.reading():
        model = collection._store.model.checksum
    return model, [(item.id, item.code, item.source, item.labels) for item in collection.items()]


def test_pictures_are_learned_from_and_added(tmp_path, photos, reader):
    with Collection.create(tmp_path / "album", photos, reader=reader) as album:
        assert len(album) == 40
        assert album.model.method == "MTH"
        assert album.n_bits == 64
        assert album.info()["features"] == album.info()["thumbnails"] == 40
        found = album.search(photos / "04.png", k=8)
        assert found[0].path == str(photos / "04.png")
        assert sum(int(match.path[-6:-4]) % 4 == 0 for match in found) >= 7
        assert album.verify(deep=True) == []
        assert album.n_unlearned == 0
    assert making.unfinished(tmp_path / "album") == []


def test_it_does_what_fit_and_add_do(tmp_path, photos, reader):
    """The codes are those of a model that was learned from the same features."""
    from zshash import fit

    with Collection.create(tmp_path / "album", photos, reader=reader, n_bits=32) as album:
        X = reader.network.extract(sorted(photos.iterdir())).astype(np.float16).astype(np.float32)
        data = Dataset(X, extractor=reader.facts())
        model = fit(data, n_bits=32, effort="fast", reader=PictureReader(reader.extractor))
        codes = np.array([list(item.code) for item in album.items()], dtype=np.uint8)
        np.testing.assert_array_equal(codes, model.encode(X))


def test_labels_come_from_folders_or_not_at_all(tmp_path, reader):
    for name in ("cat", "dog", "2021"):
        draw(tmp_path / "photos" / name, 24)
    for number, path in enumerate(sorted((tmp_path / "photos").rglob("*.png"))):
        pixels = np.asarray(Image.open(path)).copy()
        pixels[0, 0] = number  # no two files are the same
        Image.fromarray(pixels).save(path)
    with Collection.create(tmp_path / "one", tmp_path / "photos", reader=reader) as album:
        assert album.labels() == {"": 24, "cat": 24, "dog": 24}
        assert set(album.model.seen) == {"cat", "dog"}
    photos = tmp_path / "photos"
    with Collection.create(tmp_path / "two", photos, reader=reader, labels="none") as album:
        assert album.labels() == {"": 72}
        assert album.model.seen == ()


def test_a_table_of_features(tmp_path, X):
    labels = ["cat"] * 30 + [None] * 30
    with Collection.create(tmp_path / "album", X, labels=labels, n_bits=16) as album:
        assert len(album) == 60
        assert album.labels() == {"": 30, "cat": 30}
        assert album.search(X[7], k=1)[0].id == 7
        assert album.refit(n_bits=32) == 60
        assert album.n_bits == 32


class Stopped(Exception):  # noqa: N818, stands for the end of a process
    pass


@pytest.mark.parametrize("stop", [0, 1, 2, 3, "learning", "finishing"])
def test_an_interrupted_call_goes_on(tmp_path, photos, reader, monkeypatch, stop):
    monkeypatch.setattr(adding, "PICTURES_AT_ONCE", 10)
    with Collection.create(tmp_path / "whole", photos, reader=reader) as album:
        whole = contents(album)

    def fail(*_, **__):
        raise Stopped

    with monkeypatch.context() as patch:
        if stop == "learning":
            patch.setattr(refitting, "fit", fail)
        elif stop == "finishing":
            patch.setattr(making, "_finish", fail)
        else:
            real, calls = adding.extract, iter(range(100))
            patch.setattr(
                adding,
                "extract",
                lambda *own, **more: fail() if next(calls) == stop else real(*own, **more),
            )
        with pytest.raises(Stopped):
            Collection.create(tmp_path / "album", photos, reader=reader)
    assert making.unfinished(tmp_path / "album") == [str(photos)]
    with Collection.open(tmp_path / "album", reader=reader) as album:
        assert len(album) == (40 if isinstance(stop, str) else 10 * stop)
    with Collection.create(tmp_path / "album", photos, reader=reader) as album:
        assert contents(album) == whole
        assert album.verify(deep=True) == []


def test_only_the_same_call_goes_on(tmp_path, photos, reader, monkeypatch):
    def fail(*_, **__):
        raise Stopped

    with monkeypatch.context() as patch:
        patch.setattr(refitting, "fit", fail)
        with pytest.raises(Stopped):
            Collection.create(tmp_path / "album", photos, reader=reader)
    other = shutil.copytree(photos, tmp_path / "other")
    with pytest.raises(CollectionError, match=r"not finished and is made from .*photos: go on"):
        Collection.create(tmp_path / "album", other, reader=reader)
    with pytest.raises(CollectionError, match="begun in another way"):
        Collection.create(tmp_path / "album", photos, reader=reader, n_bits=32)


def test_a_finished_collection_is_refused(tmp_path, photos, reader):
    Collection.create(tmp_path / "album", photos, reader=reader).close()
    with pytest.raises(CollectionError, match="there is a collection already"):
        Collection.create(tmp_path / "album", photos, reader=reader)


def test_a_model_file_is_a_model(tmp_path, hasher):
    from zshash import Model

    Model(hasher).save(tmp_path / "model.zshash")
    with Collection.create(tmp_path / "album", tmp_path / "model.zshash") as album:
        assert len(album) == 0
        assert album.model.method == "LSH"
    with pytest.raises(TypeError, match="has been learned already"):
        Collection.create(tmp_path / "other", tmp_path / "model.zshash", n_bits=8)
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("n_good", [0, 1])
@pytest.mark.filterwarnings("ignore::zshash.images.reading.PictureWarning")
def test_too_few_readable_pictures(tmp_path, reader, n_good):
    photos = draw(tmp_path / "photos", n_good)
    for number in range(3):
        (photos / f"bad{number}.jpg").write_bytes(b"\xff\xd8\xff nothing")
    with pytest.raises(DataError, match="could be read, and it takes two to learn"):
        Collection.create(tmp_path / "album", photos, reader=reader)
    assert (tmp_path / "album").exists() == bool(n_good)


def test_an_empty_folder(tmp_path, reader):
    (tmp_path / "photos").mkdir()
    with pytest.raises(DataError, match="no pictures"):
        Collection.create(tmp_path / "album", tmp_path / "photos", reader=reader)
    assert not (tmp_path / "album").exists()


def test_one_picture(tmp_path, reader):
    with pytest.raises(DataError, match="one picture is not enough"):
        Collection.create(tmp_path / "album", draw(tmp_path / "photos", 1), reader=reader)
    assert not (tmp_path / "album").exists()


def test_pictures_that_vanish_are_left_out(tmp_path, photos, reader, monkeypatch):
    real = adding.look_at_all

    def look(sources, *own):
        (photos / "03.png").unlink(missing_ok=True)
        return real(sources, *own)

    monkeypatch.setattr(adding, "look_at_all", look)
    with pytest.warns(UserWarning, match="No such file|left out"):
        album = Collection.create(tmp_path / "album", photos, reader=reader)
    with album:
        assert len(album) == 39


def test_copies_of_a_file_are_one_item(tmp_path, photos, reader):
    from zshash.collection.operations.same_files import same_files

    shutil.copy(photos / "00.png", photos / "zz.png")
    with Collection.create(tmp_path / "album", photos, reader=reader) as album:
        assert len(album) == 40
        with album._store.reading():
            assert same_files(album._store) == {0: [str(photos / "zz.png")]}


def test_a_hasher_is_a_model(tmp_path, X):
    hasher = LSH(n_bits=16, random_state=0).fit(X)
    with Collection.create(tmp_path / "album", hasher) as album:
        assert len(album) == 0
        assert album.info()["features"] == 0
