"""One run: codes of training pictures, a network that learns them, and scores."""

import hashlib
import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from zshash import codes, metrics
from zshash._extras import needs
from zshash.datasets import DataError, Pictures
from zshash.evaluation.tasks import Record
from zshash.hashing.cnnh import class_shares, factorise
from zshash.hashing.steps.similarity import Similarity
from zshash.studies.cnnh2014.protocol import (
    QUERIES,
    TRAINED,
    Goals,
    PixelSplit,
    split_pictures,
)
from zshash.studies.data import Sources, open_pictures
from zshash.studies.tasks import MethodTask

__all__ = ["Pixels", "check_pictures"]

SWEEPS = 20  # of the first stage, at most


@dataclass(frozen=True, kw_only=True)
class Pixels(MethodTask):
    """CNNH, or CNNH+ with the parameter `classes`, from pixels.

    Attributes
    ----------
    epochs : int
        How often the network sees each training picture.
    side : int or None
        With a side, EfficientNet-Lite0 goes on learning, from its weights of ImageNet, on pictures
        that are enlarged to so many pixels; without, the paper's network begins with random ones.
    n_queries, n_train : int
        Queries and training pictures of each category.
    """

    epochs: int = 60
    side: int | None = None
    n_queries: int = QUERIES
    n_train: int = TRAINED

    kind: ClassVar[str] = "pixels"

    def __post_init__(self) -> None:
        if self.method != "CNNH":
            raise DataError(f"{self.kind}: CNNH alone learns from pixels, not {self.method}")

    @property
    def name(self) -> str:
        """CNNH, or CNNH+, which also learns the classes; and the network, if it is another."""
        name = "CNNH+" if self.parameters.get("classes") else "CNNH"
        return f"{name}, EfficientNet-Lite0 of {self.side} pixels" if self.side else name

    @property
    def label(self) -> str:
        """Variant and bits."""
        return f"{self.name}, {self.bits} bits"

    def rehearse(self, sources: Sources) -> str:
        """Check PyTorch, the device, the pictures and their number; returns the checksum."""
        with needs("torch"):
            from zshash.scale.device import find_device
        find_device(sources.device)
        pixels, labels = check_pictures(open_pictures(self.data, sources))
        split_pictures(labels, self.n_queries, self.n_train)
        digest = hashlib.sha256(np.ascontiguousarray(pixels).data)
        digest.update(labels.data)
        return digest.hexdigest()[:16]

    def run(self, seed: int, sources: Sources) -> Record:
        """Scores of one seed: MAP over the whole ranking, and precision within 2 bits."""
        with needs("torch"):
            from zshash.studies.cnnh2014.training import learn
        pixels, labels = check_pictures(open_pictures(self.data, sources))
        split = split_pictures(labels, self.n_queries, self.n_train, seed)
        started = time.perf_counter()
        goals = self._goals(labels[split.train], seed)
        outputs, losses = learn(
            pixels, split.train, goals, self.epochs, seed, sources.device, self.side
        )
        seconds = time.perf_counter() - started
        return {
            "seed": seed,
            **_scores(codes.pack(outputs[:, : self.bits] >= 0), labels, split),
            "losses": [round(loss, 4) for loss in losses],
            "fit_seconds": round(seconds, 1),
            "device": sources.device,
        }

    def _goals(self, labels: NDArray[np.int64], seed: int) -> Goals:
        """What the network learns: codes of the first stage, and the classes for CNNH+."""
        classes, own = np.unique(labels, return_inverse=True)
        pairs = Similarity(np.eye(len(classes), dtype=np.float32), own)
        relaxed, _ = factorise(pairs, self.bits, SWEEPS, check_random_state(seed))
        signs = np.where(relaxed >= 0, 1, -1).astype(np.float32)
        return Goals(signs, class_shares(pairs) if self.parameters.get("classes") else None)


def _scores(packed: NDArray[np.uint8], labels: NDArray[np.int64], split: PixelSplit) -> Record:
    same = metrics.same_label(labels[split.queries], labels[split.database])
    found = metrics.evaluate(packed[split.queries], packed[split.database], same, k=None)
    return {"map": round(float(found["map"]), 4), "precision": round(float(found["precision"]), 4)}


def check_pictures(pictures: Pictures) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Pixels (n, side, side[, 3]) and labels (n,) of pictures that the study can use."""
    pixels, labels = pictures.sources, pictures.labels
    if not isinstance(pixels, np.ndarray) or pixels.ndim not in (3, 4):
        raise DataError("the network needs pixels of one size, such as those of CIFAR-10")
    if pixels.shape[1] != pixels.shape[2]:
        raise DataError(f"the network needs square pictures, got {pixels.shape[1:3]} pixels")
    if labels is None or labels.ndim != 1:
        raise DataError("the network needs one label for each picture")
    return pixels, labels.astype(np.int64)
