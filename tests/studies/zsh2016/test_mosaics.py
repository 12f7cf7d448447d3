from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from zshash.datasets import DataError, Pictures
from zshash.studies.zsh2016.mosaics import mosaics

NAMES = ("cat", "dog", "frog", "deer", "ship", "truck")
SYNSETS = tuple(f"n0000000{i}" for i in range(6))
HEIGHT, WIDTH = 3, 5


def numbered(labels, *colours):
    """Pictures that show their own number in the first pixel, and their label everywhere else."""
    labels = np.asarray(labels)
    pixels = np.empty((len(labels), HEIGHT, WIDTH, *colours), dtype=np.uint8)
    pixels[:] = labels.reshape(-1, 1, 1, *(1 for _ in colours))
    pixels[:, 0, 0] = np.arange(len(labels)).reshape(-1, *(1 for _ in colours))
    return Pictures(pixels, labels, NAMES, SYNSETS)


def cells_of(mosaic):
    """The four pictures of a mosaic, cut out by their pixels."""
    rows = (mosaic[:HEIGHT], mosaic[HEIGHT:])
    return [row[:, start : start + WIDTH] for row in rows for start in (0, WIDTH)]


@pytest.mark.parametrize("colours", [(), (3,)])
def test_a_mosaic_shows_whole_pictures_of_just_the_categories_that_it_carries(colours):
    pictures = numbered(np.arange(120) % 6, *colours)
    categories = [4, 1, 5, 2]
    made = mosaics(pictures, categories, 500, random_state=0)
    assert made.sources.shape == (500, 2 * HEIGHT, 2 * WIDTH, *colours)
    assert made.sources.dtype == np.uint8
    assert made.labels.shape == (500, 4)
    assert made.labels.dtype == bool
    assert made.names == ("ship", "dog", "truck", "frog")
    assert made.synsets == tuple(SYNSETS[category] for category in categories)
    for mosaic, row in zip(made.sources, made.labels, strict=True):
        numbers = [int(cell[0, 0].max()) for cell in cells_of(mosaic)]
        for cell, number in zip(cells_of(mosaic), numbers, strict=True):
            np.testing.assert_array_equal(cell, pictures.sources[number])
        shown = {int(pictures.labels[number]) for number in numbers}
        assert shown == {category for category, there in zip(categories, row, strict=True) if there}
        assert len(shown) in (2, 3)
        assert len(set(numbers)) == 4


def test_everything_is_equally_likely():
    n = 6000
    pictures = numbered(np.arange(60) % 6)
    made = mosaics(pictures, range(6), n, random_state=1)
    # Five standard deviations of a share p of n are 0.065 sqrt(p (1 - p)), at most 0.033.
    assert abs((made.labels.sum(axis=1) == 3).mean() - 1 / 2) < 0.033
    np.testing.assert_allclose(made.labels.mean(axis=0), 2.5 / 6, atol=0.033)
    numbers = np.array([[cell[0, 0] for cell in cells_of(mosaic)] for mosaic in made.sources])
    for place in range(4):
        shares = np.bincount(pictures.labels[numbers[:, place]], minlength=6) / n
        np.testing.assert_allclose(shares, 1 / 6, atol=0.025)
    np.testing.assert_allclose(np.bincount(numbers.ravel()) / n, 4 / 60, atol=0.02)
    # Two categories share four cells as 1 + 3, 2 + 2 or 3 + 1: the free cells are two coins.
    pairs = numbers[made.labels.sum(axis=1) == 2]
    most = [max(Counter(row).values()) for row in pictures.labels[pairs].tolist()]
    assert abs(np.mean(np.equal(most, 3)) - 1 / 2) < 0.05
    # In three of a kind and two of a kind, places are shuffled: the odd one out is anywhere.
    diagonal = pictures.labels[pairs[:, 0]] == pictures.labels[pairs[:, 3]]
    beside = pictures.labels[pairs[:, 0]] == pictures.labels[pairs[:, 1]]
    assert abs(diagonal.mean() - beside.mean()) < 0.07


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_small_category_repeats_only_what_it_must(size):
    labels = np.repeat([0, 1, 2], [size, 40, 40])
    pictures = numbered(labels)
    worst = 0
    for mosaic in mosaics(pictures, [0, 1, 2], 400, random_state=2).sources:
        numbers = [int(cell[0, 0]) for cell in cells_of(mosaic)]
        few = [number for number in numbers if labels[number] == 0]
        others = [number for number in numbers if labels[number] != 0]
        assert len(set(few)) == min(len(few), size)
        assert len(set(others)) == len(others)
        worst = max(worst, len(few))
    assert worst == 3


def test_same_seed_same_mosaics():
    pictures = numbered(np.arange(60) % 6)
    first, again, other = (mosaics(pictures, [0, 1, 2], 20, seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.sources, again.sources)
    np.testing.assert_array_equal(first.labels, again.labels)
    assert not np.array_equal(first.sources, other.sources)


def test_names_and_synsets_are_kept_where_there_are_some():
    whole = numbered(np.arange(60) % 6)
    bare = mosaics(Pictures(whole.sources, whole.labels), np.array([0, 1, 2]), 2, 0)
    assert bare.names == bare.synsets == ()


PIXELS = np.zeros((6, 2, 2), np.uint8)


@pytest.mark.parametrize(
    ("sources", "labels", "categories", "message"),
    [
        ((Path("a.png"),) * 6, np.arange(6), [0, 1, 2], "made of pixels, not of files"),
        (PIXELS / 2, np.arange(6), [0, 1, 2], r"uint8, got float64 of shape \(6, 2, 2\)"),
        (PIXELS[:, 0], np.arange(6), [0, 1, 2], r"got uint8 of shape \(6, 2\)"),
        (PIXELS[..., None], np.arange(6), [0, 1, 2], r"got uint8 of shape \(6, 2, 2, 1\)"),
        (PIXELS, None, [0, 1, 2], "one label for each of the 6 pictures, got none"),
        (PIXELS, np.eye(6, dtype=bool), [0, 1, 2], r"one label for each.*shape \(6, 6\)"),
        (PIXELS, np.arange(5), [0, 1, 2], r"one label for each.*shape \(5,\)"),
        (PIXELS, np.arange(6), [0, 1], r"at least 3 categories, each named once, got \[0, 1\]"),
        (PIXELS, np.arange(6), [0, 1, 2, 1], "each named once"),
        (PIXELS, np.arange(6), [0, 7, 2, -1], "no picture has the label 7, -1"),
    ],
)
def test_what_mosaics_can_not_be_made_of(sources, labels, categories, message):
    with pytest.raises(DataError, match=message):
        mosaics(Pictures(sources, labels), categories, 3, random_state=0)


def test_bad_number():
    with pytest.raises(ValueError, match="n must be a whole number of at least 1, got 0"):
        mosaics(numbered(np.arange(6)), [0, 1, 2], 0)


@pytest.mark.parametrize("n", [40, 60])
def test_no_picture_is_in_two_mosaics_while_there_are_enough(n):
    pictures = numbered(np.arange(240) % 3)
    made = mosaics(pictures, range(3), n, random_state=0)
    numbers = [int(cell[0, 0]) for mosaic in made.sources for cell in cells_of(mosaic)]
    used = Counter(int(pictures.labels[number]) for number in numbers)
    enough = max(used.values()) <= 80
    assert enough == (n == 40)
    assert (len(set(numbers)) == len(numbers)) == enough
