"""Find the neighbours of packed codes by Hamming distance, exactly."""

from zshash.index.memory import HammingIndex

__all__ = ["HammingIndex"]
