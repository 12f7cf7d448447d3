"""Pictures of exemplars, kept for a report that has no data."""

import io

import numpy as np
import pytest
from PIL import Image

from zshash.datasets import digits
from zshash.evaluation.runs import RunFolder
from zshash.studies.tasks import Retrieval
from zshash.studies.zsh2016.exemplars import Exemplars


@pytest.fixture
def kept(tmp_path, sources):
    """Keep the pictures of one run, and read what is in the folder then."""

    def kept(name, **rows):
        results, folder = RunFolder(tmp_path / "runs"), tmp_path / "pictures"
        task = Exemplars(data="digits", pictures=name, unseen=1)
        results.add(task, "data", {"seed": 0, **rows})
        other = Retrieval(data="digits", unseen=1)
        results.add(other, "data", {"seed": 0, "queries": [1000]})
        for own in (task, other):
            own.keep_pictures(results.read(own).runs, folder, sources)
        return {path.stem: path for path in folder.rglob("*.png")}

    return kept


def pixels(path):
    return np.asarray(Image.open(io.BytesIO(path.read_bytes())))


def test_every_picture_that_is_shown_is_kept(kept):
    found = kept("digits", queries=[5, 1796], found=[[7, 5], [0, 7]])
    assert len(found) == 4
    for row in (0, 5, 7, 1796):
        np.testing.assert_array_equal(pixels(found[str(row)]), digits().images[row])
    times = {path: path.stat().st_mtime_ns for path in found.values()}
    more = kept("digits", queries=[5, 9], found=[[7], [0]])
    assert len(more) == 5
    assert all(path.stat().st_mtime_ns == time for path, time in times.items())


def test_a_run_that_failed_shows_nothing(kept):
    assert kept("digits", error="too few samples") == {}


def test_photographs_are_made_small(kept, tmp_path):
    rng = np.random.RandomState(0)
    for name in ("cat", "dog"):
        (tmp_path / "photos" / name).mkdir(parents=True)
        image = Image.fromarray(rng.randint(0, 256, size=(200, 400, 3), dtype=np.uint8))
        image.save(tmp_path / "photos" / name / "1.png")
    found = kept(str(tmp_path / "photos"), queries=[1], found=[[0]])
    assert [pixels(found[row]).shape for row in "01"] == [(64, 128, 3)] * 2
