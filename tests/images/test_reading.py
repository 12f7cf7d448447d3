import os
import shutil
import signal
import subprocess
import sys
import textwrap
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image

from tests.images.small_network import write_network
from zshash.datasets import DataError, Pictures, digits, read_folder
from zshash.images import Limits, PictureReader, PictureWarning
from zshash.images.decoding import PictureError


@pytest.fixture
def pictures(photos):
    return read_folder(photos)


def truth(pictures):
    """Features by another way: one picture at a time."""
    return np.stack(
        [
            np.asarray(Image.open(path).resize((2, 2), Image.Resampling.BOX), np.float32).ravel()
            for path in pictures.sources
        ]
    )


def test_features_labels_and_paths_go_together(pictures, colours):
    found = PictureReader(colours).features(pictures)
    assert_array_equal(found.X, truth(pictures))
    assert_array_equal(found.labels, pictures.labels)
    assert found.names == ("cat", "dog", "ship", "truck")
    assert found.paths == tuple(map(str, pictures.sources))


def test_a_second_run_reads_no_picture(pictures, colours):
    first = PictureReader(colours).features(pictures)
    assert colours.n_prepared == 40
    again = PictureReader(colours).features(pictures)
    assert colours.n_prepared == 40
    assert_array_equal(first.X, again.X)


def test_only_new_and_changed_pictures_are_read(photos, colours):
    PictureReader(colours).features(read_folder(photos))
    Image.new("RGB", (9, 9), "red").save(photos / "cat" / "new.png")
    changed = photos / "dog" / "3.png"
    Image.new("RGB", (9, 9), "blue").save(changed)
    (photos / "ship" / "0.png").unlink()
    pictures = read_folder(photos)
    found = PictureReader(colours).features(pictures)
    assert colours.n_prepared == 42
    assert_array_equal(found.X, truth(pictures))


def twin(path, colour, other):
    """Put another picture of the same size and time in the place of one."""
    status = path.stat()
    Image.new("RGB", (9, 9), other).save(path, format="BMP")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.stat().st_size == status.st_size
    assert colour != other


def test_a_picture_of_the_same_size_and_time_is_another_one(tmp_path, colours):
    path = tmp_path / "one.bmp"
    Image.new("RGB", (9, 9), "red").save(path)
    pictures = Pictures((path, path), root=tmp_path)
    first = PictureReader(colours).features(pictures)
    twin(path, "red", "blue")
    assert (PictureReader(colours).features(pictures).X != first.X).any()


def test_a_touched_picture_is_read_again(photos, colours):
    pictures = read_folder(photos)
    PictureReader(colours).features(pictures)
    os.utime(pictures.sources[3], ns=(1, 1))
    PictureReader(colours).features(pictures)
    assert colours.n_prepared == 41


def test_the_same_name_in_two_folders(photos, colours):
    found = PictureReader(colours).features(read_folder(photos))
    assert Path(found.paths[0]).name == Path(found.paths[10]).name
    assert (found.X[0] != found.X[10]).any()


def test_a_picture_that_changes_meanwhile_is_left_out(photos, colours):
    pictures = read_folder(photos)

    new = photos / "new"
    new.write_bytes(pictures.sources[0].read_bytes())

    def change(image, prepare=colours.prepare):
        with suppress(FileNotFoundError):  # only the first time
            new.replace(pictures.sources[1])
        return prepare(image)

    colours.prepare = change
    with pytest.warns(PictureWarning, match="changed while it was being read|1 of 40"):
        found = PictureReader(colours).features(pictures)
    assert len(found) == 39


def test_pixels_of_another_shape_are_another_picture(colours):
    flat = np.arange(48, dtype=np.uint8)
    for shape in ((4, 4, 3), (2, 8, 3)):
        pictures = Pictures(np.stack([flat.reshape(shape)] * 2))
        PictureReader(colours).features(pictures)
    assert colours.n_prepared == 4


def test_a_network_that_fails_on_a_picture(pictures, colours):
    def run(batch):
        features = batch.reshape(len(batch), -1).copy()
        features[features[:, 0] == features[:, 0].max(), 5] = np.nan
        return features

    colours.run = run
    with pytest.warns(PictureWarning, match="the network gives no finite numbers|40 pictures"):
        found = PictureReader(colours).features(pictures)
    assert np.isfinite(found.X).all()
    assert len(found) < 40


def test_whatever_ends_it_keeps_what_was_done(pictures, colours, own_cache):
    def run(batch):
        if colours.n_prepared > 20:
            raise KeyboardInterrupt
        return batch.reshape(len(batch), -1)

    colours.run, plain = run, colours.run
    with (
        pytest.raises(KeyboardInterrupt),
        pytest.warns(UserWarning, match="interrupted; the same command goes on from here"),
    ):
        PictureReader(colours).features(pictures)
    assert list(own_cache.rglob("*.shard"))
    colours.run, colours.n_prepared = plain, 0
    assert_array_equal(PictureReader(colours).features(pictures).X, truth(pictures))
    assert colours.n_prepared < 40


@pytest.mark.parametrize("name", ["a" * 250, "b\udcff", "ü ö/…"])
def test_folders_of_any_name(tmp_path, colours, name):
    root = tmp_path / name
    root.mkdir(parents=True)
    for number in range(3):
        Image.new("RGB", (9, 9), (number, 0, 0)).save(root / f"{number}.png")
    assert len(PictureReader(colours).features(replace(read_folder(root), root=root))) == 3
    PictureReader(colours).features(replace(read_folder(root), root=root))
    assert colours.n_prepared == 3


def test_a_cache_that_can_not_be_used(pictures, colours, own_cache):
    own_cache.write_text("a file")
    with pytest.warns(UserWarning, match=r"features are not kept: .*cache.*ZSHASH_CACHE can name"):
        found = PictureReader(colours).features(pictures)
    assert_array_equal(found.X, truth(pictures))


def test_a_single_picture_leaves_no_folder(pictures, colours, own_cache):
    one = replace(pictures.select(np.array([5])), root=pictures.sources[5])
    assert_array_equal(PictureReader(colours).features(one).X, truth(pictures)[[5]])
    assert not own_cache.exists()


def test_other_decoding_is_not_mixed_up(pictures, colours, monkeypatch):
    PictureReader(colours).features(pictures)
    monkeypatch.setattr("zshash.images.reading.DECODING", 999)
    PictureReader(colours).features(pictures)
    assert colours.n_prepared == 80


def test_another_network_has_features_of_its_own(pictures, colours):
    PictureReader(colours).features(pictures)
    colours.fingerprint = "colours 2"
    PictureReader(colours).features(pictures)
    assert colours.n_prepared == 80


def test_without_a_cache_nothing_stays(pictures, colours, own_cache):
    reader = PictureReader(colours, cache=False)
    assert_array_equal(reader.features(pictures).X, reader.features(pictures).X)
    assert colours.n_prepared == 80
    assert not own_cache.exists()


def test_pixels_are_read_like_files(colours):
    pixels = np.random.RandomState(0).randint(0, 256, size=(7, 16, 16, 3), dtype=np.uint8)
    pictures = Pictures(pixels, np.arange(7) % 2, ("a", "b"))
    found = PictureReader(colours).features(pictures)
    means = pixels[2].reshape(2, 8, 2, 8, 3).mean((1, 3))
    assert_allclose(found.X[2], means.ravel(), atol=1)  # Pillow rounds twice
    assert found.paths == ()
    PictureReader(colours).features(pictures.select(np.array([4, 2])))
    assert colours.n_prepared == 7


def test_features_stay_as_they_are(colours):
    data = digits()
    assert PictureReader(colours).features(data) is data


def spoil(photos):
    (photos / "cat" / "4.png").write_bytes(b"no picture")
    whole = (photos / "dog" / "7.png").read_bytes()
    (photos / "dog" / "7.png").write_bytes(whole[: len(whole) // 2])


def test_broken_pictures_are_left_out_and_reported(photos, colours):
    spoil(photos)
    pictures = read_folder(photos)
    with pytest.warns(PictureWarning) as caught:
        found = PictureReader(colours).features(pictures)
    messages = [str(warning.message) for warning in caught]
    assert len(messages) == 3
    assert messages[0].startswith(f"{photos / 'cat' / '4.png'}: not a picture")
    assert messages[1].startswith(f"{photos / 'dog' / '7.png'}: damaged")
    assert messages[2] == "2 of 40 pictures could not be used and are left out"
    good = [row for row in range(40) if row not in (4, 17)]
    assert_array_equal(found.X, truth(pictures.select(np.array(good))))
    assert_array_equal(found.labels, pictures.labels[good])
    assert str(photos / "cat" / "4.png") not in found.paths
    with pytest.warns(PictureWarning) as caught:  # once more the next time
        PictureReader(colours).features(pictures)
    assert [str(warning.message) for warning in caught] == messages


def test_a_broken_picture_can_end_it(photos, colours):
    spoil(photos)
    with pytest.raises(PictureError, match=r"cat/4\.png: not a picture"):
        PictureReader(colours, on_error="fail").features(read_folder(photos))


def test_many_broken_pictures_are_counted(photos, colours):
    for path in (photos / "cat").iterdir():
        path.write_bytes(b"")
    for path in (photos / "dog").iterdir():
        path.write_bytes(b"x")
    for path in (photos / "ship").iterdir():
        path.write_bytes(b"y")
    with pytest.warns(PictureWarning) as caught:
        PictureReader(colours).features(read_folder(photos))
    assert len(caught) == 21
    for path in (photos / "truck").iterdir():
        path.write_bytes(b"z")
    with pytest.raises(DataError, match=r"none of the 40 pictures could be used, the first one: "):
        PictureReader(colours).features(read_folder(photos))


def test_limits_are_kept(photos, colours):
    with pytest.raises(DataError, match="30 × 20 pixels, more than the limit of 599"):
        PictureReader(colours, limits=Limits(pixels=599)).features(read_folder(photos))
    PictureReader(colours, limits=Limits(pixels=600)).features(read_folder(photos))


def test_a_vanished_picture_is_reported(pictures, colours):
    pictures.sources[0].unlink()
    with pytest.warns(PictureWarning, match=r"No such file or directory|1 of 40"):
        assert len(PictureReader(colours).features(pictures)) == 39


def test_wrong_settings():
    with pytest.raises(ValueError, match="on_error must be 'skip' or 'fail', not 'ignore'"):
        PictureReader(on_error="ignore")
    with pytest.raises(DataError, match="no pictures"):
        PictureReader().features(Pictures(()))


class TestLike:
    """A model's notes decide on the extractor, within limits."""

    def test_the_same_extractor(self, colours):
        facts = PictureReader(colours).facts()
        assert facts == {"name": "colours", "options": {}, "fingerprint": "colours 1"}
        reader = PictureReader(colours)
        assert reader.like(facts) is reader

    def test_other_weights_are_refused(self, colours):
        facts = PictureReader(colours).facts() | {"fingerprint": "others"}
        with pytest.raises(DataError, match="trained on features of colours"):
            PictureReader(colours).like(facts)

    def test_by_name(self):
        reader = PictureReader("efficientnet-lite0")
        assert PictureReader().like(reader.facts()).network.dimension == 1280

    def test_options_of_the_model(self, tmp_path):
        write_network(tmp_path / "small.onnx")
        name = f"onnx:{tmp_path / 'small.onnx'}"
        facts = PictureReader(name, {"mean": 100, "scale": 50, "batch_size": 2}).facts()
        assert facts["options"] == {"mean": 100, "scale": 50}
        reader = PictureReader().like(facts)
        assert reader.network.fingerprint == facts["fingerprint"]
        assert PictureReader(options={"batch_size": 3}).like(facts).network.batch_size == 3
        with pytest.raises(DataError, match="options of an extractor need its name"):
            PictureReader(options={"mean": 1}).like(facts)
        assert PictureReader(name).like(facts).network.fingerprint == facts["fingerprint"]
        with pytest.raises(
            DataError, match=r"small\.onnx \(mean=1, .*\) as it is here gives other features"
        ):
            PictureReader(name, {"mean": 1}).like(facts)

    def test_what_is_asked_for_may_be_fetched(self):
        facts = {"name": "timm:resnet18", "options": {}, "fingerprint": "x"}
        with pytest.raises(DataError, match="as it is here gives other features"):
            PictureReader("efficientnet-lite0").like(facts)

    @pytest.mark.parametrize("name", ["timm:resnet18", "torchvision:alexnet.fc7", "open_clip:a/b"])
    def test_nothing_is_fetched_on_a_model_s_word(self, name):
        with pytest.raises(DataError, match=f"of {name}, .*: name this extractor if you trust it"):
            PictureReader().like({"name": name, "options": {}, "fingerprint": "x"})

    @pytest.mark.parametrize(
        ("facts", "message"),
        [
            ({}, r"features of None, which is not available here \(no network 'None'"),
            ({"name": 3, "options": 4}, "no network '3'"),
            (
                {"name": "onnx:gone.onnx", "options": {"size": 9}},
                r"onnx:gone.onnx \(size=9\), which is not available here \(gone.onnx: there is no",
            ),
            ({"name": "efficientnet-lite0"}, "trained on features of efficientnet-lite0, but"),
        ],
    )
    def test_notes_that_make_no_sense(self, facts, message):
        with pytest.raises(ValueError, match=message):
            PictureReader().like(facts)


SLOW = """
import sys, time
sys.path.insert(0, {tests!r})
import zshash.images.store as store
from conftest import Colours
from zshash.datasets import read_folder
from zshash.images import PictureReader

class Slow(Colours):
    def run(self, batch):
        time.sleep(0.3)
        return super().run(batch)

store.MAX_ROWS = 5
PictureReader(Slow()).features(read_folder({photos!r}))
"""


@pytest.mark.crash
@pytest.mark.parametrize("n_shards", [1, 3])
def test_killed_in_the_middle_it_goes_on(photos, colours, own_cache, n_shards):
    code = SLOW.format(tests=str(Path(__file__).parent), photos=str(photos))
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)])
    while len(list(own_cache.rglob("*.shard"))) < n_shards and process.poll() is None:
        pass
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    resumed = PictureReader(colours).features(read_folder(photos))
    assert 0 < colours.n_prepared < 40
    shutil.rmtree(own_cache)
    assert_array_equal(resumed.X, PictureReader(colours).features(read_folder(photos)).X)
