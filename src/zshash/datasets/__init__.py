"""Data sets on disk, and their splits into seen and unseen categories."""

from zshash.datasets.cifar import read_cifar
from zshash.datasets.clipart import read_clipart
from zshash.datasets.data import DataError, Dataset, Pictures
from zshash.datasets.digits import digits
from zshash.datasets.downloads import fetch
from zshash.datasets.folders import read_folder
from zshash.datasets.idx import read_idx
from zshash.datasets.manifests import read_manifest
from zshash.datasets.mirflickr import read_mirflickr
from zshash.datasets.opening import open_data
from zshash.datasets.pseudo_unseen import PseudoUnseenSplit
from zshash.datasets.splits import Split, conventional_split, zero_shot_split
from zshash.datasets.tables import load_features
from zshash.datasets.tiny_imagenet import read_tiny_imagenet

__all__ = [
    "DataError",
    "Dataset",
    "Pictures",
    "PseudoUnseenSplit",
    "Split",
    "conventional_split",
    "digits",
    "fetch",
    "load_features",
    "open_data",
    "read_cifar",
    "read_clipart",
    "read_folder",
    "read_idx",
    "read_manifest",
    "read_mirflickr",
    "read_tiny_imagenet",
    "zero_shot_split",
]
