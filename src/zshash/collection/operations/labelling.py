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

__all__ = ["label", "with_labels"]

AT_ONCE = 4096


def label(store: Store, ids: Ids, labels: Any, add: bool = False) -> int:
    """Give items these labels, in place of theirs or beside them; return how many have changed."""
    words: list[str] = json.loads(check_labels([labels], 1)[0])
    changed = 0
    with store.writing():
        check_known(store, ids, ", so no label was changed")
        with store.changing() as change:
            for start in range(0, len(ids), AT_ONCE):
                check()
                group = ids[start : start + AT_ONCE].tolist()
                rows = rows_of(store.catalogue.connection, store.folder, group)
                new = [_labelled(row, words, add) for row in rows.values()]
                new = [row for row in new if row != rows[row.id]]
                change.replace(new)
                changed += len(new)
    return changed


def _labelled(row: Row, words: Sequence[str], add: bool) -> Row:
    own = json.loads(row.labels) if add else []
    return with_labels(row, [*own, *words])


def with_labels(row: Row, words: Sequence[str]) -> Row:
    """Row with other labels, each of them once."""
    return with_fields(row, labels=to_text(list(dict.fromkeys(words))))
