"""Categories of ImageNet, which most classifiers of pictures were trained to tell apart."""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from zshash.datasets.synset_names import synset_names, tell_apart
from zshash.images.categories import Categories

__all__ = ["imagenet_categories", "imagenet_ids"]


@cache
def imagenet_ids() -> tuple[str, ...]:
    """WordNet ids of the 1,000 categories of ILSVRC 2012, in the order of a classifier's outputs.

    >>> imagenet_ids()[281]
    'n02123045'
    """
    path = files("zshash.images") / "data" / "imagenet1k.txt"
    return tuple(path.read_text(encoding="ascii").split())


def imagenet_categories(
    directions: NDArray[np.float32],
    biases: NDArray[np.float32],
    *,
    ids: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
) -> Categories:
    """Categories of a classifier that was trained with ImageNet.

    Parameters
    ----------
    directions : ndarray of shape (c, d)
        Weights of the classifier's last layer.
    biases : ndarray of shape (c,)
    ids : sequence of str, optional
        WordNet ids of the categories; by default those of ILSVRC 2012.
    names : sequence of str, optional
        Names of the categories; by default WordNet's. A name of several categories gets the
        category's id added.

    Examples
    --------
    >>> known = imagenet_categories(np.zeros((1000, 8)), np.zeros(1000))
    >>> known.names[281], known.names[134]
    ('tabby', 'crane (n02012849)')
    """
    ids = imagenet_ids() if ids is None else ids
    names = synset_names(ids, []) if names is None else names
    return Categories(tuple(ids), tell_apart(names, ids, "ImageNet"), directions, biases)
