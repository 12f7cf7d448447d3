"""Methods that learn a hash function, one file per paper."""

from zshash.hashing.files import ModelError, load, read_header, save
from zshash.hashing.lsh import LSH
from zshash.hashing.zsh import ZSH

__all__ = ["LSH", "ZSH", "ModelError", "load", "read_header", "save"]
