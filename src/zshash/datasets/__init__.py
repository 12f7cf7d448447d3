"""Data on disk, and which of it is seen."""

from zshash.datasets.data import DataError, Dataset, Pictures
from zshash.datasets.digits import digits
from zshash.datasets.splits import Split, conventional_split, zero_shot_split
from zshash.datasets.tables import load_features

__all__ = [
    "DataError",
    "Dataset",
    "Pictures",
    "Split",
    "conventional_split",
    "digits",
    "load_features",
    "zero_shot_split",
]
