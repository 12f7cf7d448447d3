"""Labels of items that are there already: given, changed and taken away in one transaction."""

import json
from collections.abc import Sequence
from typing import Any

from zshash._interrupts import check
from zshash.collection.operations.fields import check_labels
from zshash.collection.operations.items import check_known
from zshash.collection.storage.rows import Ids, Row, to_text, with_fields
from zshash.collection.storage.store import Store
from zshash.collection.storage.tables import rows_of

__all__ = ["HOW", "label", "with_labels"]

SET, ALSO, WITHOUT = "set", "also", "without"
HOW = (SET, ALSO, WITHOUT)
AT_ONCE = 4096


def label(store: Store, ids: Ids, labels: Any, how: str = SET) -> int:
    """Give items labels, or take these away; return how many items have changed."""
    if how not in HOW:
        raise ValueError(f"how is {', '.join(HOW[:-1])} or {HOW[-1]}, not {how!r}")
    words: list[str] = json.loads(check_labels([labels], 1)[0])
    changed = 0
    with store.writing():
        check_known(store, ids, ", so no label was changed")
        with store.changing() as change:
            for start in range(0, len(ids), AT_ONCE):
                check()
                group = ids[start : start + AT_ONCE].tolist()
                rows = rows_of(store.catalogue.connection, store.folder, group)
                new = [_labelled(row, words, how) for row in rows.values()]
                new = [row for row in new if row != rows[row.id]]
                change.replace(new)
                changed += len(new)
    return changed


def _labelled(row: Row, words: Sequence[str], how: str) -> Row:
    own: list[str] = [] if how == SET else json.loads(row.labels)
    if how == WITHOUT:
        return with_labels(row, [word for word in own if word not in words])
    return with_labels(row, [*own, *words])


def with_labels(row: Row, words: Sequence[str]) -> Row:
    """Row with other labels, each of them once."""
    return with_fields(row, labels=to_text(list(dict.fromkeys(words))))
