"""The training against a plain version of its loss in float64, and finite differences."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import entr, log_softmax, softmax
from threadpoolctl import threadpool_limits

from zshash._threads import all_cores
from zshash.hashing.steps.distillation import (
    PART_ROWS,
    Distillation,
    balance_loss,
    overlap_loss,
    pace,
    slope_at,
)
from zshash.hashing.steps.imagination import Batches
from zshash.hashing.steps.networks import Weights, random_units


def make(n=24, n_bits=6, n_units=5, p=2, n_steps=10, size=1024, imaginary=0.4, perplexity=4.0):
    """A small training whose units have output weights from the start."""
    rng = np.random.RandomState(0)
    categories = np.arange(n) % 3
    Z = rng.standard_normal((3, 4))[categories] + 0.7 * rng.standard_normal((n, 4))
    Z = (Z - Z.mean(axis=0)).astype(np.float32)
    meanings = 0.5 * rng.standard_normal((3, p)).astype(np.float32)
    options = {"novelty": 0.1, "size": size, "imaginary": imaginary, "rng": rng}
    batches = Batches(Z, categories, meanings, **options)
    weights = random_units(rng.standard_normal((4, n_bits)) / 2, n_units, rng)
    for array in (weights.b, weights.a, weights.O):
        array += 0.3 * rng.standard_normal(array.shape).astype(np.float32)
    options = {"perplexity": perplexity, "temperature": 0.8, "rate": 0.01, "n_steps": n_steps}
    return Distillation(weights, batches, **options)


def neighbourhoods(lesson, perplexity):
    """p by root finding, row by row; 0 on the diagonal."""
    S, p = lesson @ lesson.T, np.zeros((len(lesson), len(lesson)))
    for i, row in enumerate(S):
        others = np.flatnonzero(np.arange(len(S)) != i)

        def excess(log_rate, s=row[others]):
            return entr(softmax(np.exp(log_rate) * s)).sum() - np.log(perplexity)

        p[i, others] = softmax(np.exp(brentq(excess, -9, 12)) * row[others])
    return p


def plain_loss(weights, Z, p, slope, temperature):
    """Loss of a batch, in float64, as the module's docstring defines it."""
    W, b, A, a, outputs = weights
    V = np.tanh(slope * (Z @ W + b + np.maximum(0, Z @ A + a) @ outputs))
    n, n_bits = V.shape
    logits = V @ V.T / n_bits / (temperature / np.sqrt(n_bits))
    np.fill_diagonal(logits, -np.inf)
    rest = ~np.eye(n, dtype=bool)
    divergences = (-entr(p)[rest] - p[rest] * log_softmax(logits, axis=1)[rest]).sum() / n
    overlap = np.square(V.T @ V / n - np.eye(n_bits)).mean()
    return divergences + np.square(V.mean(axis=0)).mean() + overlap


def numeric_gradient(loss, array, step=1e-6):
    gradient = np.zeros(array.shape)
    for place in np.ndindex(array.shape):
        kept, losses = array[place], []
        for change in (step, -step):
            array[place] = kept + change
            losses.append(loss())
        array[place] = kept
        gradient[place] = (losses[0] - losses[1]) / (2 * step)
    return gradient


class Recorder:
    """Takes the place of Adam, and leaves the weights as they are."""

    def step(self, gradients, rate):
        self.gradients, self.rate = gradients, rate


@pytest.mark.parametrize("term", [balance_loss, overlap_loss])
def test_terms_against_finite_differences(term):
    V = np.tanh(np.random.RandomState(0).standard_normal((9, 5)))
    value, gradient = term(V)
    expected = {
        balance_loss: np.mean([column.mean() ** 2 for column in V.T]),
        overlap_loss: np.mean(
            [(V[:, i] @ V[:, j] / 9 - (i == j)) ** 2 for i in range(5) for j in range(5)]
        ),
    }
    assert value == pytest.approx(expected[term], rel=1e-10)
    numeric = numeric_gradient(lambda: term(V)[0], V)
    np.testing.assert_allclose(np.broadcast_to(gradient, V.shape), numeric, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("progress", [0.0, 0.5])
@pytest.mark.parametrize("part_rows", [PART_ROWS, 7])
def test_the_whole_gradient_against_finite_differences(progress, part_rows, monkeypatch):
    monkeypatch.setattr("zshash.hashing.steps.distillation.PART_ROWS", part_rows)
    training = make()
    draw = training.batches.draw()
    assert len(draw.centres) == 8
    monkeypatch.setattr(training.batches, "draw", lambda: draw)
    training._adam = recorder = Recorder()
    losses = [training._step(progress) for _ in range(4)]  # until 1/τ is right
    Z = training.batches.rows(draw)
    p = neighbourhoods(training.batches.lesson(draw, Z).astype(np.float64), 4.0)
    weights = Weights(*(array.astype(np.float64) for array in training.weights))

    def loss():
        return plain_loss(weights, Z.astype(np.float64), p, 1 + 2 * progress, 0.8)

    assert losses[-1] == pytest.approx(loss(), rel=1e-4)
    for gradient, array in zip(recorder.gradients, weights, strict=True):
        numeric = numeric_gradient(loss, array)
        np.testing.assert_allclose(gradient, numeric, atol=2e-3 * np.abs(numeric).max())
    assert recorder.rate == 0.01 * pace(progress, 10)


def test_the_loss_falls():
    training = make(n=200, n_bits=16, n_units=40, n_steps=60, size=64)
    losses = training.run()
    assert losses.shape == (60,)
    assert losses.dtype == np.float64
    assert np.mean(losses[-10:]) < 0.8 * np.mean(losses[:5])


def test_a_result_does_not_depend_on_the_number_of_threads():
    found = []
    for n_threads in (1, 2, 5):
        training = make(n=3 * PART_ROWS + 50, n_bits=16, n_units=30, n_steps=4)
        with threadpool_limits(n_threads, user_api="blas"), all_cores():
            losses = training.run()
        found.append((losses, *training.weights))
    for other in found[1:]:
        for array, expected in zip(other, found[0], strict=True):
            np.testing.assert_array_equal(array, expected)


def test_two_samples():
    training = make(n=2, p=0, perplexity=1.0)
    losses = training.run()
    assert np.isfinite(losses).all()
    assert all(np.isfinite(array).all() for array in training.weights)


@pytest.mark.parametrize("n_steps", [1, 2, 7, 30, 100, 601])
def test_steps_grow_then_fall(n_steps):
    sizes = np.array([pace(number / n_steps, n_steps) for number in range(n_steps)])
    top = sizes.argmax()
    assert (sizes > 0).all()
    assert 0.9 < sizes[top] <= 1
    assert (np.diff(sizes[: top + 1]) > 0).all()
    assert (np.diff(sizes[top:]) <= 0).all()
    assert top <= 0.05 * n_steps
    fall = sizes[int(np.ceil(0.05 * n_steps)) :]
    np.testing.assert_allclose(np.diff(fall), -1 / (0.95 * n_steps), rtol=1e-6)


def test_bits_harden():
    assert [slope_at(progress) for progress in (0, 0.25, 1)] == [1, 1.5, 3]
