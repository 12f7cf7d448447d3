"""Short binary codes that find pictures of categories nobody labelled.

Learn a model from pictures or features, turn pictures into codes, and search them:

>>> import zshash
>>> from zshash.datasets import digits
>>> data = digits()
>>> model = zshash.fit(data.X, data.labels, names=data.names, unseen=["four", "seven"])
>>> model.encode(data.X[:2]).shape  # 64 bits each
(2, 8)

A `Collection` keeps pictures with their codes in a folder on disk and searches them by picture and
by name. Every method of the field is an estimator here: `methods` lists them.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zshash.client import Client
    from zshash.collection import Collection, CollectionError, Found, Match
    from zshash.evaluation import Selection, select
    from zshash.hashing import (
        AGH,
        CCAITQ,
        CNNH,
        COSDISH,
        CSQ,
        DGH,
        DPN,
        IMH,
        ITQ,
        KSH,
        LFH,
        LSH,
        MLH,
        MTH,
        SDH,
        SMMH,
        SSH,
        ZSH,
        BiHalf,
        GreedyHash,
        ModelError,
        OrthoHash,
        SpectralHashing,
        methods,
    )
    from zshash.learning import Model, fit, load

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
    "Client",
    "Collection",
    "CollectionError",
    "Found",
    "GreedyHash",
    "Match",
    "Model",
    "ModelError",
    "OrthoHash",
    "Selection",
    "SpectralHashing",
    "fit",
    "load",
    "methods",
    "select",
]
__version__ = "0.1.0"

_ROOMS = (
    "client",
    "codes",
    "collection",
    "datasets",
    "evaluation",
    "hashing",
    "images",
    "index",
    "learning",
    "metrics",
    "scale",
    "semantics",
)
_HOMES = {
    "client": ("Client",),
    "collection": ("Collection", "CollectionError", "Found", "Match"),
    "evaluation": ("Selection", "select"),
    "learning": ("Model", "fit", "load"),
}
_HOME_OF = {name: room for room, names in _HOMES.items() for name in names}

if not TYPE_CHECKING:

    def __getattr__(name):
        """Load a public name, or a room, when it is first asked for."""
        if name in _ROOMS:
            return import_module(f"{__name__}.{name}")
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{_HOME_OF.get(name, 'hashing')}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_ROOMS, *globals()})
