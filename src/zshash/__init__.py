"""Zero-shot hashing: short binary codes that find pictures of categories nobody labelled."""

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
    SDH,
    SSH,
    ZSH,
    ModelError,
    SpectralHashing,
    load,
    methods,
    save,
)

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
    "SDH",
    "SSH",
    "ZSH",
    "ModelError",
    "SpectralHashing",
    "load",
    "methods",
    "save",
]
__version__ = "0.1.0"
