import numpy as np
import pytest
from sklearn.datasets import load_digits


@pytest.fixture(scope="session")
def digits():
    """Shuffled digits: 1,500 rows to learn from with their labels, and 297 others."""
    X, y = load_digits(return_X_y=True)
    order = np.random.RandomState(0).permutation(len(X))
    X, y = X[order].astype(np.float32), y[order]
    return X[:1500], y[:1500], X[1500:]


@pytest.fixture(scope="session")
def clusters():
    """4,000 rows around twelve centres, of an odd width, with labels, and 500 others."""
    rng = np.random.RandomState(3)
    y = rng.randint(0, 12, 4500)
    X = 1.2 * rng.standard_normal((12, 37))[y] + rng.standard_normal((4500, 37))
    return X[:4000].astype(np.float32), y[:4000], X[4000:].astype(np.float32)
