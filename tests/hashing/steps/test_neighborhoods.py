"""Neighbourhoods against SciPy's root finding and softmax in float64."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import entr, log_softmax, rel_entr, softmax

from zshash.hashing.steps.neighborhoods import compare, exponentials


def similarities(n, d=8, seed=0):
    """Cosines of random rows, and logits of others, float32."""
    rng = np.random.RandomState(seed)
    Z, V = rng.standard_normal((2, n, d))
    Z /= np.linalg.norm(Z, axis=1, keepdims=True)
    return (Z @ Z.T).astype(np.float32), (V @ V.T / np.sqrt(d)).astype(np.float32)


def without_self(s):
    s = s.astype(np.float64)
    np.fill_diagonal(s, -np.inf)
    return s


def rates_of(teacher, perplexity):
    """1/τ of each row."""
    others = [np.delete(row, i).astype(np.float64) for i, row in enumerate(teacher)]

    def excess(log_rate, s):
        return entr(softmax(np.exp(log_rate) * s)).sum() - np.log(perplexity)

    return np.exp([brentq(excess, -9, 14, args=(s,)) for s in others])


def widths_of(teacher):
    """Distance of the mean similarity of each row from the largest one."""
    others = [np.delete(row, i).astype(np.float64) for i, row in enumerate(teacher)]
    return np.array([s.max() - s.mean() for s in others])


def compared(teacher, student, perplexity, guess=20.0):
    """Loss, p and the gradient by logits that `compare` gives, all in float64."""
    q, G = softmax(without_self(student), axis=1), student.copy()
    loss, guess = compare(teacher.copy(), G, 0, perplexity, guess)
    return loss, q - G, G.astype(np.float64), guess


@pytest.mark.parametrize(
    ("n", "perplexity"), [(5, 2), (40, 2), (40, 10), (40, 35), (300, 9), (300, 100)]
)
def test_neighbourhoods_have_the_perplexity_asked_for(n, perplexity):
    teacher, student = similarities(n)
    rates = rates_of(teacher, perplexity)
    exact = (rates * widths_of(teacher)).mean()
    _, p, _, guess = compared(teacher, student, perplexity, exact)
    np.testing.assert_allclose(entr(p.clip(0)).sum(axis=1), np.log(perplexity), atol=5e-4)
    np.testing.assert_allclose(
        p, softmax(rates[:, None] * without_self(teacher), axis=1), atol=0.01
    )
    assert guess == pytest.approx(exact, rel=0.02)


def test_a_guess_far_off_is_mended_call_by_call():
    teacher, student = similarities(200)
    exact = (rates_of(teacher, 8) * widths_of(teacher)).mean()
    for guess in (0.01, 20.0, 1e4):
        for _ in range(3):
            _, p, _, guess = compared(teacher, student, 8, guess)
        assert guess == pytest.approx(exact, rel=0.01)
        np.testing.assert_allclose(entr(p.clip(0)).sum(axis=1), np.log(8), atol=0.01)


def test_rows_whose_rates_differ_much_have_it_too():
    rng = np.random.RandomState(0)
    scales = np.exp(rng.uniform(-1.5, 1.5, (300, 1)))
    teacher = np.tanh(0.3 * scales * rng.standard_normal((300, 300))).astype(np.float32)
    teacher[np.arange(300), np.arange(300) - 1] = 1  # as of a row that is there twice
    student = np.zeros_like(teacher)
    rates = rates_of(teacher, 9)
    assert rates.max() > 10 * rates.min()
    for guess in (0.1, 20.0, (rates * widths_of(teacher)).mean()):
        _, p, _, _ = compared(teacher, student, 9, guess)
        np.testing.assert_allclose(entr(p.clip(0)).sum(axis=1), np.log(9), atol=5e-4)


@pytest.mark.parametrize("n", [3, 17, 260])
def test_loss_and_gradient_against_float64(n):
    teacher, student = similarities(n)
    perplexity = min(n - 1.5, 12.0)
    loss, p, G, _ = compared(teacher, student, perplexity, rates_of(teacher, perplexity).mean())
    q = softmax(without_self(student), axis=1)
    assert loss == pytest.approx(rel_entr(p.clip(0), q).sum(), rel=1e-4)
    np.testing.assert_allclose(G.sum(axis=1), 0, atol=1e-5)
    np.testing.assert_array_equal(np.diag(G), 0)


def test_the_gradient_against_finite_differences():
    teacher, student = similarities(9)
    _, p, G, _ = compared(teacher, student, 3.0, rates_of(teacher, 3).mean())

    def loss(logits):
        rest = ~np.eye(9, dtype=bool)
        log_q = log_softmax(without_self(logits), axis=1)
        return -(p[rest] * log_q[rest]).sum()

    numeric = np.zeros((9, 9))
    for place in np.ndindex(9, 9):
        step = np.zeros((9, 9))
        step[place] = 1e-5
        numeric[place] = (loss(student + step) - loss(student - step)) / 2e-5
    np.testing.assert_allclose(G, numeric, atol=1e-5)


def test_rows_in_blocks_give_what_all_at_once_do():
    teacher, student = similarities(50)
    whole = student.copy()
    loss, guess = compare(teacher.copy(), whole, 0, 6.0, 15.0)
    losses, guesses = [], []
    for first, last in ((0, 1), (1, 20), (20, 50)):
        block = student[first:last].copy()
        found = compare(teacher[first:last].copy(), block, first, 6.0, 15.0)
        np.testing.assert_array_equal(block, whole[first:last])
        losses.append(found[0])
        guesses.append(found[1])
    assert sum(losses) == pytest.approx(loss, rel=1e-12)
    assert np.average(guesses, weights=[1, 19, 30]) == pytest.approx(guess, rel=1e-12)


def test_of_two_rows_each_is_the_other_s_neighbour():
    teacher = np.array([[1, -0.3], [-0.3, 1]], dtype=np.float32)
    loss, p, G, _ = compared(teacher, 5 * teacher, 1.0)
    assert loss == pytest.approx(0, abs=1e-5)
    np.testing.assert_allclose(p, [[0, 1], [1, 0]], atol=1e-5)
    np.testing.assert_allclose(G, 0, atol=1e-5)


@pytest.mark.parametrize("similarity", [-1, 0, 1])
@pytest.mark.parametrize("perplexity", [1.5, 7, 8])
def test_rows_that_are_all_alike_are_all_neighbours(similarity, perplexity):
    teacher = np.full((9, 9), similarity, dtype=np.float32)
    loss, p, _, guess = compared(teacher, np.zeros((9, 9), dtype=np.float32), perplexity)
    np.testing.assert_allclose(p, (1 - np.eye(9)) / 8, atol=1e-6)
    assert loss == pytest.approx(0, abs=1e-4)
    assert np.isfinite(guess)


def test_a_perplexity_of_all_others_makes_them_alike():
    teacher, student = similarities(30)
    guess = 20.0
    for _ in range(3):
        _, p, _, guess = compared(teacher, student, 29.0, guess)
    np.testing.assert_allclose(p, (1 - np.eye(30)) / 29, atol=2e-3)


def test_similarities_of_plus_and_minus_one():
    groups = np.repeat(np.arange(4), 3)
    teacher = np.where(groups[:, None] == groups, 1, -1).astype(np.float32)
    loss, p, _, _ = compared(teacher, 8 * teacher, 2.001)
    twins = (groups[:, None] == groups) & ~np.eye(12, dtype=bool)
    np.testing.assert_allclose(p, twins / 2, atol=1e-3)
    assert loss == pytest.approx(0, abs=0.01)


def test_logits_far_apart_stay_finite():
    teacher, _ = similarities(20)
    student = np.where(np.eye(20, k=1) + np.eye(20, k=-19), 0, -1e4).astype(np.float32)
    loss, p, G, _ = compared(teacher, student, 5.0)
    assert np.isfinite(G).all()
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-5)
    off = without_self(student) < -1
    expected = 1e4 * p[off].sum() - entr(p.clip(0)).sum()
    assert loss == pytest.approx(expected, rel=1e-3)


def test_exponentials_against_numpy():
    for rate in (0.01, 1, 37.5):
        s = -np.linspace(0, 69, 10_001, dtype=np.float32) / np.float32(rate)
        out, powers = np.empty_like(s), np.empty(len(s), dtype=np.int32)
        exponentials(s, np.float32(rate), out, powers)
        exact = np.exp(np.float64(np.float32(rate)) * s)
        np.testing.assert_allclose(out, exact, rtol=2e-5)
        np.testing.assert_allclose(out, exact, atol=4e-6)
    exponentials(s := np.float32([-1e3, -1e30, -np.inf, -0.0]), np.float32(1), s, powers[:4])
    np.testing.assert_allclose(s, [2.0**-100] * 3 + [1], rtol=1e-5)
