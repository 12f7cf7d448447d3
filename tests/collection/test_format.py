"""A collection of format 1, as it was written once, and what this zshash makes of it."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.collection.data.make_version_1 import FOLDER, features
from zshash import LSH, Collection


@pytest.fixture
def old(tmp_path):
    with Collection.open(shutil.copytree(FOLDER, tmp_path / "old")) as photos:
        yield photos


def test_it_says_what_was_put_in(old):
    X = features()
    assert old.ids.tolist() == [i for i in range(35) if i not in (3, 25)]
    assert old.n_bits == 16
    assert old.notes == {"seen": ["cat", "dog"], "labels": ["wordnet"]}
    assert old[1].labels == ("dog", "pet")
    assert old[1].metadata == {"year": 2001, "camera": {"model": "A"}}
    assert old[19].source == "/photos/caf\udce9.jpg"
    assert old[24].source == "s3://a/4"
    assert old.thumbnail(7) == b"and here"
    assert old.thumbnail(8) is None
    assert old.search(X[17], k=1)[0].distance == 0
    assert old.find("label = 'вуж' and camera.model = 'A'").tolist() == [7, 11, 15, 19]
    assert old.verify() == []


def test_it_can_be_changed(old):
    X = features()
    added = old.add(X)
    assert added.ids.tolist() == list(range(35, 51))  # codes alone tell no duplicates
    old.remove([0])
    old.remove([i for i in range(20, 30) if i != 25])
    old.reencode(LSH(n_bits=8, random_state=1).fit(X))
    old.compact()
    assert old.verify() == []
    np.testing.assert_array_equal(old.search(X[9], k=1)[0].distance, 0)


def test_it_is_small():
    assert sum(path.stat().st_size for path in Path(FOLDER).iterdir()) < 100_000
