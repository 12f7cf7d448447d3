"""Texts that a PyTorch network turns into vectors in the space of its picture features."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash.semantics.names import unit

__all__ = ["TorchText"]

BATCH_SIZE = 64


class TorchText:
    """The part of a network that reads texts.

    Parameters
    ----------
    encode : callable
        Function from a list of at most 64 texts to an array of shape (n, dimension).
    dimension : int
        Length of a vector.

    Examples
    --------
    >>> TorchText(lambda texts: np.array([[len(text), 0.0] for text in texts]), 2).embed(["dog"])
    array([[1., 0.]], dtype=float32)
    """

    def __init__(self, encode: Callable[[list[str]], NDArray[Any]], dimension: int) -> None:
        self.dimension = dimension
        self._encode = encode

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of the texts as they are given, (n, dimension), of unit length."""
        if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
            raise TypeError("expected a list of texts")
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), BATCH_SIZE):
            batch = [str(text) for text in texts[start : start + BATCH_SIZE]]
            vectors[start : start + len(batch)] = unit(self._encode(batch), batch)
        return vectors
