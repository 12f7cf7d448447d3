"""Facts that cameras write into pictures, in files of Pillow, of pillow-heif and of exiftool."""

import shutil
import subprocess
import time
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, TiffImagePlugin

from tests.images.camera_files import MAKERS, Inner, cr3, raf, tag_file
from tests.images.forged import KINDS, bases, hostile
from tests.images.picture_files import RGB, chunk, encoded, jpeg_with, png, smooth
from zshash.images.decoding import decode
from zshash.images.exif import PLACE, picture_facts

NOTES, WHERE = 34665, 34853
WITH_NOTES = ["JPEG", "PNG", "WEBP", "TIFF", "AVIF", "HEIF"]
PICTURE = smooth(24, 40)
TAKEN = {"taken": "2021-08-14T10:03:00", "year": 2021, "month": 8}
CAMERA = {"camera": "X100", "maker": "FUJIFILM"}
THERE = {"latitude": 48.137154, "longitude": -11.576124, "altitude": 519.5}
ALL = TAKEN | CAMERA | THERE
SIZE = {"width": 40, "height": 24}
DEGREES = {
    1: "N",
    2: [Fraction(48), Fraction(8), Fraction(13754, 1000)],
    3: "W",
    4: [Fraction(11), Fraction(34), Fraction(34046, 1000)],
    5: b"\0",
    6: [Fraction(5195, 10)],
}


def notes(main=None, more=None, where=None):
    """Notes of a camera, without the name before them."""
    first = {271: "FUJIFILM", 272: "X100", NOTES: [Inner(1)], WHERE: [Inner(2)]} | (main or {})
    own = {36867: "2021:08:14 10:03:00", 36868: "2001:01:01 00:00:00"} | (more or {})
    return tag_file(first, own, DEGREES | (where or {}))


def facts_of(main=None, more=None, where=None):
    content = jpeg_with(encoded(PICTURE, "JPEG"), (0xE1, b"Exif\0\0" + notes(main, more, where)))
    return picture_facts(content)


def pillow_notes(orientation=1):
    held = Image.Exif()
    held[271], held[272], held[274], held[306] = (
        "FUJIFILM",
        "X100",
        orientation,
        "2022:01:01 00:00:00",
    )
    held.get_ifd(NOTES)[36867] = "2021:08:14 10:03:00"
    fraction = TiffImagePlugin.IFDRational
    held.get_ifd(WHERE).update(
        {
            1: "N",
            2: (fraction(48), fraction(8), fraction(13754, 1000)),
            3: "W",
            4: (fraction(11), fraction(34), fraction(34046, 1000)),
            5: b"\0",
            6: fraction(5195, 10),
        }
    )
    return held


@pytest.mark.parametrize("kind", WITH_NOTES)
@pytest.mark.parametrize("orientation", [1, 3, 6])
def test_files_of_pillow(kind, orientation):
    content = encoded(PICTURE, kind, exif=pillow_notes(orientation).tobytes())
    width, height = decode(content).size
    assert picture_facts(content) == ALL | {"width": width, "height": height}
    assert picture_facts(memoryview(content), (7, 9)) == ALL | {"width": 7, "height": 9}


@pytest.mark.skipif(not shutil.which("exiftool"), reason="exiftool is not installed")
def test_files_of_exiftool(tmp_path):
    for kind in WITH_NOTES:
        (tmp_path / f"picture.{kind.lower()}").write_bytes(encoded(PICTURE, kind))
    told = ["-Make=FUJIFILM", "-Model=X100", "-DateTimeOriginal=2021:08:14 10:03:00"]
    told += ["-GPSLatitude=48.137154", "-GPSLatitudeRef=N", "-GPSLongitude=11.576124"]
    told += ["-GPSLongitudeRef=W", "-GPSAltitude=519.5", "-GPSAltitudeRef=0"]
    paths = sorted(tmp_path.iterdir())
    subprocess.run(["exiftool", "-q", "-overwrite_original", *told, *map(str, paths)], check=True)
    for path in paths:
        facts = picture_facts(path.read_bytes())
        assert facts.pop("latitude") == pytest.approx(THERE["latitude"], abs=2e-6)
        assert facts.pop("longitude") == pytest.approx(THERE["longitude"], abs=2e-6)
        assert facts == TAKEN | CAMERA | SIZE | {"altitude": 519.5}, path


def test_notes_as_imagemagick_writes_them():
    digits = (b"Exif\0\0" + notes()).hex().encode()
    text = b"Raw profile type exif\0\nexif\n%8d\n" % (len(digits) // 2) + digits
    content = png((40, 24), 8, RGB, [row.tobytes() for row in PICTURE], chunk(b"tEXt", text))
    assert picture_facts(content) == ALL | SIZE


def test_files_of_cameras():
    assert picture_facts(cr3()) == TAKEN | {"camera": "Canon EOS R", "width": 80, "height": 112}
    assert picture_facts(raf()) == {"camera": "X100", "width": 40, "height": 56}
    for name, maker in MAKERS.items():
        width, height = decode(maker()).size
        facts = picture_facts(maker())
        assert (facts["width"] > facts["height"]) == (width > height), name


def test_sizes():
    sensor = {"raw dng", "raw nef", "raw cr2", "raw cr3"}  # larger than the preview
    for name, content in bases().items():
        facts, size = picture_facts(content), decode(content).size
        times = 2 if name in sensor else 1
        assert (facts["width"], facts["height"]) == (times * size[0], times * size[1]), name


@pytest.mark.parametrize(
    ("main", "more", "expected"),
    [
        ({}, {36867: "0000:00:00 00:00:00"}, "2001-01-01T00:00:00"),
        ({}, {36867: "    :  :     :  :  "}, "2001-01-01T00:00:00"),
        ({}, {36867: "2021:13:01 00:00:00"}, "2001-01-01T00:00:00"),
        ({}, {36867: "2021:02:30 00:00:00", 36868: "1700:01:01 00:00:00"}, None),
        ({306: "2011:03:04 05:06:07"}, {36867: "x", 36868: b""}, "2011-03-04T05:06:07"),
        ({}, {36867: "2021-08-14T10:03:00+02:00"}, "2021-08-14T10:03:00"),
        ({}, {36867: "2021/08/14"}, "2021-08-14T00:00:00"),
        ({}, {36867: "2021:08:14 24:00:00"}, "2001-01-01T00:00:00"),
        ({}, {36867: [2021, 8]}, "2001-01-01T00:00:00"),
    ],
)
def test_times(main, more, expected):
    facts = facts_of(main, more)
    assert facts.get("taken") == expected
    assert ("year" in facts) == ("month" in facts) == (expected is not None)
    if expected:
        assert facts["year"] == int(expected[:4])
        assert facts["month"] == int(expected[5:7])


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("  X100  \0junk", "X100"),
        ("a\tname\r\nin lines", "a name in lines"),
        ("caf\u00e9 \U0001f4f7", "caf\u00e9 \U0001f4f7"),
        (b"caf\xe9", "caf\u00e9"),
        ("x" * 900, "x" * 200),
        ("", None),
        ("\x1b\x07 ", None),
        ([7], None),
    ],
)
def test_names_of_cameras(model, expected):
    assert facts_of({272: model}).get("camera") == expected


zero, one = Fraction(0), Fraction(1)


@pytest.mark.parametrize(
    "where",
    [
        {1: ""},
        {1: "X"},
        {3: [7]},
        {2: [Fraction(91), zero, zero]},
        {4: [Fraction(180), one, zero]},
        {2: [one, Fraction(61), zero]},
        {2: [one, one]},
        {2: [48, 8, 13]},
        {2: [zero, zero, zero], 4: [zero, zero, zero]},
    ],
)
def test_places_that_make_no_sense(where):
    facts = facts_of(where=where)
    assert not facts.keys() & set(PLACE)
    assert facts["camera"] == "X100"


def test_places_on_all_sides_of_the_earth():
    facts = facts_of(where={1: "S", 3: "E", 5: b"\1"})
    held = [facts[name] for name in PLACE]
    assert held == [-48.137154, 11.576124, 519.5]  # the sign of a height is a byte, not letters


def test_heights():
    below = jpeg_with(encoded(PICTURE, "JPEG"), (0xE1, b"Exif\0\0" + below_the_sea()))
    assert picture_facts(below)["altitude"] == -519.5
    assert "altitude" not in facts_of(where={6: [Fraction(99_999)]})
    assert facts_of(where={6: [Fraction(99_999)]})["latitude"] == 48.137154


def below_the_sea():
    """The same notes, with the sign of the height in a number of one byte, as EXIF has it."""
    content = notes(where={5: b"\1"})
    return content.replace(b"\5\0\7\0\1\0\0\0", b"\5\0\1\0\1\0\0\0")


def test_fractions_of_nothing():
    content = notes()
    broken = content.replace(b"\x30\0\0\0\1\0\0\0", b"\x30\0\0\0\0\0\0\0")
    assert broken != content
    facts = picture_facts(jpeg_with(encoded(PICTURE, "JPEG"), (0xE1, b"Exif\0\0" + broken)))
    assert "latitude" not in facts


def test_files_that_are_no_pictures():
    for content in (b"", b"just some words", bytes(1000), b"\xff\xd8\xff", b"II*\0", b"RIFF"):
        assert picture_facts(content) == {}
    assert picture_facts(b"", (3, 4)) == {"width": 3, "height": 4}


@settings(max_examples=250, deadline=None, derandomize=True, database=None)
@given(st.sampled_from(KINDS).flatmap(hostile) | st.binary(max_size=300))
def test_forged_files_raise_nothing(content):
    facts = picture_facts(content)
    for name in ("width", "height"):
        assert facts.get(name, 1) > 0
    assert -90 <= facts.get("latitude", 0) <= 90
    assert all(len(facts.get(name, "")) <= 200 for name in ("camera", "maker", "taken"))


def slow_ones():
    """Files that have much to read: the first picture is a tag, a chunk or a box too many."""
    jpeg, many = encoded(PICTURE, "JPEG"), {code: [1] for code in range(1, 40_000)}
    yield jpeg_with(jpeg, *[(0xE5, b"")] * 30_000)
    yield jpeg_with(jpeg, *[(0xE1, b"Exif\0\0" + notes())] * 1000)
    yield tag_file({330: [Inner(1)] * 900}, many)
    yield png((1, 1), 8, RGB, [bytes(3)], *[chunk(b"tEXt", b"a\0b")] * 30_000)
    yield b"RIFF\0\0\0\0WEBP" + b"JUNK\0\0\0\0" * 30_000
    yield encoded(PICTURE, "HEIF") + b"\0\0\0\x08free" * 30_000


def test_no_file_takes_long():
    for content in slow_ones():
        start = time.process_time()
        picture_facts(content)
        assert time.process_time() - start < 0.2
