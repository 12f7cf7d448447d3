from io import BytesIO

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image

from zshash.datasets import digits
from zshash.images import PictureReader, extractor
from zshash.images.networks import FORMS, fetches


@pytest.fixture(scope="module")
def some():
    return digits().select(np.arange(0, 1797, 40))


def resized(images, size, resample=Image.Resampling.NEAREST):
    return [np.asarray(Image.fromarray(image).resize(size, resample)) for image in images]


@pytest.mark.parametrize("margins", ["keep", "cut"])
def test_digits_come_out_as_their_features(margins):
    data, network = digits(), extractor("pixels:8", margins=margins)
    assert data.images is not None
    assert_array_equal(network.extract(data.images), data.X)
    assert_array_equal(network.extract(255 - data.images), data.X)


@pytest.mark.parametrize("size", [16, 64, 128, 200, 1000, 1999])
@pytest.mark.parametrize("margins", ["keep", "cut"])
def test_enlarged_digits_come_out_the_same(some, size, margins):
    network = extractor("pixels:8", margins=margins)
    large = resized(some.images[::5], (size, size))
    assert_array_equal(network.extract(large), some.X[::5])


def test_files_of_any_kind(some, tmp_path):
    image = Image.fromarray(some.images[3]).resize((240, 240), Image.Resampling.NEAREST)
    for name in ("a.png", "a.jpg", "a.webp"):
        image.convert("RGB").save(tmp_path / name, quality=95)
    found = extractor("pixels:8").extract(sorted(tmp_path.iterdir()))
    assert_allclose(found, np.tile(some.X[3], (3, 1)), atol=1)


def test_ink_on_transparent_paper(some):
    drawing = np.zeros((8, 8, 4), dtype=np.uint8)
    drawing[..., 3] = some.images[5]
    file = BytesIO()
    Image.fromarray(drawing).save(file, "PNG")
    assert_array_equal(extractor("pixels:8").extract([file.getvalue()])[0], some.X[5])


def test_colours_count_by_how_light_they_are():
    colours = np.zeros((3, 5, 5, 3), dtype=np.uint8)
    for channel in range(3):
        colours[channel, ..., channel] = 255
    found = extractor("pixels:2", invert="no").extract(colours)
    assert_array_equal(found, np.repeat([[5], [9], [2]], 4, axis=1))


def test_the_middle_of_a_picture_that_is_no_square(some):
    network = extractor("pixels:8", invert="no")
    image = resized(some.images[:1], (64, 64))[0]
    wide = np.pad(image, [(0, 0), (40, 40)], constant_values=255)
    assert_array_equal(network.extract([wide, wide.T]), network.extract([image, image.T]))


def test_invert():
    picture = np.full((1, 5, 5), 255, dtype=np.uint8)
    picture[0, 0, 0] = 0
    light = extractor("pixels:5", invert="no").extract(picture)
    dark = extractor("pixels:5", invert="yes").extract(picture)
    assert_array_equal(light[0], [0, *[16] * 24])
    assert_array_equal(dark, 16 - light)
    assert_array_equal(extractor("pixels:5").extract(picture), dark)
    assert_array_equal(extractor("pixels:5").extract(255 - picture), dark)


class TestMargins:
    """With margins cut off, it does not matter where on the paper a drawing is."""

    network = extractor("pixels:8", margins="cut")

    def test_paper_around_a_drawing(self):
        drawing = np.zeros((80, 80), dtype=np.uint8)
        drawing[::10] = 255
        drawing[-1], drawing[:, :30] = 255, 255
        plain = self.network.extract([drawing])
        assert plain.max() == 16
        paper = np.pad(drawing, [(13, 90), (70, 5)])
        assert_array_equal(self.network.extract([paper, 255 - paper]), np.tile(plain, (2, 1)))
        assert (extractor("pixels:8").extract([paper]) != plain).any()

    def test_narrow_ink_is_put_in_the_middle(self):
        paper = np.full((300, 200), 255, dtype=np.uint8)
        paper[20:100, 110:120] = 0
        found = self.network.extract([paper])[0].reshape(8, 8)
        assert_array_equal(found, np.tile([0, 0, 0, 8, 8, 0, 0, 0], (8, 1)))

    def test_a_picture_without_margins_is_filled_up(self):
        ring = np.zeros((80, 40), dtype=np.uint8)
        ring[:10], ring[-10:], ring[:, :10], ring[:, -10:] = 255, 255, 255, 255
        found = extractor("pixels:8", margins="cut", invert="no").extract([ring, ring.T])
        upright, lying = found.reshape(2, 8, 8)
        assert_array_equal(upright, lying.T)
        assert_array_equal(upright[:, [0, 1, 6, 7]], np.zeros((8, 4)))
        assert_array_equal(upright[:, 2], np.full(8, 16))
        assert_array_equal(upright[4], [0, 0, 16, 0, 0, 16, 0, 0])

    def test_blank_paper_and_long_strips(self):
        blank = [np.full(shape, 255, dtype=np.uint8) for shape in [(1, 1), (30, 50), (2, 9000)]]
        assert not self.network.extract(blank).any()
        strip = np.zeros((10, 100_000), dtype=np.uint8)
        strip[:, ::3] = 255
        found = self.network.extract([strip]).reshape(8, 8)
        assert found[3].min() > 0
        assert found[0].max() == 0


def test_what_it_says_of_itself():
    network = extractor("pixels:28", batch_size=5)
    assert (network.name, network.dimension, network.batch_size) == ("pixels:28", 784, 5)
    assert repr(network) == "<extractor pixels:28: 784 dimensions>"
    assert network.side >= 28
    assert extractor("pixels:28").batch_size == 64
    assert network.run(np.empty((0, 28, 28), dtype=np.float32)).shape == (0, 784)
    assert "pixels:SIDE" in FORMS
    assert not fetches("pixels:8")


def test_fingerprints():
    assert extractor("pixels:8").fingerprint == extractor("pixels:8", batch_size=2).fingerprint
    others = [
        extractor("pixels:8"),
        extractor("pixels:9"),
        extractor("pixels:8", invert="no"),
        extractor("pixels:8", invert="yes"),
        extractor("pixels:8", margins="cut"),
    ]
    assert len({network.fingerprint for network in others}) == len(others)


def test_a_reader_like_another_one():
    facts = PictureReader("pixels:8", {"margins": "cut", "batch_size": 3}).facts()
    assert facts["options"] == {"margins": "cut"}
    assert PictureReader().like(facts).facts() == facts


@pytest.mark.parametrize("side", ["0", "x", "-1", "8.5", "257", "99999999999", "²", "8 ", "8x8"])
def test_sides_that_make_no_sense(side):
    message = f"^pixels:{side}: SIDE must be a whole number from 1 to 256, as in pixels:8$"
    with pytest.raises(ValueError, match=message):
        extractor(f"pixels:{side}")


@pytest.mark.parametrize("name", ["pixels", "pixels:"])
def test_without_a_side(name):
    with pytest.raises(ValueError, match=rf"no network '{name}' \(write pixels:SIDE\); there are"):
        extractor(name)


@pytest.mark.parametrize("name", ["pixel:8", "Pixels:8"])
def test_near_misses(name):
    with pytest.raises(ValueError, match=rf"no network '{name}' \(did you mean 'pixels:8'\?\)"):
        extractor(name)


@pytest.mark.parametrize("value", ["maybe", True, None])
def test_options_that_make_no_sense(value):
    with pytest.raises(ValueError, match=f"invert must be one of auto, yes, no, got {value!r}"):
        extractor("pixels:8", invert=value)
    with pytest.raises(ValueError, match=f"margins must be one of keep, cut, got {value!r}"):
        extractor("pixels:8", margins=value)
    message = "pixels:SIDE has no option size; it has invert, margins, batch_size"
    with pytest.raises(ValueError, match=message):
        extractor("pixels:8", size=8)
