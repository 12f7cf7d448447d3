"""Files of cameras: the largest preview is decoded, and turned as the file says."""

import json
import shutil
import subprocess
from base64 import b64decode

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.images.camera_files import MAKERS, PREVIEW, SENSOR, SMALL, Held, Inner, orf, tag_file
from tests.images.formats.test_stripping import SEEN
from tests.images.picture_files import encoded, smooth, tiff_of
from zshash.datasets.listing import SUFFIXES
from zshash.images.decoding import PictureError, decode
from zshash.images.formats.raw import has_sensor_pixels, raw_size
from zshash.images.formats.stripping import kind_of

HELD = np.asarray(decode(PREVIEW))


@pytest.mark.parametrize("maker", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("up", SEEN)
def test_previews_are_turned_upright(maker, up):
    content = maker(up)
    assert kind_of(memoryview(content)) == "RAW"
    assert_array_equal(np.asarray(decode(content)), SEEN[up](HELD))


@pytest.mark.skipif(not shutil.which("exiftool"), reason="exiftool is not installed")
def test_exiftool_sees_the_same_preview_and_orientation(tmp_path):
    for name, maker in MAKERS.items():
        (tmp_path / f"picture.{name}").write_bytes(maker(8))
    wanted = ["-PreviewImage", "-JpgFromRaw", "-OtherImage", "-IFD0:Orientation"]
    said = subprocess.check_output(["exiftool", "-j", "-b", "-n", *wanted, str(tmp_path)])
    seen = {each.pop("SourceFile"): each for each in json.loads(said)}
    assert len(seen) == len(MAKERS)
    for path, each in seen.items():
        assert each.pop("Orientation") == 8, path
        files = [b64decode(text.removeprefix("base64:")) for text in each.values()]
        assert sorted(decode(path).size) in [sorted(decode(file).size) for file in files], path


@pytest.mark.parametrize("name", [b"OLYMPUS\0", b"OM SYSTEM\0\0\0"])
@pytest.mark.parametrize("head", [b"IIRO", b"IIRS"])
def test_previews_in_notes_of_a_maker(name, head):
    assert_array_equal(np.asarray(decode(orf(1, name, head))), HELD)


def test_sizes_are_those_of_the_sensor():
    sizes = {name: raw_size(memoryview(maker())) for name, maker in MAKERS.items()}
    small = dict.fromkeys(["rw2", "orf", "raf"], (56, 40))
    assert sizes == dict.fromkeys(MAKERS, (112, 80)) | small


def test_every_maker_has_its_ending():
    assert {f".{name}" for name in MAKERS} <= SUFFIXES


@pytest.mark.parametrize(
    "tags",
    [
        {},
        {513: [Held(b"no picture")], 514: [10]},
        {513: [2**31], 514: [100]},
        {513: [Held(PREVIEW)], 514: [3]},
        {259: [7], 273: [Held(PREVIEW.replace(b"\xff\xc0", b"\xff\xc3"))], 279: [len(PREVIEW)]},
        {259: [7], 273: [Held(PREVIEW), 5], 279: [len(PREVIEW), 5]},
    ],
)
def test_files_without_a_preview(tags):
    content = tag_file({330: [Inner(1)]} | tags, SENSOR)
    with pytest.raises(PictureError, match=r"^the file of a camera \(RAW\) without a preview"):
        decode(content)


def test_a_damaged_preview_does_not_hide_a_whole_one():
    first = {513: [Held(b"\xff\xd8\xff\xe0\0")], 514: [5], 330: [Inner(1), Inner(2)]}
    whole = {513: [Held(SMALL)], 514: [len(SMALL)]}
    assert decode(tag_file(first, SENSOR, whole)).size == (14, 10)


def test_directories_that_lead_in_circles():
    content = tag_file({330: [Inner(0), Inner(1)], 513: [Held(SMALL)], 514: [len(SMALL)]},
                       SENSOR | {330: [Inner(0), Inner(1)]})  # fmt: skip
    assert decode(content).size == (14, 10)


def test_other_files_of_tags_are_no_files_of_cameras():
    for content in (
        encoded(smooth(8, 8), "TIFF"),
        encoded(smooth(64, 64), "TIFF", compression="jpeg"),
        encoded(smooth(8, 8), "TIFF", save_all=True, append_images=[]),
        tiff_of(smooth(8, 8), ">"),
    ):
        assert not has_sensor_pixels(memoryview(content))
        assert kind_of(memoryview(content)) == "TIFF"
