"""What a network knows of names: the categories of a classifier, or a tower that reads texts."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Categories", "TextTower"]


@dataclass(frozen=True, eq=False)
class Categories:
    """What a classifier was trained to tell apart: ids, names and directions in feature space.

    The classifier's output for features X is ``X @ directions.T + biases``, a column for each
    category.

    Attributes
    ----------
    ids : tuple of str
        WordNet ids, such as "n02123045"; "" for a category without a known id.
    names : tuple of str
        Readable names.
    directions : ndarray of shape (c, d), float32
        Weights of the classifier's last layer. The array is a copy that can not be written to.
    biases : ndarray of shape (c,), float32
        Biases of the last layer, copied in the same way.

    Raises
    ------
    ValueError
        If the lengths differ or a number is not finite.

    Examples
    --------
    >>> known = Categories(("n02123045", ""), ("tabby", "unicorn"), np.eye(2), np.zeros(2))
    >>> len(known), known.without(["n02123045"]).names
    (2, ('unicorn',))
    """

    ids: tuple[str, ...]
    names: tuple[str, ...]
    directions: NDArray[np.float32]
    biases: NDArray[np.float32]

    def __post_init__(self) -> None:
        set_field = object.__setattr__  # the way to fill a frozen instance
        set_field(self, "ids", _texts("ids", self.ids))
        set_field(self, "names", _texts("names", self.names))
        set_field(self, "directions", _numbers("directions", self.directions, n_axes=2))
        set_field(self, "biases", _numbers("biases", self.biases, n_axes=1))
        lengths = [len(self.ids), len(self.names), len(self.directions), len(self.biases)]
        if len(set(lengths)) > 1:
            raise ValueError(f"ids, names, directions and biases have different lengths: {lengths}")

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of ids, names, directions and biases: differs if any of them differs."""
        total = hashlib.sha256()
        total.update(json.dumps([self.ids, self.names, self.directions.shape]).encode())
        for numbers in (self.directions, self.biases):
            total.update(numbers.astype("<f4").tobytes())
        return total.hexdigest()

    def without(self, ids: Iterable[str]) -> "Categories":
        """Categories with other ids than these, in the same order.

        Parameters
        ----------
        ids : iterable of str
            WordNet ids. Ids of no category are ignored; categories without an id always stay.
        """
        hidden = {*_texts("ids", ids)} - {""}
        rows = [row for row, each in enumerate(self.ids) if each not in hidden]
        return Categories(
            tuple(self.ids[row] for row in rows),
            tuple(self.names[row] for row in rows),
            self.directions[rows],
            self.biases[rows],
        )

    def __repr__(self) -> str:
        return f"<{len(self)} categories in {self.directions.shape[1]} dimensions>"


class TextTower(Protocol):
    """The part of a network that turns texts into vectors in the space of the picture features."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of the texts as they are given, (n, dimension), of unit length."""


def _texts(what: str, texts: Iterable[Any]) -> tuple[str, ...]:
    checked = (texts,) if isinstance(texts, str) else tuple(texts)
    if isinstance(texts, str) or not all(isinstance(text, str) for text in checked):
        raise TypeError(f"{what} must be a list of strings")
    return tuple(str(text) for text in checked)


def _numbers(what: str, numbers: Any, n_axes: int) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):  # numbers too large for float32 are found below
        copied = np.array(numbers, dtype=np.float32, order="C")
    if copied.ndim != n_axes:
        raise ValueError(f"{what} must have {n_axes} axes, got an array of shape {copied.shape}")
    if not np.isfinite(copied).all():
        raise ValueError(f"{what} must be finite numbers")
    copied.flags.writeable = False
    return copied
