import struct
import zlib
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from tests.images.picture_files import encoded, noise, smooth, tiff, tiff_of
from zshash.images.decoding import PictureError, decode
from zshash.images.formats.tiff import strip_tiff

COLOURS = noise(9, 14, 3)
TAGS = {256: [10], 257: [8], 258: [8], 259: [1], 262: [1], 277: [1], 278: [8]}


def pixels(content):
    return np.asarray(decode(content))


def stripped(content):
    content = bytearray(content)
    found = strip_tiff(memoryview(content))
    return bytes(content), found


@pytest.mark.parametrize("order", "<>")
def test_only_what_pixels_need_is_left(order):
    more = {"t305": [65] * 9, "t700": [1] * 50, "t34665": [8], "t274": [6], "t282": [1, 2, 3]}
    content, found = stripped(tiff_of(COLOURS, order, **more))
    assert found.orientation == 6
    with Image.open(BytesIO(content)) as image:
        assert set(image.tag_v2) == {256, 257, 258, 259, 262, 273, 277, 278, 279, 339}
        assert image.n_frames == 1


def test_of_a_tag_that_comes_twice_the_first_counts():
    content = tiff_of(COLOURS, t274=[6])
    twice = content.replace(struct.pack("<HH", 274, 3), struct.pack("<HH", 257, 3))
    assert twice != content
    assert decode(twice).size == (14, 9)


def test_files_that_may_be_large():
    picture = Image.fromarray(COLOURS)
    content = encoded(picture, "TIFF", big_tiff=True)
    if content[:4] != b"II+\0":
        pytest.skip("this version of Pillow does not write them")
    assert np.array_equal(pixels(content), COLOURS)
    turned = encoded(picture, "TIFF", big_tiff=True, tiffinfo={274: 8}, compression="tiff_lzw")
    assert np.array_equal(pixels(turned), np.rot90(COLOURS))


def test_pages_behind_the_first_may_be_damaged():
    pages = encoded(COLOURS, "TIFF", save_all=True, append_images=[Image.new("L", (2000, 9))])
    assert np.array_equal(pixels(pages[:-10_000]), COLOURS)


@pytest.mark.parametrize(
    ("tags", "pieces", "message"),
    [
        ({256: [10, 10]}, 1, "a tag has too many numbers"),
        ({}, 2**16 + 1, "cut into more than 65536 pieces"),
        ({278: [7]}, 33, "cut into more pieces than it has room for"),
        ({322: [16], 323: [16]}, 17, "cut into more pieces than it has room for"),
    ],
)
def test_directories_that_make_no_sense(tags, pieces, message):
    content = tiff(TAGS | tags, [b"x"] * pieces, tiled=322 in tags)
    with pytest.raises(PictureError, match=message):
        decode(content)


def test_a_tile_larger_than_the_picture():
    tile = np.zeros((64, 80), np.uint8)
    tile[:8, :10] = noise(8, 10)
    tags = TAGS | {259: [8], 322: [80], 323: [64]}
    content = tiff(tags, [zlib.compress(tile.tobytes())], tiled=True)
    assert np.array_equal(pixels(content)[..., 0], tile[:8, :10])
    assert stripped(content)[1].pixels == 80 * 64


def test_tiles_that_stand_out_far():
    tags = TAGS | {257: [400], 322: [1600], 323: [1]}
    assert stripped(tiff(tags, [b"x"] * 400, tiled=True))[1].pixels == 1600 * 400 // 4


def test_as_many_strips_as_rows():
    picture = smooth(300, 5)
    rows = [row.tobytes() for row in picture]
    tags = TAGS | {256: [5], 257: [300], 258: [8] * 3, 262: [2], 277: [3], 278: [1]}
    assert np.array_equal(pixels(tiff(tags, rows)), picture)
