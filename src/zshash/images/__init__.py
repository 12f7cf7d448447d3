"""Pictures read and turned into features."""

from zshash.images.categories import Categories, TextTower
from zshash.images.extractor import Extractor
from zshash.images.limits import Limits
from zshash.images.networks import extractor
from zshash.images.reading import PictureReader, PictureWarning

__all__ = [
    "Categories",
    "Extractor",
    "Limits",
    "PictureReader",
    "PictureWarning",
    "TextTower",
    "extractor",
]
