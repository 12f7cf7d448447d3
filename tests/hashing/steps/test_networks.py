import numpy as np
import pytest

from zshash.hashing.steps.networks import Adam, Weights, random_units

SHAPES = (5, 3), (3,), (5, 7), (7,), (7, 3)  # d = 5, l = 3, h = 7


def random_weights(dtype=np.float64, seed=0):
    rng = np.random.RandomState(seed)
    return Weights(*(rng.standard_normal(shape).astype(dtype) for shape in SHAPES))


def value(weights, X):
    """u, row by row and unit by unit."""
    W, b, A, a, outputs = weights
    return np.array(
        [
            [
                x @ W[:, bit]
                + b[bit]
                + sum(
                    max(0, x @ A[:, unit] + a[unit]) * outputs[unit, bit] for unit in range(len(a))
                )
                for bit in range(len(b))
            ]
            for x in X
        ]
    )


@pytest.fixture
def X():
    return np.random.RandomState(1).standard_normal((11, 5))


def test_outputs_unit_by_unit(X):
    weights = random_weights()
    np.testing.assert_allclose(weights.outputs(X, weights.hidden(X)), value(weights, X), rtol=1e-10)


def test_gradients_against_finite_differences(X):
    weights, dU = random_weights(), np.random.RandomState(2).standard_normal((11, 3))
    gradients = weights.gradients(X, weights.hidden(X), dU)
    for array, gradient in zip(weights, gradients, strict=True):
        assert gradient.shape == array.shape
        for place in np.ndindex(array.shape):
            kept, losses = array[place], []
            for step in (1e-6, -1e-6):
                array[place] = kept + step
                losses.append((value(weights, X) * dU).sum())
            array[place] = kept
            assert gradient[place] == pytest.approx((losses[0] - losses[1]) / 2e-6, abs=1e-7)


@pytest.mark.torch
def test_gradients_against_autograd(X):
    torch = pytest.importorskip("torch")
    weights, dU = random_weights(), np.random.RandomState(2).standard_normal((11, 3))
    W, b, A, a, outputs = learned = [torch.tensor(w, requires_grad=True) for w in weights]
    x = torch.from_numpy(X)
    (x @ W + b + torch.relu(x @ A + a) @ outputs).backward(torch.from_numpy(dU))
    for gradient, tensor in zip(weights.gradients(X, weights.hidden(X), dU), learned, strict=True):
        np.testing.assert_allclose(gradient, tensor.grad.numpy(), atol=1e-12)


def test_gradients_of_parts_add_up(X):
    weights, dU = random_weights(), np.random.RandomState(2).standard_normal((11, 3))
    whole = weights.gradients(X, weights.hidden(X), dU)
    total = weights.gradients(X[:4], weights.hidden(X[:4]), dU[:4])
    total += weights.gradients(X[4:], weights.hidden(X[4:]), dU[4:])
    for part, gradient in zip(total, whole, strict=True):
        np.testing.assert_allclose(part, gradient, atol=1e-12)


def test_the_network_after_a_map_of_its_inputs(X):
    weights, rng = random_weights(), np.random.RandomState(3)
    mean, T = rng.standard_normal(5), rng.standard_normal((5, 5))
    after, Z = weights.after(mean, T), (X - mean) @ T
    np.testing.assert_allclose(value(after, X), value(weights, Z), atol=1e-12)


def test_a_network_begins_as_a_linear_map(X):
    W = np.random.RandomState(4).standard_normal((5, 3))
    weights = random_units(W, 9, np.random.RandomState(5))
    assert [array.shape for array in weights] == [(5, 3), (3,), (5, 9), (9,), (9, 3)]
    assert {array.dtype for array in weights} == {np.dtype(np.float32)}
    np.testing.assert_allclose(value(weights, X), X @ W, atol=1e-5)
    assert np.abs(weights.A).min() > 0


def gradients_of_steps(n_steps):
    rng = np.random.RandomState(6)
    return [
        Weights(*(rng.standard_normal(shape).astype(np.float32) for shape in SHAPES))
        for _ in range(n_steps)
    ]


def rate_of(step):
    return 0.1 / (1 + step)


def test_adam_against_its_definition():
    weights = random_weights(np.float32)
    expected = [array.astype(np.float64) for array in weights]
    first = [np.zeros(shape) for shape in SHAPES]
    second = [np.zeros(shape) for shape in SHAPES]
    adam = Adam(weights)
    for step, gradients in enumerate(gradients_of_steps(20)):
        adam.step(gradients, rate_of(step))
        for k, g in enumerate(gradients):
            first[k] = 0.9 * first[k] + 0.1 * g
            second[k] = 0.999 * second[k] + 0.001 * np.square(g, dtype=np.float64)
            m, v = first[k] / (1 - 0.9 ** (step + 1)), second[k] / (1 - 0.999 ** (step + 1))
            expected[k] -= rate_of(step) * m / (np.sqrt(v) + 1e-8)
    for array, exact in zip(weights, expected, strict=True):
        np.testing.assert_allclose(array, exact, atol=1e-5)


@pytest.mark.torch
def test_adam_against_pytorch():
    torch = pytest.importorskip("torch")
    weights = random_weights(np.float32)
    learned = [torch.tensor(array, requires_grad=True) for array in weights]
    adam, other = Adam(weights), torch.optim.Adam(learned, lr=1.0)
    for step, gradients in enumerate(gradients_of_steps(20)):
        adam.step(gradients, rate_of(step))
        for tensor, gradient in zip(learned, gradients, strict=True):
            tensor.grad = torch.from_numpy(gradient)
        other.param_groups[0]["lr"] = rate_of(step)
        other.step()
    for array, tensor in zip(weights, learned, strict=True):
        np.testing.assert_allclose(array, tensor.detach().numpy(), atol=1e-5)


def test_weights_without_a_gradient_stay():
    weights = random_weights(np.float32)
    before = [array.copy() for array in weights]
    zeros = Weights(*(np.zeros(shape, dtype=np.float32) for shape in SHAPES))
    Adam(weights).step(zeros, 1.0)
    for array, kept in zip(weights, before, strict=True):
        np.testing.assert_array_equal(array, kept)
