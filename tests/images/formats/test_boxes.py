import struct

import pytest

from tests.images.camera_files import box
from zshash.images.formats.boxes import Box, BoxReader, boxes, only


def found(content):
    return list(boxes(memoryview(content)))


def test_boxes_in_a_row():
    content = box(b"ftyp", b"abcd") + box(b"free") + struct.pack(">I4sQ", 1, b"mdat", 20) + b"wxyz"
    names = [(each.name, content[each.start : each.end]) for each in found(content)]
    assert names == [(b"ftyp", b"abcd"), (b"free", b""), (b"mdat", b"wxyz")]


def test_the_last_box_may_reach_to_the_end():
    assert found(struct.pack(">I4s", 0, b"mdat") + bytes(9)) == [Box(b"mdat", 0, 8, 17)]


@pytest.mark.parametrize("size", [2, 7, 13, 2**31])
def test_boxes_of_a_wrong_size(size):
    with pytest.raises(ValueError, match="reaches beyond its end"):
        found(struct.pack(">I4s", size, b"mdat") + bytes(4))


def test_no_end_of_boxes():
    assert len(found(box(b"free") * 9999)) == 9999
    with pytest.raises(ValueError, match="more than 10000 parts"):
        found(box(b"free") * 10_001)


def test_of_two_boxes_nobody_knows_which_counts():
    content = memoryview(box(b"meta", b"1") + box(b"free") * 2)
    assert list(only(boxes(content), b"meta", b"moov")) == [b"meta"]
    with pytest.raises(ValueError, match="two parts named free"):
        only(boxes(content), b"free")


def test_numbers_of_a_box():
    content = memoryview(box(b"pitm", b"\1\0\0\7", struct.pack(">IHH", 70_000, 3, 20_000)))
    reader = BoxReader(content, Box(b"pitm", 0, 8, len(content)))
    assert (reader.version, reader.flags) == (1, 7)
    assert reader.identity(wide_from=1) == 70_000
    assert reader.times(2) == range(3)
    with pytest.raises(ValueError, match="more than 10000 parts"):
        reader.times(2)
    with pytest.raises(ValueError, match="too short"):
        reader.number(1)
