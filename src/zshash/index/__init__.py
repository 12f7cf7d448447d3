"""Find the neighbours of codes exactly: bits by Hamming distance, parts by inner products."""

from typing import TYPE_CHECKING, Any

from zshash.index.memory import HammingIndex
from zshash.index.product import ProductIndex
from zshash.index.protocol import CodeIndex

if TYPE_CHECKING:
    from zshash.index.milvus import MilvusIndex

__all__ = ["CodeIndex", "HammingIndex", "MilvusIndex", "ProductIndex"]


def __getattr__(name: str) -> Any:
    """Import `MilvusIndex`, which needs an optional package, when it is first used."""
    if name == "MilvusIndex":
        from zshash.index.milvus import MilvusIndex

        return MilvusIndex
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
