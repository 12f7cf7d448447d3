"""Damaged and forged pictures: an image within the limits, or `PictureError`, and nothing else.

Every example is decoded by a child process, which may crash, hang or grow without harm. The
examples are the same in every run. For new ones, and so many times more of them:

    ZSHASH_HOSTILE=100 pytest tests/images/test_hostile_pictures.py
"""

import os
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from tests.images.decoding_child import Child
from tests.images.forged import KINDS, bases, hostile
from tests.images.heif_files import FAST
from tests.images.heif_files import bombs as heif_bombs
from tests.images.picture_files import (
    GREY,
    RGB,
    RGBA,
    chunk,
    encoded,
    exif,
    gif,
    jpeg_with,
    png,
    smooth,
    tiff,
    tiff_of,
)
from zshash.images.limits import Limits

TIMES = int(os.environ.get("ZSHASH_HOSTILE", "0"))
N_EXAMPLES = 250
LIMITS = Limits(pixels=1_000_000, bytes=10_000_000)
MEGABYTE = 2**20
needs_measure = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="memory is measured on Linux"
)


@pytest.fixture(scope="module")
def child():
    child = Child(warm_up=list(bases().values()))
    yield child
    child.stop()


@pytest.fixture
def new_child():
    """A process whose memory holds nothing that other pictures left behind."""
    child = Child(warm_up=list(bases().values()))
    yield child
    child.stop()


def check(child, content, limits=LIMITS, side=0):
    answer = child.decode(content, limits, side)
    if not answer.said.startswith("refused: "):
        mode, width, height = answer.said.split()
        assert mode == "RGB"
        assert 0 < int(width) * int(height) <= limits.pixels
    assert answer.memory <= limits.memory
    return answer


@pytest.mark.parametrize("kind", KINDS)
def test_forged_pictures(child, kind):
    @settings(
        max_examples=N_EXAMPLES * max(1, TIMES),
        derandomize=not TIMES,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(hostile(kind), st.sampled_from([0, 8]))
    def forged(content, side):
        check(child, content, side=side)

    forged()


def test_whole_pictures_pass(child):
    for name, content in bases().items():
        assert check(child, content).said.startswith("RGB "), name


@pytest.mark.parametrize("kind", KINDS)
def test_every_length(child, kind):
    for name, content in bases().items():
        if name.split()[0] == kind:
            step = 1 if TIMES else max(7, len(content) // 40)
            for n_bytes in {*range(0, len(content), step), len(content) - 1}:
                check(child, content[:n_bytes])


def large_pictures():
    """Pictures of two million pixels, turned on their side, the costly ways."""
    side = 1400
    colours = smooth(side, side)
    layer = np.dstack([colours, colours[..., 0]])
    image, clear = Image.fromarray(colours), Image.fromarray(layer)
    turned = {"exif": exif(6)}
    remark = chunk(b"eXIf", exif(6)[6:])
    zipped = {"compress": lambda data: zlib.compress(data, 1), "t274": [6]}
    yield "jpeg inks", encoded(image.convert("CMYK"), "JPEG", progressive=True, **turned)
    yield "png alpha", png((side, side), 8, RGBA, [row.tobytes() for row in layer], remark)
    yield "png sixteen", png((side, side), 16, GREY, [bytes(2 * side)] * side, remark)
    yield "png palette", encoded(image.quantize(16), "PNG", transparency=b"\0\x80", **turned)
    yield "gif", encoded(image.quantize(16), "GIF", transparency=1)
    yield "webp alpha", encoded(clear, "WEBP", method=0, **turned)
    lossless = {"lossless": True, "method": 0, "quality": 0}
    yield "webp lossless", encoded(clear, "WEBP", **lossless, **turned)
    yield "tiff sixteen", tiff_of(layer.astype(np.uint16), t338=[2], **zipped)
    yield "tiff floats", tiff_of(colours[..., 0].astype(np.float32), **zipped)
    yield "ppm sixteen", b"P5 1400 1400 999\n" + bytes(2 * side * side)
    yield "avif alpha", encoded(clear, "AVIF", subsampling="4:4:4", **FAST["AVIF"], **turned)
    yield "heif alpha", encoded(clear, "HEIF", chroma=444, **FAST["HEIF"], **turned)


@needs_measure
def test_memory_of_large_pictures(new_child):
    limits = Limits(pixels=1400 * 1400)
    for name, content in large_pictures():
        most = 20 * limits.pixels + 4 * len(content) + 8 * MEGABYTE
        assert any(needs_at_most(most, new_child, content, limits) for _ in range(3)), name


def needs_at_most(memory, child, content, limits):
    """A larger figure once or twice says little: threads and huge pages of memory add to it."""
    answer = check(child, content, limits)
    assert answer.said == "RGB 1400 1400"
    if answer.memory > memory:
        child.stop()
    return answer.memory <= memory


def tiles_of(width, height, rows=10):
    """Tiles that reach beyond the right side of a narrow picture."""
    tags = {256: [10], 257: [rows], 258: [8], 259: [8], 262: [1], 277: [1]}
    tile = zlib.compress(bytes(width * height), 1)
    return tiff(tags | {322: [width], 323: [height]}, [tile] * -(-rows // height), tiled=True)


def rows_of_one_pixel(n_rows, kind=4):
    tags = {256: [1], 257: [n_rows], 258: [8], 259: [1], 262: [1], 277: [1], 278: [1]}
    content = tiff(tags, [b"x"] * n_rows)
    for tag in (273, 279):
        long, other = (struct.pack("<HHI", tag, number, n_rows) for number in (4, kind))
        content = content.replace(long, other)
    return content


def many_profiles():
    """Text that unpacks to a thousand times its length, and is then read number by number."""
    remarks = b"MM\0*\0\0\0\x08\xff\xff".ljust(60_000, b"\1").hex().encode()
    packed = zlib.compress(b"\nexif\n   60000\n" + remarks, 9)
    profile = chunk(b"zTXt", b"Raw profile type exif\0\0" + packed)
    return png((10, 10), 8, RGB, [bytes(30)] * 10, *[profile] * 20_000)


def many_scans():
    content = encoded(Image.new("RGB", (1000, 1000)), "JPEG", progressive=True)
    last = content.rindex(b"\xff\xda")
    return content[:-2] + content[last : last + 12] * 8000 + content[-2:]


def bombs():
    """Small files that ask for much memory or time: name, content and expected result."""
    jpeg = encoded(smooth(40, 40), "JPEG")
    behind = jpeg.index(b"\xff\xdb")
    rows = [bytes(30)] * 10
    zeros = zlib.compress(bytes(60_000_000))
    words = [chunk(name, b"a\0\0" + zeros) for name in (b"iCCP", b"zTXt")]
    words += [chunk(b"zTXt", b"%d\0\0" % i + zlib.compress(bytes(10**6))) for i in range(100)]
    comment, control = b"!\xfe" + b"\2ab" * 10**6 + b"\0", b"!\xf9\4\x09\0\0\0\0"
    indices, palette = [0] * 100, [[0, 0, 0], [1, 2, 3]]
    yield "segments", jpeg_with(jpeg, *[(0xE5, b"")] * 2_000_000), "more than 10000 segments"
    yield "remarks", jpeg_with(jpeg, *[(0xE1, exif(1).ljust(65_000))] * 140), "RGB 40 40"
    yield "junk", jpeg[:behind] + bytes(9_000_000) + jpeg[behind:], "no picture in it"
    yield "scans", many_scans(), "painted 8010 times over"
    yield "words", png((10, 10), 8, RGB, rows, *words), "RGB 10 10"
    yield "profiles", many_profiles(), "RGB 10 10"
    yield "words behind", png((10, 10), 8, RGB, rows, behind=words), "RGB 10 10"
    yield "comments", gif((10, 10), (0, 0, 10, 10), indices, palette, comment), "RGB 10 10"
    yield "frame", gif((1, 1), (0, 0, 9000, 9000), indices, palette, control), "81000000 pixels"
    yield "tile", tiles_of(10_000, 10_000), "100000000 pixels"
    yield "tiles", tiles_of(1_000_000, 1, rows=1500), "375000000 pixels"
    yield "strips", rows_of_one_pixel(65_000), "RGB 1 65000"
    yield "more strips", rows_of_one_pixel(900_000), "cut into more than 65536 pieces"
    yield "small strips", rows_of_one_pixel(900_000, kind=1), "cut into more than 65536 pieces"
    yield "numbers", tiff({256: [9] * 2_000_000, 257: [9], 258: [8]}, [b"x"]), "too many numbers"
    yield "ppm", b"P3 10 10 255\n" + b"#\n" * 4_000_000, "more than 10000 remarks"
    yield "long line", png((1, 10**7), 8, GREY, rows), "a side of more than 1048576"
    yield from heif_bombs()


def test_bombs(child):
    for name, content, expected in bombs():
        assert len(content) < LIMITS.bytes, name
        answer = check(child, content)
        assert expected in answer.said, name
        assert answer.seconds < 10, name
