import os
import struct
import subprocess
import sys
import zlib
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from PIL import EpsImagePlugin, Image, TiffImagePlugin

from tests.images.picture_files import (
    GREY,
    GREY_ALPHA,
    HAS_AVIF,
    RGB,
    RGBA,
    bmp,
    chunk,
    encoded,
    exif,
    gif,
    jpeg_with,
    mpo,
    noise,
    png,
    smooth,
    tiff,
    tiff_of,
)
from zshash.images.decoding import Limits, PictureError, decode

needs_avif = pytest.mark.skipif(not HAS_AVIF, reason="this build of Pillow reads no AVIF")
COLOURS = noise(9, 14, 3)
LAYER = noise(9, 14, 4)
WHITE = 255


def pixels(source, **options):
    image = decode(source, **options)
    assert type(image) is Image.Image  # no file, no decoder hangs on to it
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
    path = tmp_path / "picture.jpg"  # what it is called does not count
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
        pytest.param("AVIF", {"quality": 95}, marks=needs_avif),
        ("TIFF", {"compression": "jpeg", "quality": 95}),
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


@pytest.mark.parametrize("mode", ["RGBA", "LA"])
@pytest.mark.parametrize("kind", ["PNG", "TIFF", "WEBP"])
def test_what_is_transparent_becomes_white(mode, kind):
    layer = LAYER if mode == "RGBA" else LAYER[..., 2:]
    options = {"lossless": True, "exact": True} if kind == "WEBP" else {}
    found = pixels(encoded(layer, kind, **options))
    assert_allclose(found, np.broadcast_to(over_white(layer), found.shape), atol=1)


def test_transparency_multiplied_into_the_colours():
    layer = LAYER.copy()
    layer[..., :3] = np.minimum(layer[..., :3], layer[..., 3:])
    expected = layer[..., :3] + 255.0 - layer[..., 3:]
    assert_allclose(pixels(tiff_of(layer, t338=[1])), expected, atol=2)
    if (b"II", 1, (1,), 1, (8, 8), (1,)) in TiffImagePlugin.OPEN_INFO:
        alone = tiff_of(layer[..., 2:], t338=[1])
        assert_allclose(pixels(alone), grey(expected[..., 2]), atol=2)


@pytest.mark.parametrize("transparent", [None, b"\xff\x80\x00", 1, bytes(range(0, 256, 64))])
@pytest.mark.parametrize("kind", ["PNG", "GIF"])
def test_palettes(kind, transparent):
    if kind == "GIF" and isinstance(transparent, bytes):
        pytest.skip("a GIF has one transparent colour")
    palette = noise(4, 3, seed=1)
    indices = noise(9, 14) % 4
    image = Image.frombytes("P", (14, 9), indices.tobytes())
    image.putpalette(palette.tobytes())
    alpha = np.full(4, 255)
    if isinstance(transparent, bytes):
        alpha[: len(transparent)] = list(transparent)
    elif transparent is not None:
        alpha[transparent] = 0
    options = {} if transparent is None else {"transparency": transparent}
    expected = over_white(np.column_stack([palette, alpha]))[indices]
    assert_allclose(pixels(encoded(image, kind, **options)), expected, atol=1)


@pytest.mark.parametrize("depth", [1, 2, 4, 8, 16])
def test_grey_with_a_transparent_value(depth):
    highest = 2**depth - 1
    values = np.array([0, highest, highest // 2, highest, 0, highest // 2, 0, highest])
    if depth == 16:
        rows = [values.astype(">u2").tobytes()]
    else:
        bits = values[:, np.newaxis] >> np.arange(depth)[::-1] & 1
        rows = [np.packbits(bits.astype(np.uint8).ravel()).tobytes()]
    key = chunk(b"tRNS", struct.pack(">H", highest // 2))
    expected = np.where(values == highest // 2, WHITE, values * 255 // highest)
    assert_array_equal(pixels(png((8, 1), depth, GREY, rows, key))[0], grey(expected))


@pytest.mark.parametrize("depth", [8, 16])
def test_colours_with_a_transparent_one(depth):
    values = COLOURS[0].astype(np.uint16) * (257 if depth == 16 else 1)
    rows = [values.astype(">u2" if depth == 16 else "u1").tobytes()]
    key = chunk(b"tRNS", values[3].astype(">u2").tobytes())
    expected = COLOURS[0].copy()
    expected[3] = WHITE
    assert_array_equal(pixels(png((14, 1), depth, RGB, rows, key))[0], expected)


def test_sixteen_bits():
    values = COLOURS.astype(np.uint16) * 256 + noise(9, 14, 3, seed=2)
    expected = values / 257
    rows = [row.astype(">u2").tobytes() for row in values]
    assert_allclose(pixels(png((14, 9), 16, RGB, rows)), expected, atol=1)
    for order in "<>":
        assert_allclose(pixels(tiff_of(values, order)), expected, atol=1)
        assert_allclose(pixels(tiff_of(values, order, zlib.compress)), expected, atol=1)
    one, expected = values[..., 0], grey(expected[..., 0])
    rows = [row.astype(">u2").tobytes() for row in one]
    assert_allclose(pixels(png((14, 9), 16, GREY, rows)), expected, atol=0.5)
    assert_allclose(pixels(b"P5 14 9 65535\n" + b"".join(rows)), expected, atol=0.5)
    assert_allclose(
        pixels(b"P2 14 9 65535\n" + b" ".join(b"%d" % v for v in one.flat)), expected, atol=0.5
    )
    for order in "<>":
        assert_allclose(pixels(tiff_of(one, order)), expected, atol=0.5)
        assert_allclose(pixels(tiff_of(one, order, zlib.compress)), expected, atol=0.5)
    assert_allclose(pixels(tiff_of(one, t262=[0])), 255 - expected, atol=0.5)  # white is zero


def test_sixteen_bits_with_transparency():
    values = LAYER.astype(np.uint16) * 257
    rows = [row.astype(">u2").tobytes() for row in values]
    assert_allclose(pixels(png((14, 9), 16, RGBA, rows)), over_white(LAYER), atol=1)
    rows = [row.astype(">u2").tobytes() for row in values[..., 2:]]
    expected = grey(over_white(LAYER[..., 2:])[..., 0])
    assert_allclose(pixels(png((14, 9), 16, GREY_ALPHA, rows)), expected, atol=1)
    assert_allclose(pixels(tiff_of(values, t338=[2])), over_white(LAYER), atol=1)


def test_twelve_bits():
    values = np.array([0, 4095, 2048, 1000])
    bits = (values[:, np.newaxis] >> np.arange(12)[::-1] & 1).astype(np.uint8)
    tags = {256: [4], 257: [1], 258: [12], 259: [1], 262: [1], 277: [1], 278: [1]}
    found = pixels(tiff(tags, [np.packbits(bits).tobytes()]))
    assert_allclose(found[0], grey(values * 255 / 4095), atol=0.5)


@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.int16, np.uint32])
@pytest.mark.parametrize("order", "<>")
def test_wide_numbers_are_stretched_to_what_is_found(dtype, order):
    if order == ">" and dtype is np.uint32:
        pytest.skip("Pillow does not read these")
    values = (np.random.RandomState(0).random((1100, 1030)) * 2e4).astype(dtype) + 300
    expected = (values.astype(float) - values.min()) / (values.max() - values.min()) * 255
    assert_allclose(pixels(tiff_of(values.astype(dtype), order)), grey(expected), atol=0.51)


def test_numbers_that_are_none():
    values = np.array([[1, 3, np.nan, np.inf], [2, 1, -np.inf, 3]], np.float32)
    expected = [[0, 255, 0, 255], [128, 0, 0, 255]]
    assert_allclose(pixels(tiff_of(values)), grey(expected), atol=0.5)
    assert pixels(tiff_of(np.full((2, 2), np.nan, np.float32))).max() == 0
    assert pixels(tiff_of(np.full((2, 2), 7, np.float32))).max() == 0
    extreme = np.array([[-3e38, 3e38]], np.float32)
    assert_array_equal(pixels(tiff_of(extreme)), grey([[0, 255]]))


@pytest.mark.parametrize("kind", ["PNG", "TIFF", "BMP", "PPM", "GIF"])
def test_one_bit(kind):
    bits = noise(9, 14) > 127
    found = pixels(encoded(Image.fromarray(bits), kind))
    assert_array_equal(found, grey(bits * np.uint8(255)))


def test_inks():
    picture = smooth(48, 80)
    inks = Image.fromarray(picture).convert("CMYK")
    assert_array_equal(pixels(encoded(inks, "TIFF")), picture)
    for progressive in (False, True):
        content = encoded(inks, "JPEG", quality=95, progressive=progressive)
        assert_allclose(pixels(content), picture.astype(float), atol=12)


def test_lab():
    values = np.array([[[255, 0, 0], [0, 0, 0], [138, 81, 70], [75, 68, 256 - 112]]], np.uint8)
    colours = [[[255.0, 255, 255], [0, 0, 0], [255, 0, 0], [0, 0, 255]]]
    assert_allclose(pixels(tiff_of(values, t262=[8])), colours, atol=24)


def test_tiles_and_planes():
    values = np.zeros((32, 48), np.uint8)
    values[:20, :40] = noise(20, 40)
    tiles = [values[r : r + 16, c : c + 16].tobytes() for r in (0, 16) for c in (0, 16, 32)]
    tags = {256: [40], 257: [20], 258: [8], 259: [1], 262: [1], 277: [1], 322: [16], 323: [16]}
    expected = grey(values[:20, :40])
    assert_array_equal(pixels(tiff(tags, tiles, tiled=True)), expected)
    tags[259] = [8]
    packed = [zlib.compress(tile) for tile in tiles]
    assert_array_equal(pixels(tiff(tags, packed, ">", tiled=True)), expected)
    planes = [COLOURS[..., i].tobytes() for i in range(3)]
    tags = {256: [14], 257: [9], 258: [8] * 3, 259: [1], 262: [2], 277: [3], 278: [9], 284: [2]}
    assert_array_equal(pixels(tiff(tags, planes)), COLOURS)


FRAMES = [Image.new("RGB", (6, 5), colour) for colour in ("red", "green", "blue")]


@pytest.mark.parametrize(
    "kind", ["GIF", "PNG", "WEBP", "TIFF", pytest.param("AVIF", marks=needs_avif)]
)
def test_the_first_frame_counts(kind):
    options = {"lossless": True} if kind == "WEBP" else {"quality": 95}
    frames = {"save_all": True, "append_images": FRAMES[1:], "duration": 50}
    found = pixels(encoded(FRAMES[0], kind, **frames, **options))
    assert_allclose(found, np.broadcast_to([255.0, 0, 0], (5, 6, 3)), atol=6)


def test_several_pictures_of_a_phone():
    content = mpo(*[encoded(frame, "JPEG", quality=95) for frame in FRAMES])
    with Image.open(BytesIO(content)) as image:
        assert image.format == "MPO"
        image.seek(2)
        assert image.getpixel((0, 0))[2] > 240
    assert_allclose(pixels(content), np.broadcast_to([255.0, 0, 0], (5, 6, 3)), atol=6)


def test_the_picture_that_stands_for_an_animation():
    content = encoded(FRAMES[0], "PNG", save_all=True, append_images=FRAMES[1:], default_image=True)
    assert pixels(content)[0, 0].tolist() == [255, 0, 0]


@pytest.mark.parametrize("disposal", range(4))
@pytest.mark.parametrize("transparent", [None, 1])
def test_frames_of_a_gif(disposal, transparent):
    palette = [[255, 0, 0], [0, 255, 0], [0, 0, 255]]
    flags = disposal << 2 | (transparent is not None)
    control = b"!\xf9\x04" + bytes([flags, 0, 0, transparent or 0, 0])
    seen = np.array([*palette, [255, 255, 255]])
    if transparent is not None:
        seen[transparent] = 255
    indices = noise(4, 6) % 3
    expected = np.full((9, 10, 3), 255)  # what the frame leaves uncovered
    expected[2:6, 1:7] = seen[indices]
    content = gif((10, 9), (1, 2, 6, 4), indices.ravel(), palette, control)
    assert_array_equal(pixels(content), expected)
    larger = gif((3, 3), (1, 2, 6, 4), indices.ravel(), palette, control)
    assert_array_equal(pixels(larger), expected[:6, :7])


@pytest.mark.parametrize(
    ("depth", "rows", "options"),
    [
        (16, [struct.pack("<HH", 31, 31 << 10), struct.pack("<HH", 31 << 10, 31)], {}),
        (24, [bytes([255, 0, 0, 0, 0, 255, 0, 0]), bytes([0, 0, 255, 255, 0, 0, 0, 0])], {}),
        (32, [bytes([255, 0, 0, 9, 0, 0, 255, 9]), bytes([0, 0, 255, 0, 255, 0, 0, 0])], {}),
        (
            8,  # counts and indices, an end of line, an end of all
            [bytes([1, 0, 1, 1, 0, 0]), bytes([1, 1, 1, 0, 0, 1])],
            {"compression": 1, "palette": bytes([255, 0, 0, 0, 0, 0, 255, 0])},
        ),
    ],
)
def test_kinds_of_bmp(depth, rows, options):
    blue, red = [0, 0, 255], [255, 0, 0]
    assert_array_equal(
        pixels(bmp((2, 2), depth, b"".join(rows), **options)), [[red, blue], [blue, red]]
    )
    if depth > 8:
        upside_down = bmp((2, -2), depth, b"".join(rows))
        assert_array_equal(pixels(upside_down), [[blue, red], [red, blue]])


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
        b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + bytes(40),
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


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "GIF", "WEBP", "TIFF", "BMP"])
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
