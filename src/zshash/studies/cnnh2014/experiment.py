"""One run of the study: codes of training pictures, a network that learns them, and scores."""

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from zshash import codes, metrics
from zshash._extras import needs
from zshash.datasets import DataError, Pictures
from zshash.evaluation.tasks import Record, Task
from zshash.hashing.cnnh import class_shares, factorise
from zshash.hashing.steps.similarity import Similarity
from zshash.studies.cnnh2014.network import convolutional_network, outputs_of
from zshash.studies.cnnh2014.protocol import (
    KEYS,
    QUERIES,
    TRAINED,
    PixelSplit,
    split_pictures,
)
from zshash.studies.cnnh2014.training import Ready, Schedule, prepared, train_network

with needs("torch"):
    import torch

__all__ = ["PixelRun", "Work", "check_pictures", "label_of"]

SWEEPS = 20  # of the first stage, at most
ENCODED = 500  # pictures that the network sees at a time


@dataclass(frozen=True)
class Work:
    """What all runs share: pictures, the device, and a function that is told of each epoch."""

    pictures: Pictures
    device: str = "cpu"
    tell: Ready | None = None


@dataclass(frozen=True)
class PixelRun(Task):
    """CNNH, or CNNH+ with `classes`, from pixels.

    Attributes
    ----------
    bits : int
    classes : bool
        Whether the network also learns the classes, as CNNH+ does.
    schedule : Schedule
    n_queries, n_train : int
        Queries and training pictures of each category.
    """

    bits: int = 48
    classes: bool = False
    schedule: Schedule = field(default_factory=Schedule)
    n_queries: int = QUERIES
    n_train: int = TRAINED

    @property
    def label(self) -> str:
        """Text that a progress bar shows while the task runs."""
        return label_of(self.bits, self.classes)

    def rehearse(self, context: Work) -> str:
        """Check pictures and labels; the runs of one file are all of the same pictures."""
        check_pictures(context.pictures)
        return ""

    def planned(self, seed: int) -> Record:
        """The part of the record that is known before the run, by `KEYS`."""
        values = self.bits, self.classes, self.schedule.epochs, self.n_queries, self.n_train
        return dict(zip(KEYS, (*values, seed), strict=True))

    def run(self, seed: int, context: Work) -> Record:
        """Scores of one seed: MAP over the whole ranking, and precision within 2 bits."""
        pixels, labels = check_pictures(context.pictures)
        split = split_pictures(labels, self.n_queries, self.n_train, seed)
        started = time.perf_counter()
        known = prepared(pixels, split.train).to(context.device)
        network, loss = self._fit(known, labels, split, seed, context.tell)
        seconds = time.perf_counter() - started
        projections = outputs_of(network, known, ENCODED)[:, : self.bits].numpy()
        return {
            **self.planned(seed),
            **_scores(codes.pack(projections >= 0), labels, split),
            "loss": round(loss, 4),
            "fit_seconds": round(seconds, 1),
            "device": context.device,
        }

    def _fit(
        self,
        pixels: Any,
        labels: NDArray[np.int64],
        split: PixelSplit,
        seed: int,
        tell: Ready | None,
    ) -> tuple[Any, float]:
        """The trained network, and the mean loss of the last epoch."""
        classes, own = np.unique(labels[split.train], return_inverse=True)
        pairs = Similarity(np.eye(len(classes), dtype=np.float32), own)
        relaxed, _ = factorise(pairs, self.bits, SWEEPS, check_random_state(seed))
        signs = np.where(relaxed >= 0, 1, -1).astype(np.float32)
        goals = torch.from_numpy(signs).to(pixels.device)
        shares = None
        if self.classes:
            shares = torch.from_numpy(class_shares(pairs)).to(pixels.device)
        n_outputs = self.bits + (len(classes) if self.classes else 0)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            network = convolutional_network(pixels.shape[3], pixels.shape[1], n_outputs)
        network.to(pixels.device)
        rows = torch.from_numpy(split.train).to(pixels.device)
        losses = train_network(network, pixels[rows], goals, shares, self.schedule, seed, tell)
        return network, losses[-1]


def _scores(packed: NDArray[np.uint8], labels: NDArray[np.int64], split: PixelSplit) -> Record:
    same = metrics.same_label(labels[split.queries], labels[split.database])
    found = metrics.evaluate(packed[split.queries], packed[split.database], same, k=None)
    return {"map": round(float(found["map"]), 4), "precision": round(float(found["precision"]), 4)}


def label_of(bits: int, classes: bool) -> str:
    """Name of a variant with its number of bits."""
    return f"{'CNNH+' if classes else 'CNNH'}, {bits} bits"


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
