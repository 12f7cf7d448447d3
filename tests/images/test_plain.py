import struct
import zlib
from io import BytesIO

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image, TiffImagePlugin

from tests.images.picture_files import (
    GREY,
    GREY_ALPHA,
    RGB,
    RGBA,
    bmp,
    chunk,
    encoded,
    gif,
    mpo,
    noise,
    png,
    smooth,
    tiff,
    tiff_of,
)
from zshash.images.decoding import decode

COLOURS = noise(9, 14, 3)
LAYER = noise(9, 14, 4)
WHITE = 255


def pixels(source):
    return np.asarray(decode(source))


def over_white(layer):
    colours, alpha = layer[..., :-1], layer[..., -1:] / 255
    return colours * alpha + 255 * (1 - alpha)


def grey(values):
    return np.repeat(np.asarray(values)[..., np.newaxis], 3, axis=-1)


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


@pytest.mark.parametrize("kind", ["GIF", "PNG", "WEBP", "TIFF"])
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
