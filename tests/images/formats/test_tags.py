import struct
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.images.camera_files import Inner, tag_file
from tests.images.picture_files import exif
from zshash.images.formats.tags import Directory, orientation


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("number", range(1, 9))
def test_orientation(order, number):
    assert orientation(exif(number, order)) == number
    assert orientation(exif(number, order)[6:]) == number


@pytest.mark.parametrize(("kind", "form"), [(1, "B3x"), (3, "H2x"), (4, "I")])
def test_orientation_in_other_numbers(kind, form):
    tag = struct.pack("<HHI", 274, kind, 1) + struct.pack(f"<{form}", 5)
    assert orientation(b"II*\0\x08\0\0\0\1\0" + tag) == 5


@pytest.mark.parametrize("content", [b"", b"II", b"II*\0\x08\0\0\0", bytes(100), b"\xff" * 100])
def test_no_orientation(content):
    assert orientation(content) == 1


@pytest.mark.parametrize("order", "<>")
def test_values(order):
    values = {271: "a", 272: "a longer name", 256: [7], 258: [8, 9, 10], 257: [70_000]}
    values |= {282: [Fraction(1, 3), Fraction(5, 2)], 34665: [Inner(1)], 700: b"bytes"}
    first = Directory.first(tag_file(values, {36867: "inside"}, order=order))
    assert [first.text(code) for code in (271, 272, 700, 999)] == [
        b"a",
        b"a longer name",
        b"bytes",
        b"",
    ]
    assert [first.numbers(code) for code in (256, 258, 257, 999)] == [
        (7,),
        (8, 9, 10),
        (70_000,),
        (),
    ]
    assert first.fractions(282) == [1 / 3, 2.5]
    assert first.fractions(258) == []
    assert first.inner(34665).text(36867) == b"inside"
    assert first.inner(999).tags == {}


def test_directories_in_a_row():
    content = tag_file({256: [1]}, {256: [2]}, row=2)
    first = Directory.first(content)
    second = Directory.at(content, first.layout, first.behind)
    assert [each.number(256) for each in (first, second)] == [1, 2]
    assert second.behind == 0


@given(st.integers(0, 200), st.binary(max_size=8), st.integers(0, 200))
def test_damaged_directories_lack_something_and_raise_nothing(place, piece, length):
    values = {271: "a maker", 256: [7] * 5, 282: [Fraction(1, 3)], 34665: [Inner(1)]}
    content = bytearray(tag_file(values, {36867: "2021:08:14 10:03:00"}))
    content[place : place + len(piece)] = piece
    first = Directory.first(bytes(content[:length] if length % 2 else content))
    assert len(first.text(271)) <= 1000
    assert len(first.numbers(256)) <= 1000
    assert all(value >= 0 for value in first.fractions(282))
    assert len(first.inner(34665).text(36867)) <= 1000
    assert 0 <= first.orientation <= 8
