"""The base class of all extractors, which turn pictures into features."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

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
    """

    name: str
    dimension: int
    fingerprint: str
    side: int = 0
    batch_size: int = 4

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
