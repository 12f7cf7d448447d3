"""Pictures with several tags on disk, as MIRFlickr lays them out: SMMH learns from their tags."""

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_digits

from zshash import SMMH, metrics
from zshash.datasets import Pictures, read_mirflickr
from zshash.studies.zsh2016.mosaics import mosaics

SEEN, ALL = 600, 1200  # pictures to learn from, and all pictures; the others are searched


@pytest.fixture(scope="module")
def tagged(tmp_path_factory):
    """Features and tags of mosaics of handwritten digits, read from files."""
    folder = tmp_path_factory.mktemp("mirflickr")
    pixels, labels = load_digits(return_X_y=True)
    names = ("zero", "one", "six", "seven")
    kept = np.isin(labels, (0, 1, 6, 7))
    digits = Pictures(
        (15 * pixels[kept]).astype(np.uint8).reshape(-1, 8, 8),
        np.searchsorted((0, 1, 6, 7), labels[kept]),
        names,
    )
    made = mosaics(digits, range(4), ALL, random_state=0)
    for number, picture in enumerate(made.sources, start=1):
        Image.fromarray(picture).save(folder / f"im{number}.jpg", quality=95)
    (folder / "annotations").mkdir()
    for name, column in zip(names, made.labels.T, strict=True):
        lines = "".join(f"{number}\n" for number in np.flatnonzero(column) + 1)
        (folder / "annotations" / f"{name}.txt").write_text(lines)
    found = read_mirflickr(folder)
    return np.array([cells(path) for path in found.sources]), found.labels


def cells(path):
    """Features that do not say in which cell a digit is: pixels of the cells, and their maximum."""
    with Image.open(path) as picture:
        pixels = np.asarray(picture.convert("L"), dtype=float)
    parts = pixels.reshape(2, 8, 2, 8).swapaxes(1, 2).reshape(4, 64)
    return np.concatenate([parts.mean(axis=0), parts.max(axis=0)])


def same_tags_first(tagged, y):
    """MAP of pictures with the query's tags, no more and no fewer; pictures are coded alone."""
    X, tags = tagged
    queries, rest = slice(SEEN, SEEN + 200), slice(SEEN + 200, None)
    relevant = (tags[queries][:, None] == tags[rest]).all(axis=2)
    found = []
    for seed in range(3):
        packed = SMMH(32, random_state=seed).fit(X[:SEEN], y).encode(X)
        scores = metrics.evaluate(packed[queries], packed[rest], relevant, k=50)
        found.append(scores["map"])
    return np.mean(found)


def test_tags_help_to_find_pictures(tagged):
    tags = tagged[1][:SEEN]
    shuffled = np.random.RandomState(0).permutation(tags)
    found = same_tags_first(tagged, tags), same_tags_first(tagged, shuffled)
    assert found[0] > found[1] + 0.01, found


def test_pictures_are_found_by_a_tag(tagged):
    X, tags = tagged
    hasher = SMMH(32, random_state=0).fit(X[:SEEN], tags[:SEEN])
    queries = np.eye(tags.shape[1], dtype=int)
    found = metrics.evaluate(
        hasher.encode_tags(queries), hasher.encode(X[SEEN:]), tags[SEEN:].T.astype(bool), k=50
    )
    assert found["map"] > tags[SEEN:].mean() + 0.05, found
