"""Zero-shot hashing: short binary codes that find pictures of categories nobody labelled."""

from zshash.hashing import LSH, ZSH, ModelError, load, save

__all__ = ["LSH", "ZSH", "ModelError", "load", "save"]
__version__ = "0.1.0"
