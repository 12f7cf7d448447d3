import numpy as np
import pytest
from numpy.testing import assert_allclose
from PIL import Image

from tests.images.scenes import scene
from zshash.images.alignment import correlations, cuts, steps


@pytest.mark.parametrize("edges", [(0, 0, 1, 1), (0.1, 0.05, 0.8, 1), (0.25, 0.25, 0.75, 0.5)])
def test_cut_outs_are_those_of_pillow(edges):
    image = scene(0, (48, 40)).convert("F")
    left, top, right, bottom = edges
    box = (left * 48, top * 40, right * 48, bottom * 40)
    expected = np.asarray(image.resize((12, 8), Image.Resampling.BOX, box=box))
    down, across = cuts([top], [bottom], 40, 8)[0], cuts([left], [right], 48, 12)[0]
    # Pillow takes whole pixels by their middles, and here parts of pixels count
    assert np.abs(down @ np.asarray(image) @ across.T - expected).mean() < 3
    assert_allclose(down.sum(axis=1), 1, rtol=1e-5)


def test_whole_pixels_are_averaged_exactly():
    image = scene(1, (48, 40)).convert("F")
    expected = np.asarray(image.resize((12, 8), Image.Resampling.BOX))
    cut_out = cuts([0], [1], 40, 8)[0] @ np.asarray(image) @ cuts([0], [1], 48, 12)[0].T
    assert_allclose(cut_out, expected, rtol=1e-4)


def test_correlations_are_those_of_numpy():
    rng = np.random.RandomState(0)
    ones, others = rng.rand(2, 5, 6, 7).astype(np.float32)
    expected = [
        np.corrcoef(one.ravel(), other.ravel())[0, 1]
        for one, other in zip(ones, others, strict=True)
    ]
    assert_allclose(correlations(ones, others), expected, atol=1e-5)


def test_a_flat_picture_agrees_with_nothing():
    flat, other = np.full((1, 4, 4), 9, np.float32), np.eye(4, dtype=np.float32)[None]
    assert correlations(flat, other).tolist() == [0]


def test_no_pictures_at_all():
    none = np.empty((0, 8, 8), dtype=np.float32)
    assert steps(none, none, np.empty((0, 4))).shape == (0, 4)
    assert correlations(none, none).shape == (0,)


@pytest.mark.parametrize("seed", range(3))
def test_steps_lead_to_the_edges(seed):
    image = scene(seed).convert("F")
    wide, high = image.size
    true = np.array([0.04, 0.02, 0.97, 0.95])

    def cut_out(edges):
        box = tuple(edges * [wide, high, wide, high])
        return np.asarray(image.resize((32, 32), Image.Resampling.BILINEAR, box=box))[None]

    wanted = 0.9 * cut_out(true) + 7  # another brightness changes nothing
    edges = np.array([0.0, 0.0, 1.0, 1.0])
    for _ in range(12):
        edges = np.clip(edges + steps(wanted, cut_out(edges), edges[None])[0], 0, 1)
    assert_allclose(edges, true, atol=0.004)
