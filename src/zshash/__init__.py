"""Zero-shot hashing: short binary codes that find pictures of categories nobody labelled."""

__version__ = "0.1.0"
