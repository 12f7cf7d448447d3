import os
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from PIL import EpsImagePlugin, Image

from tests.images.picture_files import (
    RGB,
    encoded,
    exif,
    gif,
    jpeg_with,
    noise,
    png,
    smooth,
    tiff,
    tiff_of,
)
from zshash.images.decoding import Limits, PictureError, decode

COLOURS = noise(9, 14, 3)
LAYER = noise(9, 14, 4)
WHITE = 255


def pixels(source, **options):
    image = decode(source, **options)
    assert type(image) is Image.Image  # it holds no file and no decoder
    assert image.mode == "RGB"
    return np.asarray(image)


def over_white(layer):
    colours, alpha = layer[..., :-1], layer[..., -1:] / 255
    return colours * alpha + 255 * (1 - alpha)


def grey(values):
    return np.repeat(np.asarray(values)[..., np.newaxis], 3, axis=-1)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("PNG", {}),
        ("BMP", {}),
        ("PPM", {}),
        ("TIFF", {}),
        ("TIFF", {"compression": "tiff_lzw"}),
        ("TIFF", {"compression": "tiff_adobe_deflate"}),
        ("TIFF", {"compression": "packbits"}),
        ("WEBP", {"lossless": True}),
    ],
)
def test_formats_that_lose_nothing(tmp_path, kind, options):
    path = tmp_path / "picture.jpg"  # the ending of the name does not count
    Image.fromarray(COLOURS).save(path, kind, **options)
    assert_array_equal(pixels(path), COLOURS)
    assert_array_equal(pixels(str(path)), COLOURS)
    assert_array_equal(pixels(path.read_bytes()), COLOURS)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("JPEG", {"quality": 95}),
        ("JPEG", {"quality": 95, "progressive": True}),
        ("WEBP", {"quality": 95}),
        ("TIFF", {"compression": "jpeg", "quality": 95}),
        ("AVIF", {"quality": 95}),
        ("HEIF", {"quality": 95}),
        ("HEIF", {"quality": 95, "tile_size": 64}),
    ],
)
def test_formats_that_lose_little(kind, options):
    picture = smooth(48, 80)
    assert_allclose(pixels(encoded(picture, kind, **options)), picture.astype(float), atol=12)


def test_the_bytes_that_were_given_stay_as_they_are():
    content = encoded(smooth(8, 8), "JPEG", exif=exif(6))
    copy = bytes(bytearray(content))
    decode(content)
    assert content == copy


SAVED = ["EPS", "PDF", "ICO", "TGA", "PCX", "SGI", "DDS", "XBM", "MSP", "PALM", "BLP"]


@pytest.mark.parametrize("kind", SAVED)
def test_other_kinds_are_refused(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(EpsImagePlugin, "Ghostscript", lambda *_, **__: pytest.fail("started"))
    mode = {"XBM": "1", "MSP": "1", "PALM": "P", "BLP": "P"}.get(kind, "RGB")
    path = tmp_path / "picture.png"
    Image.new("RGB", (64, 64), "red").convert(mode).save(path, kind)
    with pytest.raises(PictureError, match="not a picture of a kind that is read"):
        decode(path)


@pytest.mark.parametrize(
    "content",
    [
        b"8BPS\0\1" + bytes(40),
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n",
        b"\0\0\0\x18ftypmp42\0\0\0\0isommp42" + bytes(40),
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"just some words\n",
        b"\x89PNG",
        b"P7\nWIDTH 1\n",
        b"PyP 1 1 255\n\0",
        b"MM\0+" + bytes(40),
        bytes(100),
    ],
)
def test_things_that_are_no_pictures(content):
    with pytest.raises(PictureError, match=r"^not a picture of a kind that is read \(JPEG, PNG"):
        decode(content)


def headers(width, height):
    """Beginnings of pictures: no pixel follows, so they can only be refused for their size."""
    frame = struct.pack(">BHHB", 8, min(height, 65535), width, 1) + b"\1\x11\0"
    canvas = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    tags = {256: [width], 257: [height], 258: [8], 259: [8], 262: [1], 277: [1]}
    return {
        "PNG": png((width, height), 8, RGB, []),
        "GIF": gif((width, height), (0, 0, 1, 1), [0], [[0, 0, 0]]),
        "GIF's frame": gif((1, 1), (5, 5, width, height), [0], [[0, 0, 0]]),
        "WEBP": b"RIFF\x16\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0" + canvas,
        "TIFF": tiff(tags, [b"x"]),
        "BMP": b"BM"
        + bytes(8)
        + struct.pack("<IIiiHHIIIIII", 54, 40, width, height, 1, 24, *[0] * 6),
        "PPM": b"P6 %d %d 255\n" % (width, height),
        "JPEG": b"\xff\xd8\xff\xc0\0\x0b" + frame + b"\xff\xda\0\x08\1\1\0\0\x3f\0",
    }


@pytest.mark.parametrize("kind", headers(1, 1))
def test_too_many_pixels_are_refused_unseen(kind):
    content = headers(30000, 30000)[kind]
    assert len(content) < 4000
    with pytest.raises(PictureError, match=r"^(3.* × 3.*|900\d{6}) pixels, more than"):
        decode(content)


@pytest.mark.parametrize("kind", headers(1, 1))
@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (Limits(), "limit of 80000000$"),
        (Limits(10**9), r"limit of 89478485 \(PIL.Image.MAX_IMAGE_PIXELS\)"),
    ],
)
def test_no_warning_where_pillow_would_warn(kind, limits, message):
    with pytest.raises(PictureError, match=message):
        decode(headers(12000, 11000)[kind], limits)


def test_limits_on_pixels(monkeypatch):
    content = encoded(COLOURS, "PNG")
    assert decode(content, Limits(pixels=9 * 14)).size == (14, 9)
    with pytest.raises(PictureError, match=r"^14 × 9 pixels, more than the limit of 125$"):
        decode(content, Limits(pixels=9 * 14 - 1))
    with pytest.raises(PictureError, match="14 × 9 pixels"):
        decode(COLOURS, Limits(pixels=9 * 14 - 1))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    with pytest.raises(PictureError, match="limit of 100"):
        decode(content)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", None)
    assert decode(content).size == (14, 9)


def test_no_side_is_of_millions():
    with pytest.raises(PictureError, match="1 × 9000000 pixels, a side of more than 1048576"):
        decode(png((1, 9000000), 8, RGB, []))


def test_limits_on_bytes(tmp_path):
    content = encoded(COLOURS, "PNG")
    path = tmp_path / "picture.png"
    path.write_bytes(content)
    exact, less = Limits(bytes=len(content)), Limits(bytes=len(content) - 1)
    assert decode(content, exact).size == decode(path, exact).size == (14, 9)
    for source in (content, path):
        with pytest.raises(PictureError, match=f"{len(content)} bytes, more than the limit of"):
            decode(source, less)


def test_what_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty.jpg").touch()
    expected = {
        tmp_path / "pipe": "not a file",
        Path("/dev/zero"): "not a file",
        tmp_path: "not a file",
        tmp_path / "empty.jpg": "empty",
        tmp_path / "nothing.jpg": "No such file or directory",
        tmp_path / "empty.jpg" / "deeper": "Not a directory",
    }
    for path, message in expected.items():
        with pytest.raises(PictureError) as caught:
            decode(path)
        assert str(caught.value) == f"{path}: {message}"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path):
    path = tmp_path / "picture.png"
    path.write_bytes(encoded(COLOURS, "PNG"))
    path.chmod(0)
    with pytest.raises(PictureError, match="Permission denied"):
        decode(path)


def test_what_is_no_source():
    for nothing in (None, 7, [b"x"]):
        with pytest.raises(TypeError, match="expected a path, bytes or an array, got"):
            decode(nothing)


def test_arrays():
    assert_array_equal(pixels(COLOURS), COLOURS)
    assert_array_equal(pixels(COLOURS[::-1, ::2]), COLOURS[::-1, ::2])
    assert_array_equal(pixels(COLOURS[..., 0]), grey(COLOURS[..., 0]))
    assert_allclose(pixels(LAYER), over_white(LAYER), atol=1)


@pytest.mark.parametrize(
    "array", [np.zeros(5, np.uint8), np.zeros((2, 2, 2), np.uint8), np.zeros((2, 2)),
              np.zeros((0, 2), np.uint8), np.zeros((1, 2, 2, 3), np.uint8), np.array(["a"])]
)  # fmt: skip
def test_arrays_that_are_no_pictures(array):
    with pytest.raises(PictureError, match=r"pixels must be uint8 of shape .* got"):
        decode(array)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "GIF", "WEBP", "TIFF", "BMP", "AVIF", "HEIF"])
def test_a_download_that_broke_off(kind, tmp_path):
    content = encoded(smooth(60, 60), kind)
    for part in (0.1, 0.5, 0.9):
        path = tmp_path / f"{part}.jpg"
        path.write_bytes(content[: int(part * len(content))])
        with pytest.raises(PictureError) as caught:
            decode(path)
        assert str(caught.value).startswith(f"{path}: ")
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("side", [8, 30, 100, 150, 400])
@pytest.mark.parametrize("orientation", [1, 6])
@pytest.mark.parametrize("options", [{}, {"progressive": True}])
def test_large_jpeg_files_are_decoded_small(side, orientation, options):
    picture = smooth(1000, 1601)
    content = encoded(picture, "JPEG", exif=exif(orientation), **options)
    full, small = decode(content), decode(content, side=side)
    parts = max(part for part in (1, 2, 4, 8) if 1000 // part >= 2 * side or part == 1)
    assert small.size == tuple(-(-length // parts) for length in full.size)
    size = (side, side)
    difference = np.subtract(small.resize(size), full.resize(size), dtype=float)
    assert np.abs(difference).max() < 6


def test_several_threads_and_no_filter_of_warnings():
    program = """
import sys, warnings
from concurrent.futures import ThreadPoolExecutor
from zshash.images.decoding import decode
filters = list(warnings.filters)
contents = [bytes.fromhex(line) for line in sys.stdin]
with ThreadPoolExecutor(8) as pool:
    images = list(pool.map(decode, contents * 20))
assert len({image.tobytes() for image in images}) == 1
assert warnings.filters == filters
"""
    broken = b"Exif\0\0MM\0*\0\0\0\x08\0\x03" + bytes(range(40))
    picture = np.full((9, 14, 3), 128, np.uint8)
    jpeg = encoded(picture, "JPEG")
    bad = [
        jpeg_with(jpeg[:2] + jpeg[20:], (0xE1, broken), (0xE2, b"MPF\0" + broken[6:])),
        encoded(picture, "PNG", exif=broken),
        encoded(picture, "WEBP", lossless=True, exif=broken),
        tiff_of(picture, t282=[1, 2, 3, 4], t34665=[99999], t305=[7, 7]),
        encoded(picture, "TIFF"),
    ]
    lines = "\n".join(content.hex() for content in bad)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], input=lines, text=True, capture_output=True
    )
    assert (done.returncode, done.stderr) == (0, "")
