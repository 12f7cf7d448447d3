"""Zero-shot hashing: short binary codes that find pictures of categories nobody labelled."""

from typing import TYPE_CHECKING

from zshash.hashing import (
    AGH,
    CCAITQ,
    COSDISH,
    DGH,
    IMH,
    ITQ,
    KSH,
    LFH,
    LSH,
    MLH,
    MTH,
    SDH,
    SSH,
    ZSH,
    ModelError,
    SpectralHashing,
    load,
    methods,
    save,
)

if TYPE_CHECKING:
    from zshash.collection import Collection, CollectionError
    from zshash.experiments import Selection, select

__all__ = [
    "AGH",
    "CCAITQ",
    "COSDISH",
    "DGH",
    "IMH",
    "ITQ",
    "KSH",
    "LFH",
    "LSH",
    "MLH",
    "MTH",
    "SDH",
    "SSH",
    "ZSH",
    "Collection",
    "CollectionError",
    "ModelError",
    "Selection",
    "SpectralHashing",
    "load",
    "methods",
    "save",
    "select",
]
__version__ = "0.1.0"


if not TYPE_CHECKING:

    def __getattr__(name):
        """Give what brings pictures and data sets with it when it is asked for."""
        if name in ("Collection", "CollectionError"):
            from zshash import collection

            return getattr(collection, name)
        if name in ("Selection", "select"):
            from zshash import experiments

            return getattr(experiments, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
