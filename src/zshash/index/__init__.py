"""Find the neighbours of packed codes by Hamming distance, exactly."""

from typing import TYPE_CHECKING, Any

from zshash.index.memory import HammingIndex
from zshash.index.protocol import CodeIndex

if TYPE_CHECKING:
    from zshash.index.milvus import MilvusIndex

__all__ = ["CodeIndex", "HammingIndex", "MilvusIndex"]


def __getattr__(name: str) -> Any:
    """Import `MilvusIndex`, which needs an optional package, when it is first used."""
    if name == "MilvusIndex":
        from zshash.index.milvus import MilvusIndex

        return MilvusIndex
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
