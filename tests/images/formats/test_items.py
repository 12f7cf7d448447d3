import struct

import pytest

from tests.images.camera_files import box
from tests.images.heif_files import described, full, item, located
from zshash.images.formats.boxes import boxes
from zshash.images.formats.items import read_items


def items_of(*parts):
    content = memoryview(full(b"meta", 0, *parts))
    return content, read_items(content, next(boxes(content)))


KINDS = full(b"iinf", 0, b"\0\2", item(1, b"hvc1"), item(2, b"Exif"))


def test_kinds_and_links():
    links = full(b"iref", 0, box(b"cdsc", struct.pack(">HHH", 2, 1, 1)))
    content, items = items_of(full(b"pitm", 0, b"\0\1"), KINDS, links)
    assert items.primary == 1
    assert items.kinds == {1: b"hvc1", 2: b"Exif"}
    assert [bytes(content[place : place + 4]) for place in items.labels.values()] == [
        b"hvc1",
        b"Exif",
    ]
    assert items.links == [(b"cdsc", 2, [1])]


def test_long_numbers():
    one = full(b"infe", 3, struct.pack(">IH4s", 70_000, 0, b"av01"))
    links = full(b"iref", 1, box(b"dimg", struct.pack(">IHII", 70_000, 2, 80_000, 80_001)))
    entries = full(b"iinf", 1, struct.pack(">I", 1), one)
    _, items = items_of(full(b"pitm", 1, struct.pack(">I", 70_000)), entries, links)
    assert items.kinds == {items.primary: b"av01"}
    assert items.links == [(b"dimg", 70_000, [80_000, 80_001])]


def test_pieces_of_an_item():
    content, items = items_of(located({1: [(8, 4), (4, 2)], 2: [(4, 4)], 3: []}))
    assert bytes(items.read(content, 1)) == bytes(content[8:12]) + bytes(content[4:6])
    assert bytes(items.read(content, 2)) == b"meta"
    assert bytes(items.read(content, 3)) == bytes(items.read(content, 4)) == b""


def test_items_inside_the_description():
    inside = struct.pack(">HHHHHIII", 1, 1, 1, 0, 1, 2, 3, 0)[:-4]
    place = full(b"iloc", 1, b"\x44\0", inside)
    content, items = items_of(box(b"idat", b"abcdefgh"), place)
    assert bytes(items.read(content, 1)) == b"cde"
    content, items = items_of(place)  # there is no such part
    assert bytes(items.read(content, 1)) == b""


def test_properties_in_order():
    size, turn = full(b"ispe", 0, struct.pack(">II", 4, 3)), box(b"irot", b"\1")
    _, items = items_of(described([size, turn], {1: [2 | 128, 1], 2: [1, 9, 0]}))
    assert [each.name for each in items.properties[1]] == [b"irot", b"ispe"]
    assert [each.name for each in items.properties[2]] == [b"ispe"]
    assert items.property(1, b"ispe") == items.properties[1][1]
    assert items.property(1, b"clap") is None
    assert items.property(7, b"ispe") is None


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([KINDS, KINDS], "two parts named iinf"),
        ([full(b"iinf", 0, b"\0\2", item(1, b"hvc1"), item(1, b"Exif"))], "two items 1"),
        ([located({n: [(0, 1)] * 400 for n in range(30)})], "too many pieces"),
        ([described([], {n: [0] * 200 for n in range(60)})], "too many properties"),
        (
            [full(b"iref", 0, *[box(b"dimg", struct.pack(">HH9000H", 1, 9000, *[2] * 9000))] * 2)],
            "too many links",
        ),
        ([full(b"iloc", 0, b"\x44\0\0\5")], "too short"),
    ],
)
def test_descriptions_that_make_no_sense(parts, message):
    with pytest.raises(ValueError, match=message):
        items_of(*parts)


def test_an_item_longer_than_the_file():
    content, items = items_of(located({1: [(0, 60)] * 10}))
    with pytest.raises(ValueError, match="longer than the file"):
        items.read(content, 1)
