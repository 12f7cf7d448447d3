"""Statistics of a network's features: what is known of features before any sample is seen.

The covariance of a few hundred samples with a thousand features is mostly noise. The mean and the
covariance of the same network's features over many other pictures are not, so they count as samples
that were seen before: ten for each feature.

A file of statistics is in the form of safetensors. It holds the mean, the standard deviations, and
the correlations above the diagonal as whole numbers of 16 bits, so 1,280 features take 1.6 MB.
"""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as write_tensors

from zshash._files import write_whole
from zshash.hashing.steps.linear import gram, mean_row
from zshash.hashing.steps.rows import Rows, check_values, unit_rows

__all__ = ["SHIPPED", "Statistics", "StatisticsError", "is_statistics", "open_statistics"]

FOLDER = Path(__file__).parent.parent / "priors"
SHIPPED = ("efficientnet-lite0",)
"""Networks whose statistics come with the package."""
PER_FEATURE = 10  # samples for each feature that statistics count as, at the most
OF_MEAN = 30  # samples that the mean counts as
METADATA_KEY, FORMAT_VERSION = "zshash-statistics", 1
STEPS = 32767  # from a correlation of 0 to one of 1
FEWEST = 100  # samples that statistics are made from


class StatisticsError(ValueError):
    """Statistics that can not be read or made; the message says why."""


@dataclass(frozen=True)
class Statistics:
    """Mean and covariance of features that were brought to unit length.

    Attributes
    ----------
    mean : ndarray of shape (d,), float32
    covariance : ndarray of shape (d, d), float64
    n : int
        Number of samples that they were made from.
    network : dict
        Name, options and fingerprint of the network that made the features; empty if unknown.
    about : str
        The pictures that they were made from.

    Examples
    --------
    >>> X = np.random.RandomState(0).standard_normal((200, 8))
    >>> statistics = Statistics.of(X)
    >>> statistics.n_features, statistics.n, statistics.weight
    (8, 200, 80)
    """

    mean: NDArray[np.float32]
    covariance: NDArray[np.float64]
    n: int
    network: dict[str, Any] = field(default_factory=dict)
    about: str = ""

    @classmethod
    def of(cls, X: ArrayLike, network: dict[str, Any] | None = None, about: str = "") -> Self:
        """Make statistics from features (n, d), which are brought to unit length first."""
        features = np.asarray(X, dtype=np.float32)
        if features.ndim != 2 or len(features) < FEWEST:
            raise StatisticsError(
                f"{len(features)} samples are too few for statistics: give {FEWEST} or more"
            )
        check_values(features)
        rows = Rows(unit_rows(features))
        mean = mean_row(rows)
        covariance = gram(rows, mean) / len(rows)
        return cls(mean, covariance, len(rows), dict(network or {}), about)

    @property
    def n_features(self) -> int:
        """Number of features d."""
        return len(self.mean)

    @property
    def weight(self) -> int:
        """Number of samples that the covariance counts as."""
        return min(self.n, PER_FEATURE * self.n_features)

    def blended(
        self, mean: NDArray[np.float32], covariance: NDArray[np.float64], n: int
    ) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
        """Mean and covariance of n samples together with those seen before."""
        of_mean, share = n / (n + OF_MEAN), n / (n + self.weight)
        blended = of_mean * mean + (1 - of_mean) * self.mean
        return blended.astype(np.float32), share * covariance + (1 - share) * self.covariance

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the statistics to a file, whole or not at all."""
        deviations = np.sqrt(np.diag(self.covariance))
        scales = np.where(deviations > 0, deviations, 1.0)
        correlations = self.covariance / np.outer(scales, scales)
        above = correlations[np.triu_indices(self.n_features, 1)]
        tensors = {
            "mean": self.mean,
            "deviations": deviations.astype(np.float32),
            "correlations": np.round(STEPS * np.clip(above, -1, 1)).astype(np.int16),
        }
        facts = {
            "version": FORMAT_VERSION,
            "n": self.n,
            "network": self.network,
            "about": self.about,
        }
        data = write_tensors(tensors, metadata={METADATA_KEY: json.dumps(facts, sort_keys=True)})
        write_whole(Path(path), data)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read statistics that `save` wrote.

        Raises
        ------
        StatisticsError
            If the file is missing, damaged, or holds something else.
        """
        try:
            with safe_open(path, framework="numpy") as file:
                facts = json.loads((file.metadata() or {}).get(METADATA_KEY, "null"))
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except (SafetensorError, ValueError, TypeError, OSError, RecursionError) as error:
            raise StatisticsError(
                f"{path}: not a file of statistics, or damaged ({error})"
            ) from error
        if not isinstance(facts, dict) or facts.get("version") != FORMAT_VERSION:
            raise StatisticsError(f"{path}: not a file of statistics that this zshash reads")
        try:
            return cls._from_tensors(tensors, facts)
        except (KeyError, ValueError, TypeError, OverflowError, MemoryError) as error:
            raise StatisticsError(
                f"{path}: the statistics do not fit together ({error})"
            ) from error

    @classmethod
    def _from_tensors(cls, tensors: dict[str, Any], facts: dict[str, Any]) -> Self:
        mean, deviations = tensors["mean"], tensors["deviations"].astype(np.float64)
        d = len(mean)
        correlations = np.zeros((d, d))
        correlations[np.triu_indices(d, 1)] = tensors["correlations"] / STEPS
        correlations += correlations.T
        np.fill_diagonal(correlations, 1.0)
        covariance = correlations * np.outer(deviations, deviations)
        network, n = facts["network"], facts["n"]
        if mean.ndim != 1 or not isinstance(network, dict) or not isinstance(n, int) or n < 1:
            raise ValueError("a part has the wrong form")
        if not (np.isfinite(mean).all() and np.isfinite(covariance).all()):
            raise ValueError("NaN or infinity")
        return cls(mean.astype(np.float32), covariance, n, network, str(facts["about"]))


def is_statistics(path: Path) -> bool:
    """Whether a file calls itself a file of statistics; it may still be damaged."""
    try:
        with safe_open(path, framework="numpy") as file:
            return METADATA_KEY in (file.metadata() or {})
    except (SafetensorError, ValueError, TypeError, OSError):
        return False


def open_statistics(prior: "Statistics | str | os.PathLike[str]") -> Statistics:
    """Statistics by the name of a network whose statistics are shipped, or from a file."""
    if isinstance(prior, Statistics):
        return prior
    if prior in SHIPPED:
        return Statistics.load(FOLDER / f"{prior}.safetensors")
    if not Path(prior).is_file():
        raise StatisticsError(
            f"{str(prior)!r} is neither a file of statistics nor a network whose statistics come "
            f"with the package ({', '.join(SHIPPED)})"
        )
    return Statistics.load(prior)
