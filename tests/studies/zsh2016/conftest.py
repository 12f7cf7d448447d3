import numpy as np
import pytest

from zshash.datasets import Dataset, digits
from zshash.studies.data import Sources

CATEGORIES = (
    *("airplane", "automobile", "bird", "cat", "deer"),
    *("dog", "frog", "horse", "ship", "truck"),
)


@pytest.fixture(scope="session")
def sources():
    return Sources()


@pytest.fixture(scope="session")
def animals():
    """Some digits, with names that are near each other in WordNet and far from each other."""
    data = digits()
    return Dataset(data.X[:500], data.labels[:500], CATEGORIES)


@pytest.fixture(scope="session")
def animals_file(animals, tmp_path_factory):
    path = tmp_path_factory.mktemp("features") / "animals.npz"
    np.savez(path, X=animals.X, y=animals.labels, names=list(animals.names))
    return str(path)
