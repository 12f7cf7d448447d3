"""Methods that learn a hash function, one file per paper."""

from zshash.hashing.agh import AGH
from zshash.hashing.bihalf import BiHalf
from zshash.hashing.cnnh import CNNH
from zshash.hashing.cosdish import COSDISH
from zshash.hashing.csq import CSQ
from zshash.hashing.dgh import DGH
from zshash.hashing.dpn import DPN
from zshash.hashing.files import ModelError, load, read_header, save
from zshash.hashing.greedyhash import GreedyHash
from zshash.hashing.imh import IMH
from zshash.hashing.itq import CCAITQ, ITQ
from zshash.hashing.ksh import KSH
from zshash.hashing.lfh import LFH
from zshash.hashing.lsh import LSH
from zshash.hashing.mlh import MLH
from zshash.hashing.mth import MTH
from zshash.hashing.orthohash import OrthoHash
from zshash.hashing.registry import Method, methods
from zshash.hashing.sdh import SDH
from zshash.hashing.smmh import SMMH
from zshash.hashing.spectral import SpectralHashing
from zshash.hashing.ssh import SSH
from zshash.hashing.zsh import ZSH

__all__ = [
    "AGH",
    "CCAITQ",
    "CNNH",
    "COSDISH",
    "CSQ",
    "DGH",
    "DPN",
    "IMH",
    "ITQ",
    "KSH",
    "LFH",
    "LSH",
    "MLH",
    "MTH",
    "SDH",
    "SMMH",
    "SSH",
    "ZSH",
    "BiHalf",
    "GreedyHash",
    "Method",
    "ModelError",
    "OrthoHash",
    "SpectralHashing",
    "load",
    "methods",
    "read_header",
    "save",
]
