import numpy as np
import pytest
from PIL import Image

from tests.images.scenes import cropped, jpeg, scene
from zshash.collection.operations.print_pairs import MOST_NEAR, Prints, likely_pairs
from zshash.images.prints import SIDE, cropped_prints, fingerprint, shades


def prints_of(images, shown=None):
    """Prints of images; only the shades of those that are `shown` are known."""
    squares = np.stack([shades(image) for image in images])
    own = np.array([list(fingerprint(image)) for image in images], dtype=np.uint8)
    if shown is not None:
        squares[~np.array(shown)] = 0
    n = len(images)
    return Prints(np.arange(n), own, squares, np.ones(n, dtype=bool))


def rows(pairs):
    return {tuple(sorted(pair)) for pair in zip(pairs.part, pairs.whole, strict=True)}


COPIES = [
    lambda image: image.resize((70, 50)),
    lambda image: jpeg(image, 30),
    lambda image: cropped(image, 0.1),
    lambda image: cropped(image, 0.04, 0.04, 0.04, 0.04),
    lambda image: cropped(image, 0.1, 0.1, 0.1, 0.1),
    lambda image: cropped(image, 0.02, 0.09, 0.07, 0),
]


@pytest.mark.parametrize("change", range(len(COPIES)))
def test_copies_are_among_the_pairs_and_little_else(change):
    images = [scene(seed, (400, 300)) for seed in range(15)]
    found = likely_pairs(prints_of([*images, *map(COPIES[change], images)]))
    assert rows(found) == {(row, row + 15) for row in range(15)}
    assert (found.correlation > 0.94).all()


def test_the_cropped_picture_is_the_part():
    image = scene(4, (400, 300))
    for order in (1, -1):
        both = [image, cropped(image, 0.1, 0.05, 0.02, 0.08)][::order]
        found = likely_pairs(prints_of(both))
        assert found.whole.tolist() == [both.index(image)]
        np.testing.assert_allclose(found.edges, [[0.1, 0.05, 0.98, 0.92]], atol=0.02)


def test_pictures_without_structure_are_in_no_pair():
    blank = [Image.new("RGB", (60, 40), shade) for shade in ("white", "black", "grey", "white")]
    assert rows(likely_pairs(prints_of([*blank, scene(0), jpeg(scene(0))]))) == {(4, 5)}


def test_without_shades_prints_must_be_nearly_equal():
    images = [scene(0), scene(0), scene(1), jpeg(scene(1), 90), scene(2), cropped(scene(2), 0.1)]
    found = likely_pairs(prints_of(images, shown=[False, True, False, False, False, True]))
    assert rows(found) == {(0, 1), (2, 3)}


def test_very_many_equal_pictures_take_few_pairs():
    n = 300
    square = shades(scene(0))[None]
    squares, own = np.repeat(square, n, axis=0), np.repeat(cropped_prints(square)[:, 0], n, axis=0)
    found = likely_pairs(Prints(np.arange(n), own, squares, np.ones(n, dtype=bool)))
    assert len(found.part) <= n * MOST_NEAR
    assert {row for pair in rows(found) for row in pair} == set(range(n))  # none is forgotten


def test_no_pictures():
    none = Prints(
        np.empty(0, dtype=np.int64),
        np.empty((0, 8), dtype=np.uint8),
        np.empty((0, SIDE, SIDE), dtype=np.uint8),
        np.empty(0, dtype=bool),
    )
    assert len(likely_pairs(none).part) == 0
