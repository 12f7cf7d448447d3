"""Frames of an AVIF file that are larger than the picture."""

import struct

import numpy as np
import pytest
from PIL import Image

from tests.images.picture_files import HAS_AVIF, encoded
from zshash.images.avif import strip_avif
from zshash.images.decoding import Limits, PictureError, decode

pytestmark = pytest.mark.skipif(not HAS_AVIF, reason="this build of Pillow reads no AVIF")


def avif(mode="RGB", size=(200, 100), **options):
    colour = (255, 0, 0, 99)[: len(mode)]
    return encoded(Image.new(mode, size, colour), "AVIF", speed=10, **options)


def film(size):
    return avif(size=size, save_all=True, append_images=[Image.new("RGB", size, "blue")])


def announced(content):
    return strip_avif(memoryview(bytearray(content))).pixels


def test_pixels_that_are_announced():
    assert announced(avif()) == 200 * 100 // 2
    assert announced(avif("RGBA")) == 200 * 100
    # of a film the header gives no more than how many bits a width and a height have
    assert announced(film((200, 100))) == 256 * 128 // 2


def test_a_small_picture_in_a_large_frame():
    large, small = struct.pack(">II", 200, 100), struct.pack(">II", 10, 5)
    for content in (avif(), avif("RGBA")):
        hidden = content.replace(b"ispe\0\0\0\0" + large, b"ispe\0\0\0\0" + small)
        assert hidden != content
        assert decode(hidden).size == (10, 5)
        with pytest.raises(PictureError, match="more than the limit of 9000"):
            decode(hidden, Limits(pixels=9000))


def test_a_picture_and_its_alpha_may_reach_the_limit():
    assert decode(avif("RGBA"), Limits(pixels=200 * 100)).size == (200, 100)
    assert decode(avif(), Limits(pixels=200 * 100)).size == (200, 100)
    with pytest.raises(PictureError, match="200 × 100 pixels, more than the limit of 19999"):
        decode(avif(), Limits(pixels=200 * 100 - 1))


def test_a_header_behind_another():
    content = avif()
    start = content.index(b"\x12\0\x0a")
    size = content[start + 3]
    header = content[start + 2 : start + 4 + size]
    place = content.index(b"iloc")
    # the item grows by a copy of its header; boxes about the place need not fit
    length = struct.unpack_from(">I", content, place + 22)[0]
    assert start + length == len(content)
    grown = content[: place + 22] + struct.pack(">I", length + len(header)) + content[place + 26 :]
    assert announced(grown + header) == 2 * announced(content)


def test_a_film_is_read_by_the_picture_that_stands_for_it():
    content = film((64, 48))
    red = np.asarray(decode(content))[0, 0].astype(float)
    np.testing.assert_allclose(red, [255, 0, 0], atol=6)
    assert np.array_equal(decode(content.replace(b"moov", b"free", 1)), decode(content))
    without = content.replace(b"meta", b"free", 1)
    with pytest.raises(PictureError, match="no single picture in it"):
        decode(without)


@pytest.mark.parametrize("box", [b"iloc", b"iinf", b"infe", b"meta"])
def test_boxes_that_are_missing(box):
    with pytest.raises(PictureError):
        decode(avif().replace(box, b"free"))


def test_films_with_times():
    """A header with all that may come before the size, each bit as AV1's section 5.5 lists it."""
    fields = [
        (0, 3), (0, 1), (0, 1),  # profile, still picture, reduced
        (1, 1), (7, 32), (9, 32), (1, 1), (0b00101, 5),  # times, an interval of 5 − 1 ticks
        (1, 1), (9, 5), (3, 32), (4, 5), (5, 5),  # a model of the decoder, delays of 10 bits
        (1, 1), (1, 5),  # delays of display, two operating points
        (0, 12), (9, 5), (1, 1), (1, 1), (3, 10), (4, 10), (0, 1), (1, 1), (6, 4),
        (0, 12), (5, 5), (0, 1), (0, 1),
        (11, 4), (9, 4), (999, 12), (599, 10),
    ]  # fmt: skip
    bits = "".join(f"{value:0{n_bits}b}" for value, n_bits in fields)
    header = int(bits.ljust(-(-len(bits) // 8) * 8, "0"), 2).to_bytes(-(-len(bits) // 8), "big")
    content = avif()
    start = content.index(b"\x12\0\x0a") + 2
    stream = b"\x0a" + bytes([len(header)]) + header
    assert len(content) - start > len(stream) + 2
    padding = bytes([0x7A, len(content) - start - len(stream) - 2])
    forged = content[:start] + stream + padding + content[start + len(stream) + 2 :]
    assert announced(forged) == 2**22 // 2
