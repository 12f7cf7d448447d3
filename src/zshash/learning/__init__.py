"""Models (hash function, network, names and notes), learned from pictures, labels and names."""

from zshash.learning.fitting import fit
from zshash.learning.model import Model, load

__all__ = ["Model", "fit", "load"]
