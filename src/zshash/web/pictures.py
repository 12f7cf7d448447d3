"""Pictures of items as clients get them: made from the original on demand, and kept for a while."""

import hashlib
import os
from collections.abc import Iterable
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from zshash._cache import cache_folder
from zshash.collection import Collection
from zshash.collection.errors import CollectionError
from zshash.collection.operations.originals import OriginalError, read_original
from zshash.images import Limits
from zshash.web.errors import ApiError
from zshash.web.export_forms import safe_name
from zshash.web.kept import KeptFiles, private_folder
from zshash.web.settings import Settings

__all__ = ["JPEG", "SIDES", "WEBP", "Pictures", "Wanted", "attachment", "tag_of"]

JPEG, WEBP = "JPEG", "WEBP"
SIDES = (640, 1280, 1600, 2560, 4096)  # longer sides that pictures are made with
QUALITIES = {JPEG: 85, WEBP: 80}
Place = tuple[int, ...]
VERSION = "1"  # raise it with any change of how pictures are made


class Wanted(NamedTuple):
    """A picture that a client wants, as the file of the original is now.

    Attributes
    ----------
    number : int
        Id of the item.
    path : Path
        File of the original.
    content : bytes or None
        Hash of the bytes that were added, if it is known.
    side : int
        Longer side in pixels.
    kind : str
        "WEBP" or "JPEG".
    key : str
        The same for the same picture alone.
    """

    number: int
    path: Path
    content: bytes | None
    side: int
    kind: str
    key: str


class Pictures:
    """Larger pictures of the items of a collection.

    They are made from the files of the items. The files themselves are never sent, because their
    metadata may tell where a picture was taken.

    Parameters
    ----------
    collection : Collection
    settings : Settings
    """

    def __init__(self, collection: Collection, settings: Settings) -> None:
        self._collection = collection
        self._limits = Limits(pixels=settings.pixels, bytes=settings.bytes)
        self._kept = KeptFiles(
            _folder() if settings.picture_cache else None, settings.picture_cache
        )

    def wanted(self, number: int, side: int, kind: str) -> Wanted:
        """The picture of an item with at least this longer side; 404 if its file is gone."""
        side = next((own for own in SIDES if own >= side), SIDES[-1])
        path, content, place = self._original(number)
        return Wanted(
            number, path, content, side, kind, self._key(path, content, place, side, kind)
        )

    def _original(self, number: int) -> tuple[Path, bytes | None, Place]:
        """File of an item's picture, the hash of its content, and which file it is now."""
        item, path = self._collection[number], self._collection.picture(number)
        try:
            if path is None:
                raise FileNotFoundError
            found = path.stat()
        except (OSError, ValueError):
            raise _missing(number) from None
        place = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
        return path, item.content, place

    def _key(self, path: Path, content: bytes | None, place: Place, side: int, kind: str) -> str:
        facts = (VERSION, os.fspath(path), content, place, side, kind, self._limits)
        return hashlib.blake2b(repr(facts).encode(), digest_size=16).hexdigest()

    def kept(self, wanted: Wanted) -> bytes | None:
        """The picture, if it was made before and is still there."""
        return self._kept.get(wanted.key)

    def make(self, wanted: Wanted) -> bytes:
        """Make the picture and keep it; 404 if its file is no picture any more."""
        from zshash.images.decoding import PictureError, decode
        from zshash.images.thumbnails import encode, shrunk

        try:
            data = read_original(wanted.path, wanted.content, self._limits, changed=True)
            image = decode(data, self._limits, wanted.side // 2)
        except (OriginalError, PictureError):
            raise _missing(wanted.number) from None
        content = encode(shrunk(image, wanted.side), wanted.kind, QUALITIES[wanted.kind])
        self._kept.put(wanted.key, content)
        return content

    def keys(self, numbers: Iterable[int]) -> list[str]:
        """Keys of all pictures that may have been kept of items."""
        found = []
        for number in numbers:
            with suppress(ApiError, CollectionError):  # there is no picture
                own = self._original(number)
                found += [self._key(*own, *how) for how in product(SIDES, QUALITIES)]
        return found

    def drop(self, keys: Iterable[str]) -> None:
        """Delete kept pictures."""
        for key in keys:
            self._kept.drop(key)

    def get(self, number: int, side: int = 1600, kind: str = JPEG) -> bytes:
        """The picture of an item, kept or made now."""
        wanted = self.wanted(number, side, kind)
        return self.kept(wanted) or self.make(wanted)


def _folder() -> Path | None:
    try:
        return private_folder(cache_folder() / "pictures")
    except (OSError, CollectionError):
        return None


def _missing(number: int) -> ApiError:
    return ApiError(404, f"the picture of item {number} is not there")


def tag_of(content: bytes) -> str:
    """ETag of a content."""
    return f'"{hashlib.blake2b(content, digest_size=12).hexdigest()}"'


def attachment(file: str | None, number: int) -> str:
    r"""Header that lets a browser save a JPEG under the name of an item's file.

    >>> attachment("Kätzchen.HEIC", 3)
    'attachment; filename="K_tzchen.jpg"; filename*=UTF-8\'\'K%C3%A4tzchen.jpg'
    """
    name = safe_name(file, number)
    plain = "".join(
        one if one.isascii() and one.isprintable() and one not in '"%' else "_" for one in name
    )
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
