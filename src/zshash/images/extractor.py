"""The base class of all extractors, which turn pictures into features."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zshash.images.categories import Categories, TextTower

if TYPE_CHECKING:
    from PIL import Image

    from zshash.images.decoding import Limits, Source

__all__ = ["Extractor", "digest", "file_digest"]


class Extractor(ABC):
    """Turns pictures into features.

    `prepare` and `run` may be called by several threads at once.

    Attributes
    ----------
    name : str
        As given to `extractor`.
    dimension : int
        Length of a feature vector.
    fingerprint : str
        Digest of weights and preparation: differs whenever features of a picture would differ.
    side : int
        Least width and height of the pictures that `prepare` needs.
    batch_size : int
        Pictures that the network takes at once.
    categories : Categories or None
        What the network was trained to tell apart, loaded when it is first asked for; None where
        the network is no classifier, its features are not what its last layer takes, or nobody
        says which categories these are.
    text : TextTower or None
        The part of the network that turns texts into vectors beside the features; None where it
        has no such part.
    """

    name: str
    dimension: int
    fingerprint: str
    side: int = 0
    batch_size: int = 4

    @cached_property
    def categories(self) -> Categories | None:
        """What the network was trained to tell apart, if that is known."""
        return None

    @cached_property
    def text(self) -> TextTower | None:
        """The part of the network that reads texts, if it has one."""
        return None

    @abstractmethod
    def prepare(self, image: "Image.Image") -> NDArray[np.float32]:
        """Input of the network for one RGB picture of any size."""

    @abstractmethod
    def run(self, batch: NDArray[np.float32]) -> NDArray[np.float32]:
        """Features (n, dimension) of n prepared pictures."""

    def extract(
        self,
        pictures: Iterable["Source"] | NDArray[np.uint8],
        *,
        limits: "Limits | None" = None,
    ) -> NDArray[np.float32]:
        """Extract features of pictures, on all cores.

        Parameters
        ----------
        pictures : list of paths, bytes or arrays, or ndarray of shape (n, height, width[, 3])
        limits : Limits, optional
            Limits on pixels and bytes of each picture.

        Returns
        -------
        ndarray of shape (n, dimension), float32

        Raises
        ------
        PictureError
            At the first picture that can not be read.
        """
        from zshash.images.pipeline import extract

        return extract(self, _as_list(pictures), limits)

    def __repr__(self) -> str:
        return f"<extractor {self.name}: {self.dimension} dimensions>"


def _as_list(pictures: Any) -> Any:
    if isinstance(pictures, str | bytes) or hasattr(pictures, "__fspath__"):
        raise TypeError(f"expected a list of pictures, not the single {type(pictures).__name__}")
    if isinstance(pictures, np.ndarray):
        if pictures.ndim not in (3, 4) or (pictures.ndim == 3 and pictures.shape[2] in (3, 4)):
            raise TypeError(
                f"expected pictures of shape (n, height, width[, 3]), got {pictures.shape}; "
                "put a single one in a list"
            )
        return pictures
    return list(pictures)


def digest(*parts: str) -> str:
    """Common sha256 of several texts, which differs if any text differs.

    >>> digest("ab", "c") == digest("a", "bc")
    False
    """
    total = hashlib.sha256()
    for part in parts:
        total.update(hashlib.sha256(part.encode()).digest())
    return total.hexdigest()


def file_digest(path: Path) -> str:
    """The sha256 of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
