"""Statistics of a network's features: made from pictures, and found for the data of a fit."""

from pathlib import Path
from typing import Any

from zshash.datasets import DataError
from zshash.hashing.hasher import Hasher
from zshash.hashing.mth import MTH
from zshash.hashing.steps.statistics import SHIPPED, Statistics, StatisticsError, open_statistics
from zshash.images import PictureReader
from zshash.learning.sources import as_data

__all__ = ["check_prior", "own_prior", "statistics"]


def statistics(source: Any, reader: PictureReader) -> Statistics:
    """Mean and covariance of the features of general pictures, for `MTH` as its prior.

    Parameters
    ----------
    source : path-like, list of paths, ndarray, Dataset or Pictures
        Pictures or features, as `zshash.fit` takes them. Labels are not looked at.
    reader : PictureReader
        How pictures are read.

    Raises
    ------
    DataError
        If there are too few pictures.
    """
    data = reader.features(as_data(source, reader))
    origin = Path(source).name if isinstance(source, str | Path) else "features in memory"
    try:
        return Statistics.of(data.X, data.extractor, f"{len(data)} samples of {origin}")
    except StatisticsError as error:
        raise DataError(str(error)) from error


def own_prior(extractor: dict[str, Any] | None) -> str | None:
    """Name of the shipped statistics for features of this network, or None."""
    if extractor is None or extractor.get("name") not in SHIPPED:
        return None
    name = str(extractor["name"])
    theirs = open_statistics(name).network.get("fingerprint")
    return name if theirs == extractor.get("fingerprint") else None


def check_prior(hasher: Hasher, extractor: dict[str, Any] | None) -> None:
    """Refuse statistics of another network than the one that made the features."""
    if not isinstance(hasher, MTH) or hasher.prior is None:
        return
    network = open_statistics(hasher.prior).network
    known = network.get("fingerprint")
    if extractor is not None and known is not None and known != extractor.get("fingerprint"):
        raise DataError(
            f"the prior has statistics of {network.get('name')}, and the features are of "
            f"{extractor.get('name')}, or of other weights: give statistics of the same network"
        )
