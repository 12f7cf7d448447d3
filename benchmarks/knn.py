"""Quality of the default network's features: nearest neighbours on CIFAR-10.

    python benchmarks/knn.py FOLDER [--quick]

FOLDER holds CIFAR-10 as it is distributed. Ten times, 2,000 of its 10,000 test pictures are drawn
to learn from, and 500 others are classified by their 10 nearest neighbours. A quick run takes
handwritten digits instead.
"""

import argparse

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from zshash.datasets import Dataset, Pictures, digits, read_cifar
from zshash.images import PictureReader

N_TEST_PICTURES = 10_000


def cifar_test(folder: str) -> Pictures:
    """The test pictures, which are the last ones."""
    pictures = read_cifar(folder, which="cifar10")
    return pictures.select(np.arange(len(pictures) - N_TEST_PICTURES, len(pictures)))


def some_digits(n: int) -> Pictures:
    """Handwritten digits as grey pictures."""
    data = digits()
    assert data.images is not None
    return Pictures(data.images, data.labels, data.names).select(np.arange(n))


def accuracy(data: Dataset, seed: int, n_train: int, n_test: int) -> float:
    """Share of the drawn test pictures that their neighbours classify rightly."""
    assert data.labels is not None
    rows = np.random.RandomState(seed).permutation(len(data))
    train, test = rows[:n_train], rows[n_train : n_train + n_test]
    model = KNeighborsClassifier(n_neighbors=10).fit(data.X[train], data.labels[train])
    return float(model.score(data.X[test], data.labels[test]))


def main() -> None:
    """Print the mean over ten draws, for features as they are and at unit length."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", nargs="?", help="CIFAR-10 as it is distributed")
    parser.add_argument("--quick", action="store_true", help="a small run, to see that it works")
    given = parser.parse_args()
    if not given.quick and not given.folder:
        parser.error("give the folder that holds CIFAR-10")
    pictures = some_digits(200) if given.quick else cifar_test(given.folder)
    sizes = (120, 60) if given.quick else (2_000, 500)
    found = PictureReader(cache=False, progress=True).features(pictures)
    lengths = np.linalg.norm(found.X, axis=1, keepdims=True)
    print(f"{len(found)} pictures, {sizes[0]} to learn from, {sizes[1]} to classify, ten draws")
    for name, X in (("as they are", found.X), ("unit length", found.X / lengths)):
        data = Dataset(X, found.labels, found.names)
        scores = [accuracy(data, seed, *sizes) for seed in range(10)]
        print(f"{name}: 10-NN accuracy {np.mean(scores):.3f} ± {np.std(scores, ddof=1):.3f}")
    print(f"chance: {1 / len(found.names):.3f}")


if __name__ == "__main__":
    main()
