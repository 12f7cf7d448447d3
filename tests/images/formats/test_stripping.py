"""Parts of a picture file beside the pixels: orientation is applied, the rest does no harm."""

import struct
import zlib

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from tests.images.camera_files import dng
from tests.images.picture_files import (
    RGB,
    chunk,
    encoded,
    exif,
    gif,
    jpeg_with,
    noise,
    png,
    smooth,
    tiff_of,
)
from zshash.images.decoding import PictureError, decode
from zshash.images.formats.stripping import KINDS, kind_of, strip

COLOURS = noise(9, 14, 3)
ROWS = [row.tobytes() for row in COLOURS]
APP1, APP2, APP14, COMMENT = 0xE1, 0xE2, 0xEE, 0xFE

# from the stored pixels to the upright picture: EXIF 2.32, tag 274
SEEN = {
    1: lambda held: held,
    2: lambda held: held[:, ::-1],
    3: lambda held: np.rot90(held, 2),
    4: lambda held: held[::-1],
    5: lambda held: held.swapaxes(0, 1),
    6: lambda held: np.rot90(held, -1),
    7: lambda held: np.rot90(held, 2).swapaxes(0, 1),
    8: lambda held: np.rot90(held),
}


def pixels(content):
    return np.asarray(decode(content))


@pytest.mark.parametrize("orientation", SEEN)
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF", "AVIF", "HEIF"])
def test_pictures_are_turned_upright(kind, orientation):
    picture = smooth(24, 40)
    held = pixels(encoded(picture, kind))
    remark = {"exif": exif(orientation)}
    if kind == "TIFF":
        remark = {"tiffinfo": {274: orientation}}
    turned = pixels(encoded(picture, kind, **remark))
    assert_array_equal(turned, SEEN[orientation](held))
    if orientation > 1:
        assert not np.array_equal(turned, held)


@pytest.mark.parametrize("order", "<>")
def test_remarks_in_both_byte_orders(order):
    seen = np.rot90(COLOURS)
    chunks = chunk(b"eXIf", exif(8, order)[6:])
    assert_array_equal(pixels(png((14, 9), 8, RGB, ROWS, chunks)), seen)
    assert_array_equal(pixels(png((14, 9), 8, RGB, ROWS, behind=[chunks])), seen)
    assert_array_equal(pixels(tiff_of(COLOURS, order, t274=[8])), seen)
    assert_array_equal(pixels(tiff_of(COLOURS, order, zlib.compress, t274=[8])), seen)


@pytest.mark.parametrize("name", [b"exif", b"APP1"])
def test_remarks_as_imagemagick_writes_them(name):
    digits = exif(6).hex()
    lines = [digits[i : i + 72] for i in range(0, len(digits), 72)]
    text = "\n".join(["", name.decode(), f"{len(digits) // 2:8}", *lines, ""]).encode()
    key = b"Raw profile type " + name + b"\0"
    for part in (chunk(b"tEXt", key + text), chunk(b"zTXt", key + b"\0" + zlib.compress(text))):
        assert_array_equal(pixels(png((14, 9), 8, RGB, ROWS, part)), np.rot90(COLOURS, -1))


def remark(*numbers, form="<HHHIHH"):
    """Notes of a camera (EXIF), with any numbers in place of the one tag."""
    return b"Exif\0\0II*\0" + struct.pack("<I", 8) + struct.pack(form, *numbers) + bytes(4)


WRONG = {
    "nothing": b"",
    "a name": b"Exif\0\0",
    "noise": b"Exif\0\0" + noise(500).tobytes(),
    "no orientation": remark(1, 275, 3, 1, 6, 0),
    "orientation 0": remark(1, 274, 3, 1, 0, 0),
    "orientation 9": remark(1, 274, 3, 1, 9, 0),
    "orientation in two numbers": remark(1, 274, 3, 2, 6, 6),
    "orientation of no kind": remark(1, 274, 99, 1, 6, 0),
    "cut off": exif(6)[:20],
    "a directory far away": exif(6)[:10] + b"\xff\xff\xff\x7f" + exif(6)[14:],
    "no end of tags": remark(65535, 257, 3, 1, 6, 0),
    "numbers beyond the end": remark(1, 282, 5, 1000, 90000, form="<HHHII"),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_wrong_remarks_do_not_spoil_a_picture(kind, wrong):
    picture = smooth(24, 40)
    plain = encoded(picture, kind)
    if kind == "JPEG":
        bad = jpeg_with(plain, (APP1, wrong))
    elif kind == "PNG":
        end = plain.index(b"IDAT") - 4
        bad = plain[:end] + chunk(b"eXIf", wrong[6:]) + plain[end:]
    elif kind == "WEBP":
        bad = encoded(picture, kind, exif=wrong)
    else:
        held = Image.Exif()
        held[305] = "a program" * 100
        body = held.tobytes()[6:]
        right = encoded(picture, kind, exif=held)
        bad = right.replace(body, wrong[6:].ljust(len(body), b"\0"))
        assert bad != right
    assert_array_equal(pixels(bad), pixels(plain))


def test_the_first_remark_counts():
    content = jpeg_with(encoded(smooth(8, 12), "JPEG"), (APP1, exif(6)), (APP1, exif(3)))
    assert decode(content).size == (8, 12)
    chunks = [chunk(b"eXIf", exif(number)[6:]) for number in (8, 3)]
    assert_array_equal(pixels(png((14, 9), 8, RGB, ROWS, *chunks)), np.rot90(COLOURS))


def test_marks_of_a_phone(tmp_path):
    """Profile, preview, comment and an index of more pictures, all of them wrong."""
    path = tmp_path / "IMG_0001.JPG"
    preview = encoded(smooth(10, 10), "JPEG")
    content = jpeg_with(
        encoded(smooth(24, 40), "JPEG"),
        (APP1, exif(8) + preview),
        (APP1, b"http://ns.adobe.com/xap/1.0/\0<x tiff:Orientation='3'/>"),
        (APP2, b"ICC_PROFILE\0\1\1" + bytes(100)),
        (APP2, b"MPF\0II*\0" + bytes(range(60))),
        (0xED, b"Photoshop 3.0\0008BIM\x03\xed\0\0\0\0\0\xff"),
        (COMMENT, b"a day at the sea"),
    )
    path.write_bytes(content + b"and a film behind it" * 1000)
    held = pixels(encoded(smooth(24, 40), "JPEG"))
    assert_array_equal(pixels(path), np.rot90(held))


def test_marks_that_tell_which_colours_these_are():
    plain = encoded(smooth(24, 40), "JPEG", subsampling=0)
    as_rgb = plain[:2] + plain[plain.index(b"\xff\xdb") :]  # without the mark of JFIF
    as_rgb = jpeg_with(as_rgb, (APP14, b"Adobe\0\x64\0\0\0\0\0"))
    assert np.abs(pixels(as_rgb).astype(int) - pixels(plain)).max() > 50


def test_junk_between_segments():
    plain = encoded(smooth(24, 40), "JPEG")
    place = plain.index(b"\xff\xdb")
    for junk in (b"\0\0\0", b"\xff\xff\xff", b"\xff\0"):
        assert_array_equal(pixels(plain[:place] + junk + plain[place:]), pixels(plain))


def test_chunks_that_say_too_much_or_nothing():
    bomb = zlib.compress(bytes(3_000_000))
    extra = [
        chunk(b"iCCP", b"profile\0\0" + bomb),
        chunk(b"zTXt", b"words\0\0" + bomb),
        chunk(b"iTXt", b"words\0\1\0\0\0" + bomb),
        chunk(b"acTL", bytes(8)),
        chunk(b"acTL", bytes(8)),
        chunk(b"fcTL", bytes(3)),
        chunk(b"gAMA", b""),
        chunk(b"tEXt", b"words\0more")[:-4] + b"\0\0\0\0",  # a wrong checksum
        chunk(b"prVt", b"of one program"),
    ]
    assert_array_equal(pixels(png((14, 9), 8, RGB, ROWS, *extra)), COLOURS)
    assert_array_equal(pixels(png((14, 9), 8, RGB, ROWS, behind=extra)), COLOURS)


def test_a_wrong_checksum_of_what_is_needed():
    bad = png((14, 9), 8, RGB, ROWS).replace(b"IHDR" + struct.pack(">I", 14), b"IHDR\0\0\0\x0d")
    with pytest.raises(PictureError, match="checksum"):
        decode(bad)


def test_extensions_of_a_gif():
    palette = noise(3, 3)
    indices = noise(4, 6) % 3
    extensions = [
        b"!\xfe\5words\4more\0",
        b"!\xff\x0bNETSCAPE2.0\3\1\0\0\0",
        b"!\xff\x0bXMP DataXMP" + b"\x02ab" * 100 + b"\0",
        b"!\x01\x02ab\0",
        b"!\xf9\4\0\0\0\0\0",
        b"\0\0",
        b"!\xfe\0",
    ]
    content = gif((6, 4), (0, 0, 6, 4), indices.ravel(), palette, b"".join(extensions))
    assert_array_equal(pixels(content), palette[indices])


def test_an_empty_extension_goes_on_as_pillow_has_it():
    small = b"," + struct.pack("<4HB", 0, 0, 1, 1, 0)
    empty = b"!\x01\0" + bytes([len(small)]) + small + b"\0"
    content = gif((1, 1), (0, 0, 9000, 9000), [0], [[0, 0, 0]], empty)
    with pytest.raises(PictureError, match=r"^81000000 pixels, more than the limit"):
        decode(content)


def test_remarks_between_numbers():
    content = b"P3 # colours\n# of two pixels\n2 1 # wide\n255\n1 2#\n3 # so\n 4 5 6#"
    assert_array_equal(pixels(content), [[[1, 2, 3], [4, 5, 6]]])
    binary = b"P6 # colours\n2 1 255\n#3#456"
    assert_array_equal(pixels(binary), [[[35, 51, 35], [52, 53, 54]]])


def scans(n, size=(64, 64)):
    """A JPEG file whose last scan is repeated."""
    content = encoded(Image.new("RGB", size), "JPEG", progressive=True)
    last = content.rindex(b"\xff\xda")
    return content[:-2] + content[last:-2] * (n - content.count(b"\xff\xda")) + content[-2:]


def test_a_picture_painted_over_and_over():
    assert decode(scans(200)).size == (64, 64)
    with pytest.raises(PictureError, match="painted 201 times over"):
        decode(scans(201))


JPEG = encoded(smooth(24, 40), "JPEG")
PLACE = JPEG.index(b"\xff\xdb")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (jpeg_with(JPEG, *[(0xE5, b"")] * 10_000), "more than 10000 segments"),
        (JPEG[:PLACE] + b"x" * 100_000 + JPEG[PLACE:], "no picture in it"),
        (JPEG[:PLACE] + b"\xff\xd9" + JPEG[PLACE:], "no picture in it"),
        (JPEG[:PLACE] + b"\xff\xc8" + JPEG[PLACE:], "no picture in it"),
        (b"P2 2 1 255\n" + b"#\n" * 10_001 + b"1 2", "more than 10000 remarks"),
    ],
)
def test_work_without_end_is_refused(content, message):
    with pytest.raises(PictureError, match=message):
        decode(content)


def whole(kind, **options):
    return dng() if kind == "RAW" else encoded(smooth(16, 16), kind, **options)


def test_kinds():
    kinds = {kind: whole(kind) for kind in KINDS}
    for kind, content in kinds.items():
        assert kind_of(memoryview(content)) == kind
    assert kind_of(memoryview(b"RIFF1234WAVE")) is None
    assert kind_of(memoryview(b"")) is None


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_left_to_strip_the_second_time(kind):
    options = {"exif": exif(6)} if kind in ("JPEG", "PNG", "TIFF", "HEIF") else {}
    if kind == "PNG":
        options["pnginfo"] = info = PngInfo()
        info.add_text("title", "words")
    content = bytearray(whole(kind, **options))
    before = bytes(content)
    strip(memoryview(content), kind)
    once = bytes(content)
    assert (once != before) == (bool(options) or kind == "RAW")
    found = strip(memoryview(content), kind)
    assert bytes(content) == once
    assert found.orientation == (6 if kind == "RAW" else 1)  # a preview is cut out of the file
