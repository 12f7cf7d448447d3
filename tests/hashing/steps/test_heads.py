"""The training that the heads of deep hashing share, against NumPy."""

import numpy as np
import pytest
from scipy import special

torch = pytest.importorskip("torch")

from zshash import CSQ, BiHalf  # noqa: E402
from zshash.hashing.steps import heads  # noqa: E402
from zshash.hashing.steps.distillation import pace  # noqa: E402
from zshash.hashing.steps.networks import Adam  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.fixture(name="rng")
def random_numbers():
    return np.random.RandomState(0)


def test_inputs_are_centred_and_scaled(rng):
    X = (5 + 3 * rng.standard_normal((400, 7))).astype(np.float32)
    mean, scale = heads.centre_and_scale(X)
    Z = (X - mean) / scale
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-5)
    assert np.square(Z).mean() == pytest.approx(1, rel=1e-5)
    assert heads.centre_and_scale(np.ones((3, 2), np.float32))[1] == 1


@pytest.mark.parametrize(("n", "size"), [(10, 4), (100, 32), (3, 8), (64, 64)])
def test_every_epoch_has_all_samples(n, size, rng):
    draws = heads.draw_batches(n, size, rng)
    orders = []
    for _ in range(3):
        epoch = []
        is_last = False
        while not is_last:
            rows, is_last = next(draws)
            epoch.append(rows)
        assert min(map(len, epoch)) >= min(n, size)
        orders.append(np.concatenate(epoch))
        np.testing.assert_array_equal(np.sort(orders[-1]), np.arange(n))
    assert (orders[0] != orders[1]).any()


@pytest.mark.parametrize("n_units", [0, 5])
def test_steps_are_those_of_numpy(n_units, rng):
    """Two steps for ‖u + c‖²/2 with weight decay, where c is trained, too."""
    Z = rng.standard_normal((20, 6)).astype(np.float32)
    ours = heads.random_head(6, 4, n_units, np.random.RandomState(1))
    theirs = heads.random_head(6, 4, n_units, np.random.RandomState(1))
    for head in (ours, theirs):
        head.O += np.float32(0.3)
    c, other = np.ones(4, np.float32), np.ones(4, np.float32)
    training = heads.Training(
        [*ours, c], lambda u, _, c: (u + c).square().sum() / 2, 0.1, 0.01, n_steps=2
    )
    adam = Adam([*theirs, other])
    for progress in (0, 0.5):
        loss = training.step(Z, np.arange(20), progress)
        H = theirs.hidden(Z)
        dU = theirs.outputs(Z, H) + other
        assert loss == pytest.approx(np.square(dU).sum() / 2, rel=1e-5)
        gradients = [*theirs.gradients(Z, H, dU), dU.sum(axis=0)]
        decayed = [g + np.float32(0.01) * w for g, w in zip(gradients, adam.weights, strict=True)]
        adam.step(decayed, 0.1 * pace(progress, 2))
    for own, wanted in zip([*ours, c], [*theirs, other], strict=True):
        np.testing.assert_allclose(own, wanted, rtol=1e-4, atol=1e-6)


def test_the_number_of_threads_comes_back():
    before = torch.get_num_threads()
    with heads.one_thread():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before


def test_a_fit_needs_no_gradients_of_its_caller(rng):
    X, y = rng.standard_normal((40, 9)), np.arange(40) % 4
    hasher = CSQ(8, n_steps=5, random_state=0)
    codes = hasher.fit(X, y).encode(X)
    with torch.no_grad():
        np.testing.assert_array_equal(hasher.fit(X, y).encode(X), codes)


def test_cross_entropy_of_several_labels(rng):
    logits = rng.standard_normal((6, 4))
    sets = np.array([[1, 0, 0, 0], [0, 1, 1, 0], [1, 1, 1, 1], [0, 0, 0, 1]] * 2, float)[:6]
    wanted = sets / sets.sum(axis=1, keepdims=True)
    shares = heads.shares(sets)
    np.testing.assert_allclose(shares, wanted)
    expected = -(wanted * special.log_softmax(logits, axis=1)).sum(axis=1).mean()
    found = heads.cross_entropy(torch.from_numpy(logits), shares)
    assert found.item() == pytest.approx(expected)


def test_cosine_gap_pairs_the_halves_of_a_batch(rng):
    X, B = rng.standard_normal((7, 5)), np.sign(rng.standard_normal((7, 8)))
    gaps = []
    for i in range(3):  # 0 with 3, 1 with 4, 2 with 5; the last is left out
        cosines = [
            own[i] @ own[i + 3] / (np.linalg.norm(own[i]) * np.linalg.norm(own[i + 3]))
            for own in (X, B)
        ]
        gaps.append((cosines[0] - cosines[1]) ** 2)
    found = heads.cosine_gap(torch.from_numpy(X), torch.from_numpy(B))
    assert found.item() == pytest.approx(np.mean(gaps))


def test_features_that_must_not_change(rng):
    X = rng.standard_normal((40, 9)).astype(np.float32)
    X.flags.writeable = False
    hasher = BiHalf(8, n_steps=2, normalize=False, random_state=0)
    np.testing.assert_array_equal(hasher.fit(X).encode(X), hasher.fit(X.copy()).encode(X))


def test_gradients_pass_the_bits(rng):
    outputs = torch.from_numpy(rng.standard_normal((5, 3))).requires_grad_()
    bits = outputs.detach().sign()
    passed = heads.through(outputs, bits)
    assert torch.equal(passed, bits)
    slopes = torch.from_numpy(rng.standard_normal((5, 3)))
    (passed * slopes).sum().backward()
    assert torch.equal(outputs.grad, slopes)
