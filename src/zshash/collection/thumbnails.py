"""Small JPEG pictures of the items, to show what was found."""

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from zshash._threads import map_blocks
from zshash.images import Limits

__all__ = ["make_thumbnail", "make_thumbnails"]

QUALITY = 80


def make_thumbnail(source: Any, side: int, limits: Limits | None = None) -> bytes | None:
    """A picture of at most `side` pixels either way, as JPEG; None where it can not be read."""
    from zshash.images.decoding import PictureError, decode

    try:
        image = decode(source, limits, side)
    except PictureError:
        return None
    image.thumbnail((side, side))
    image.info.clear()  # remarks, which Pillow would write down again
    file = BytesIO()
    image.save(file, "JPEG", quality=QUALITY)
    return file.getvalue()


def make_thumbnails(
    sources: "list[Path] | np.ndarray[Any, Any]", side: int, limits: Limits
) -> list[bytes | None]:
    """Thumbnails of several pictures, on all cores; none at all where `side` is 0."""
    if not side:
        return [None] * len(sources)
    places = range(len(sources))
    return list(map_blocks(lambda place: make_thumbnail(sources[place], side, limits), places))
