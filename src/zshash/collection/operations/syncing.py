"""Syncing: the items are made to agree with the pictures that a folder holds now."""

import os
import warnings
from collections.abc import Collection as Container
from functools import partial
from pathlib import Path

import numpy as np

from zshash._interrupts import check, interruptible
from zshash.collection.errors import CollectionError
from zshash.collection.operations.adding import add_pictures, encode
from zshash.collection.operations.fields import check_labels, check_sources, names_of, stored_source
from zshash.collection.operations.inputs import Columns
from zshash.collection.operations.pictures import Drawn, Look, extract, look_at
from zshash.collection.operations.sync_plan import Place, Plan, make_plan
from zshash.collection.operations.writing import Report, by_the_model, stored_features
from zshash.collection.results import Synced
from zshash.collection.storage.rows import Ids, Row, row_checksum, to_item
from zshash.collection.storage.store import Store
from zshash.collection.storage.tables import rows_of, rows_where
from zshash.datasets import DataError, Pictures
from zshash.datasets.listing import pictures_below
from zshash.images.reading import warn_of_failures
from zshash.learning.model import Model

__all__ = ["sync"]

AT_ONCE = 256


def sync(store: Store, folder: str | Path) -> Synced:
    """Make the items agree with the picture files of a folder: add, change, move and remove.

    If a call is interrupted, the next one does the rest: each step leaves a collection that a plan
    can start from, and nothing is removed before the rest is done.
    """
    root = Path(os.path.abspath(folder))  # noqa: PTH100, drops what is before ".."
    if not root.is_dir():
        raise CollectionError(
            f"{root}: there is no such folder, so nothing was added or removed; is its disk there?"
        )
    with store.writing():
        with interruptible():
            paths = [str(path) for path in pictures_below(root, root.parent)]
        below = _items_below(store, root)
        if below and not paths:
            raise CollectionError(
                f"{root}: no picture is left there of {len(below)} in the collection: is its disk "
                "there? Remove them by their path if they are to go"
            )
        looks, unread = _look(store, paths, below)
        plan = make_plan(paths, below, looks, unread, _owners(store, looks))
        report = Report(failures=list(unread.values()))
        _update(store, plan)
        changed = _change(store, plan, report)
        _add(store, root, plan.added, report)
        if plan.removed:
            with store.changing() as change:
                change.remove(plan.removed)
    warn_of_failures(report.failures, len(paths), stacklevel=3)
    added = report.result()
    return Synced(added.ids, _ids(changed), _ids(plan.moved), _ids(plan.removed), added.failures)


def _ids(numbers: Container[int]) -> Ids:
    return np.array(sorted(numbers), dtype=np.int64)


def _items_below(store: Store, root: Path) -> list[Row]:
    """Items whose sources lie in a folder."""
    prefix = str(root).rstrip(os.sep) + os.sep
    raw = prefix.encode("utf-8", "surrogatepass")
    wanted = {(len(prefix), stored_source(prefix)), (len(raw), raw)}
    condition = "(" + " OR ".join(["substr(source, 1, ?) = ?"] * len(wanted)) + ")"
    values = [value for pair in wanted for value in pair]
    with store.looking() as connection:
        tally = store.catalogue.state().items
        blocks = rows_where(connection, store.folder, tally, condition, values)
        return [Row._make(row[:9]) for rows in blocks for row in rows]


def _look(
    store: Store, paths: list[str], below: list[Row]
) -> tuple[dict[str, Look], dict[str, str]]:
    """Content hash of each file, and why some can not be read; only new-looking files are read."""
    known = {(to_item(row).source, row.size, row.mtime_ns): row for row in below}
    looks: dict[str, Look] = {}
    unread: dict[str, str] = {}
    for path in paths:
        check()
        try:
            status = Path(path).stat()
        except OSError as error:
            unread[path] = f"{path}: {error.strerror}"
            continue
        row = known.get((path, status.st_size, status.st_mtime_ns))
        look: Look | str
        if row is not None and row.content is not None:
            look = Look(row.content, row.size, row.mtime_ns)
        else:
            look = look_at(Path(path), store.reader.limits)
        if isinstance(look, Look):
            looks[path] = look
        else:
            unread[path] = look
    return looks, unread


def _owners(store: Store, looks: dict[str, Look]) -> dict[bytes, Row]:
    """Items with the contents of the files, by content, wherever their sources are."""
    there = store.known(look.content for look in looks.values())
    with store.looking() as connection:
        rows = rows_of(connection, store.folder, list(there.values()))
    return {content: rows[number] for content, number in there.items()}


def _update(store: Store, plan: Plan) -> None:
    """Store the new paths of items, and the sizes and times of their files."""
    placed = plan.moved | plan.touched
    if placed:
        with store.changing() as change:
            rows = rows_of(store.catalogue.connection, store.folder, list(placed))
            change.replace([_placed(row, *placed[row.id]) for row in rows.values()])


def _placed(row: Row, path: str, look: Look, code: bytes | None = None) -> Row:
    row = row._replace(
        code=row.code if code is None else code,
        source=stored_source(path),
        content=look.content,
        size=look.size,
        mtime_ns=look.mtime_ns,
    )
    return row._replace(checksum=row_checksum(*row[:8]))


def _change(store: Store, plan: Plan, report: Report) -> list[int]:
    """Encode files that hold another picture now; their items keep ids, labels and metadata."""
    ids, done = list(plan.changed), list[int]()
    for start in range(0, len(ids), AT_ONCE):
        group = {number: plan.changed[number] for number in ids[start : start + AT_ONCE]}
        numbers, failures = by_the_model(store, partial(_change_group, store, group))
        report.failures += failures
        done += numbers
    return done


def _change_group(
    store: Store, group: dict[int, Place], model: Model
) -> tuple[list[int], list[str]]:
    """Encode the files of some items as one batch, by a model; ids, and what can not be read."""
    files = Pictures(tuple(Path(path) for path, _ in group.values()))
    looks = [look for _, look in group.values()]
    drawn = extract(model, files, looks, side=store.about["thumbnails"])
    ids = list(group)
    numbers = [ids[place] for place in drawn.rows]
    done = _write_changed(store, group, numbers, drawn, model) if numbers else []
    return done, list(drawn.failures.values())


def _write_changed(
    store: Store, group: dict[int, Place], numbers: list[int], drawn: Drawn, model: Model
) -> list[int]:
    """Write codes, features and thumbnails of items; return the ids of those that are there."""
    codes = encode(model, drawn.features)
    with store.changing() as change:
        rows = rows_of(store.catalogue.connection, store.folder, numbers)
        there = [place for place, number in enumerate(numbers) if number in rows]
        done = [numbers[place] for place in there]
        new = [
            _placed(rows[number], *group[number], code.tobytes())
            for number, code in zip(done, codes[there], strict=True)
        ]
        change.replace(new, codes[there], model.checksum)
        small = {numbers[place]: drawn.thumbnails[place] for place in there}
        change.put("thumbnails", {number: value for number, value in small.items() if value})
        if store.about["keep_features"]:
            ids = np.array(done, dtype=np.int64)
            change.put("features", stored_features(ids, drawn.features[there]))
    return done


def _add(store: Store, root: Path, paths: list[str], report: Report) -> None:
    if not paths:
        return
    with interruptible():
        known = _labels(store, root)
    n = len(paths)
    columns = Columns(
        check_sources(paths, n), check_labels([known.get(path) for path in paths], n), ["{}"] * n
    )
    pictures = Pictures(tuple(map(Path, paths)), root=root.resolve())
    with store.bar(n) as bar:
        add_pictures(store, pictures, columns, report, bar.update)


def _labels(store: Store, root: Path) -> dict[str, list[str]]:
    """Labels of files by the folder's layout; empty if the layout gives no labels."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pictures = store.model.open(str(root))
    except DataError:
        return {}
    if not isinstance(pictures, Pictures) or pictures.labels is None:
        return {}
    words = names_of(pictures.labels, pictures.names)
    return dict(zip(map(os.path.abspath, pictures.paths), words, strict=False))
