import numpy as np
import pytest
from PIL import Image

from tests.images.picture_files import encoded, smooth
from zshash.images.formats.boxes import boxes, only
from zshash.images.formats.coded import av1_pixels, hevc_pixels
from zshash.images.formats.items import read_items


def primary(content):
    """Bytes of the picture, and the settings of its decoder."""
    view = memoryview(content)
    items = read_items(view, only(boxes(view), b"meta")[b"meta"])
    settings = items.property(items.primary, b"hvcC")
    coded = bytes(items.read(view, items.primary))
    return coded, settings and bytes(view[settings.start : settings.end])


def hevc(content):
    coded, settings = primary(content)
    return hevc_pixels(memoryview(settings), memoryview(coded))


SIZES = [(64, 64), (128, 64), (72, 200), (400, 640)]


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("options", [{}, {"chroma": 444}, {"chroma": 422}, {"tile_size": 0}])
def test_hevc(width, height, options):
    content = encoded(np.zeros((height, width, 3), np.uint8), "HEIF", **options)
    assert hevc(content) == width * height


def test_hevc_of_grey_and_of_more_bits():
    grey = encoded(np.zeros((64, 80), np.uint8), "HEIF")
    deep = encoded(Image.fromarray(np.zeros((64, 80), np.uint16)), "HEIF")
    assert hevc(grey) == hevc(deep) == 64 * 80


@pytest.mark.parametrize(("width", "height"), [*SIZES, (1, 1), (33, 7)])
@pytest.mark.parametrize("subsampling", ["4:2:0", "4:4:4", "4:0:0"])
def test_av1(width, height, subsampling):
    image = Image.new("RGB", (width, height))
    content = encoded(image, "AVIF", subsampling=subsampling, speed=10)
    assert av1_pixels(memoryview(primary(content)[0])) == width * height


def test_av1_in_a_sequence_has_the_long_form():
    image = Image.new("RGB", (72, 40))
    content = encoded(image, "AVIF", save_all=True, append_images=[image], speed=10)
    coded = primary(content)[0]
    sequence = coded.index(b"\x0a") + 2  # behind the header of the unit and its length
    assert not coded[sequence] & 8  # the bit of the short form
    assert av1_pixels(memoryview(coded)) == 72 * 40


def test_pictures_painted_over_and_over():
    coded, settings = primary(encoded(smooth(64, 64), "HEIF"))
    with pytest.raises(ValueError, match="painted 201 times over"):
        hevc_pixels(memoryview(settings), memoryview(_last_unit(coded) * 201))
    assert hevc_pixels(memoryview(settings), memoryview(_last_unit(coded) * 200)) == 64 * 64
    coded, _ = primary(encoded(smooth(64, 64), "AVIF"))
    with pytest.raises(ValueError, match="painted 9 times over"):
        av1_pixels(memoryview(coded * 9))


def _last_unit(coded):
    """The unit that holds the pixels, with its length before it."""
    place = 0
    while place < len(coded):
        start, place = place, place + 4 + int.from_bytes(coded[place : place + 4], "big")
    return coded[start:]


def test_more_units_than_a_picture_has():
    _, settings = primary(encoded(smooth(64, 64), "HEIF"))
    with pytest.raises(ValueError, match="more than 1000 units"):
        hevc_pixels(memoryview(settings), memoryview(b"\0\0\0\2\x4e\1" * 1001))
    with pytest.raises(ValueError, match="more than 1000 units"):
        av1_pixels(memoryview(b"\x12\0" * 1001))


def told(measure, *parts):
    try:
        return measure(*map(memoryview, parts))
    except (ValueError, IndexError):
        return 0


def test_bytes_that_are_cut_off_tell_the_right_size_or_none():
    _, settings = primary(encoded(smooth(64, 64), "HEIF"))
    by_length = [told(hevc_pixels, settings[:n], b"") for n in range(len(settings) + 1)]
    assert by_length[-1] == 64 * 64
    assert set(by_length) == {0, 64 * 64}
    coded, _ = primary(encoded(smooth(64, 64), "AVIF"))
    by_length = [told(av1_pixels, coded[:n]) for n in range(len(coded) + 1)]
    assert by_length[-1] == 64 * 64
    assert set(by_length) == {0, 64 * 64}
