"""Thumbnails of items that are there already, made again from the files of their pictures."""

import os
from collections.abc import Sequence
from functools import partial
from typing import Any

from zshash._interrupts import check, interruptible
from zshash._threads import map_blocks
from zshash.collection.operations.copies import picture
from zshash.collection.operations.creating import side_of
from zshash.collection.operations.originals import OriginalError, read_original
from zshash.collection.results import Remade
from zshash.collection.storage.rows import Item
from zshash.collection.storage.store import Store
from zshash.collection.storage.tables import items_of, whole_blobs

__all__ = ["remake"]

AT_ONCE = 256  # items of a transaction
ROUNDED = 0.02  # of a side: large pictures are decoded at an eighth of their size


def remake(store: Store, side: int) -> Remade:
    """Make all thumbnails again that are not WebP of this side; new pictures get such, too.

    Whatever was made before an interruption stays, and is not made again.
    """
    side = side_of(side)
    if not side:
        raise ValueError("thumbnails have at least one pixel: give their longer side")
    made, fine, failures = 0, 0, list[str]()
    with store.writing() as state, store.bar(state.items.n) as bar:
        ids = store.ids().tolist()
        for start in range(0, len(ids), AT_ONCE):
            check()
            group = ids[start : start + AT_ONCE]
            new, reasons = _made(store, group, side)
            if new:
                with store.changing() as change:
                    change.put("thumbnails", new)
            made, fine = made + len(new), fine + len(group) - len(new) - len(reasons)
            failures += reasons
            bar.update(len(group))
        _keep_side(store, side)
    return Remade(made, fine, tuple(failures))


def _made(store: Store, ids: Sequence[int], side: int) -> tuple[dict[int, bytes], list[str]]:
    """New thumbnails by id, and why others could not be made."""
    with store.looking() as connection:
        items = items_of(connection, store.folder, ids)
        small = whole_blobs(connection, "thumbnails", ids)
    before = int(store.about["thumbnails"])
    wanted = [
        item for n, item in items.items() if not _is_fine(item, small.get(n), side, before or side)
    ]
    with interruptible():
        found = list(map_blocks(partial(_one, store, side), wanted))
    pairs = list(zip(wanted, found, strict=True))
    new = {item.id: one for item, one in pairs if isinstance(one, bytes)}
    return new, [one for one in found if isinstance(one, str)]


def _is_fine(item: Item, small: bytes | None, side: int, before: int) -> bool:
    """Whether a thumbnail is as it would be made now.

    If the size of the picture is not known, a thumbnail that is smaller than those of the album
    are, is of a picture that has no more pixels.
    """
    from zshash.images.thumbnails import fitted, media_type, size_of

    size = size_of(small) if small else None
    if small is None or size is None or media_type(small) != "image/webp":
        return False
    if item.seen_size is not None:
        wanted = max(fitted(*item.seen_size, side))
        return abs(max(size) - wanted) <= ROUNDED * wanted
    return max(size) >= side or max(size) < before


def _one(store: Store, side: int, item: Item) -> bytes | str:
    """New thumbnail of an item, or why there is none."""
    from zshash.images.decoding import PictureError, decode
    from zshash.images.thumbnails import thumbnail

    check()
    path, limits = picture(store, item), store.reader.limits
    if path is None:
        return f"item {item.id}: no picture is known for it"
    try:
        data = read_original(path, item.content, limits)
        return thumbnail(decode(data, limits, side // 2), side)
    except (OriginalError, PictureError) as error:
        reason = str(error)
        return reason if reason.startswith(os.fspath(path)) else f"{path}: {reason}"


def _keep_side(store: Store, side: int) -> None:
    """Let pictures that are added from now on have thumbnails of this side."""
    if store.about["thumbnails"] == side:
        return
    about: dict[str, Any] = store.about | {"thumbnails": side}
    with store.changing():
        store.catalogue.put_setting("about", about)
    store.about = about
