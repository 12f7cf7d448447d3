"""HEIC and AVIF: the picture itself is decoded, and nothing else of the file."""

import subprocess
import sys
from io import BytesIO

import numpy as np
import pillow_heif
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image, features

from tests.images.heif_files import poked, told
from tests.images.picture_files import encoded, exif, noise, smooth
from zshash.images import decoding
from zshash.images.decoding import PictureError, decode
from zshash.images.formats.heif import brand_kind, heif_about
from zshash.images.formats.stripping import strip
from zshash.images.formats.tags import orientation

PICTURE = smooth(48, 80)
KINDS = ["AVIF", "HEIF"]


def pixels(content):
    return np.asarray(decode(content))


def opened(content, kind):
    return decoding._factory(kind)(BytesIO(content), "")


def stripped(content, kind):
    content = bytearray(content)
    strip(memoryview(content), kind)
    return bytes(content)


@pytest.mark.parametrize("kind", KINDS)
def test_notes_that_turn_a_picture_twice_are_ignored(kind):
    content = encoded(PICTURE, kind, exif=exif(6))
    assert decode(content).size == (48, 80)
    upright = poked(content, b"irot", 0, b"\0")  # the notes of HEIC still say 6
    assert_array_equal(pixels(upright), pixels(encoded(PICTURE, kind)))


@pytest.mark.parametrize("kind", KINDS)
def test_notes_are_not_seen_by_a_decoder(kind):
    notes = Image.Exif()
    notes[271] = "a maker"
    content = encoded(PICTURE, kind, exif=notes.tobytes(), xmp=b"<words/>")
    assert b"a maker" in content
    with opened(content, kind) as image:
        assert image.info["exif"]
        assert image.info["xmp"]
    with opened(stripped(content, kind), kind) as image:
        assert not image.info.get("exif")
        assert not image.info.get("xmp")


def test_small_ones_and_other_pictures_are_not_seen_by_a_decoder():
    whole = pillow_heif.from_pillow(Image.fromarray(PICTURE))
    whole.add_from_pillow(Image.fromarray(noise(64, 64, 3)))
    file = BytesIO()
    whole.save(file, thumbnails=[32], primary_index=0)
    content = file.getvalue()
    with opened(content, "HEIF") as image:
        assert len(image.info["thumbnails"]) == 1
        assert image.n_frames == 2
    with opened(stripped(content, "HEIF"), "HEIF") as image:
        assert image.info["thumbnails"] == []
        assert image.n_frames == 1
    assert decode(content, side=8).size == (80, 48)


def test_the_first_frame_of_a_sequence():
    others = [Image.fromarray(255 - PICTURE)] * 3
    content = encoded(PICTURE, "AVIF", save_all=True, append_images=others, quality=95)
    assert content[8:12] == b"avis"
    assert_allclose(pixels(content), PICTURE.astype(float), atol=12)


@pytest.mark.parametrize("kind", KINDS)
def test_transparent_parts_become_white(kind):
    layer = np.dstack([PICTURE, np.where(np.arange(80) < 40, 255, 0) * np.ones((48, 1), int)])
    shown = pixels(encoded(layer.astype(np.uint8), kind, quality=95))
    assert_allclose(shown[:, :36], PICTURE[:, :36].astype(float), atol=16)
    assert shown[:, 44:].min() > 245


@pytest.mark.parametrize(
    ("brands", "kind"),
    [
        (b"heic", "HEIF"),
        (b"mif1avif", "AVIF"),
        (b"mif1heic", "HEIF"),
        (b"heicavif", "HEIF"),
        (b"mif1miaf", "HEIF"),
        (b"avis", "AVIF"),
        (b"isommp42", None),
    ],
)
def test_kinds_by_brands(brands, kind):
    head = (12 + len(brands)).to_bytes(4, "big") + b"ftyp" + brands[:4] + bytes(4) + brands[4:]
    assert brand_kind(memoryview(head + bytes(20))) == kind


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [(48, 80), (33, 57), (130, 70)])
@pytest.mark.parametrize("up", [1, 3, 6])
def test_size_and_notes(kind, size, up):
    notes = Image.Exif()
    notes[274], notes[271] = up, "a maker"
    content = encoded(smooth(*size), kind, exif=notes.tobytes())
    held, shown = heif_about(memoryview(content))
    assert shown == decode(content).size
    assert b"a maker" in bytes(held)
    assert orientation(held) in (1, up)


@pytest.mark.parametrize("kind", KINDS)
def test_files_of_no_picture(kind):
    content = encoded(PICTURE, kind)
    code = {"AVIF": b"av01", "HEIF": b"hvc1"}[kind]
    for damage, message in [
        ((b"pitm", 4, b"\0\x09"), "no still picture in it"),
        ((code, -4, b"jpeg"), "coded in a way that is not read: jpeg"),
        ((b"meta", -4, b"skip"), "no still picture in it"),
    ]:
        with pytest.raises(PictureError, match=f"^{message}$"):
            decode(poked(content, *damage))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("behind", [b"xyz", b"\xff" * 100, bytes(7) + b"\1" + bytes(50)])
def test_something_else_behind_a_picture(kind, behind):
    content = encoded(PICTURE, kind, exif=exif(6))
    assert_array_equal(pixels(content + behind), pixels(content))
    assert heif_about(memoryview(content + behind))[1] == (48, 80)


def announced(content):
    return strip(memoryview(bytearray(content)), "HEIF").pixels


def test_announced_sizes():
    assert announced(encoded(smooth(200, 320), "HEIF")) == 200 * 320
    assert announced(encoded(smooth(199, 319), "HEIF")) in (199 * 319, 200 * 320)  # whole blocks
    assert announced(encoded(smooth(200, 320), "HEIF", tile_size=64)) == 4 * 5 * 64 * 64
    tiny = encoded(smooth(20, 20), "HEIF")
    assert announced(tiny) == 64 * 64 == announced(told(tiny, 20, 20))
    assert announced(told(tiny, 64, 60)) == 64 * 60
    assert announced(told(tiny, 900, 800)) == 900 * 800


def test_heic_without_its_package(monkeypatch):
    decoding._factory.cache_clear()
    monkeypatch.setitem(sys.modules, "pillow_heif", None)
    with pytest.raises(PictureError) as caught:
        decode(encoded(PICTURE, "HEIF"))
    assert str(caught.value) == "HEIC needs pillow-heif: pip install 'zshash[heic]'"
    assert_allclose(pixels(encoded(PICTURE, "AVIF", quality=95)), PICTURE.astype(float), atol=12)


def test_avif_without_support_in_pillow(monkeypatch):
    decoding._factory.cache_clear()
    monkeypatch.setattr(features, "check", lambda name: name != "avif")
    with pytest.raises(PictureError, match=r"^AVIF needs a build of Pillow that reads it: "):
        decode(encoded(PICTURE, "AVIF"))
    decoding._factory.cache_clear()


def test_the_package_is_imported_when_it_is_needed_and_changes_nothing(tmp_path):
    path = tmp_path / "picture.heic"
    path.write_bytes(encoded(PICTURE, "HEIF"))
    program = """
import sys
from PIL import Image
from zshash.images.decoding import decode
Image.init()
assert "pillow_heif" not in sys.modules
before = dict(Image.OPEN), dict(Image.EXTENSION), list(Image.ID)
decode(sys.argv[1])
assert "pillow_heif" in sys.modules
assert before == (Image.OPEN, Image.EXTENSION, Image.ID)
"""
    subprocess.run([sys.executable, "-W", "error", "-c", program, str(path)], check=True)
