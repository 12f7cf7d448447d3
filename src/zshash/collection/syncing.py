"""Bringing a collection to what a folder of pictures holds now."""

import os
import warnings
from collections.abc import Collection as Container
from pathlib import Path

import numpy as np

from zshash.collection.adding import add_pictures, encode
from zshash.collection.errors import CollectionError
from zshash.collection.fields import check_labels, check_sources, names_of, stored_source
from zshash.collection.inputs import Columns
from zshash.collection.pictures import Look, extract, look_at
from zshash.collection.plan import Plan, make_plan
from zshash.collection.rows import COLUMNS, Ids, Row, Synced, row_checksum, to_item
from zshash.collection.store import Store
from zshash.collection.tables import check_rows, known_contents, rows_of
from zshash.collection.writing import Report, stored_features
from zshash.datasets import DataError, Pictures
from zshash.datasets.listing import pictures_below
from zshash.images.reading import warn_of_failures

__all__ = ["sync"]

AT_ONCE = 256


def sync(store: Store, folder: str | Path) -> Synced:
    """Add, change, move and remove items as the files of a folder were.

    What is interrupted is done by the next call: each step leaves a collection that a plan can
    start from, and nothing is removed before the rest is done.
    """
    root = Path(os.path.abspath(folder))  # noqa: PTH100, drops what is before ".."
    if not root.is_dir():
        raise CollectionError(
            f"{root}: there is no such folder, so nothing was added or removed; is its disk there?"
        )
    with store.writing():
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
    rows = []
    with store.looking() as connection:
        for length, start in wanted:
            condition = f"SELECT {COLUMNS} FROM items WHERE substr(source, 1, ?) = ? ORDER BY id"
            rows += check_rows(store.folder, connection.execute(condition, [length, start]))
    return rows


def _look(
    store: Store, paths: list[str], below: list[Row]
) -> tuple[dict[str, Look], dict[str, str]]:
    """What each file holds now, and why some can not be read; only what seems new is read."""
    known = {(to_item(row).source, row.size, row.mtime_ns): row for row in below}
    looks: dict[str, Look] = {}
    unread: dict[str, str] = {}
    for path in paths:
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
    """The items that have the contents of the files, wherever their sources are."""
    with store.looking() as connection:
        there = known_contents(connection, (look.content for look in looks.values()))
        rows = rows_of(connection, store.folder, list(there.values()))
    return {content: rows[number] for content, number in there.items()}


def _update(store: Store, plan: Plan) -> None:
    """Write down where items are now, and sizes and times of their files."""
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
    ids, done = list(plan.changed), []
    for start in range(0, len(ids), AT_ONCE):
        group = ids[start : start + AT_ONCE]
        looks = [plan.changed[number][1] for number in group]
        files = Pictures(tuple(Path(plan.changed[number][0]) for number in group))
        drawn = extract(store.encoder, files, looks, side=store.about["thumbnails"])
        report.failures += drawn.failures.values()
        good = np.array([group[place] for place in drawn.rows], dtype=np.int64)
        if not len(good):
            continue
        codes = encode(store, drawn.features)
        with store.changing() as change:
            rows = rows_of(store.catalogue.connection, store.folder, good.tolist())
            numbers = good.tolist()
            change.replace(
                [
                    _placed(rows[number], *plan.changed[number], code.tobytes())
                    for number, code in zip(numbers, codes, strict=True)
                ],
                codes,
            )
            small = zip(numbers, drawn.thumbnails, strict=True)
            change.put("thumbnails", {number: value for number, value in small if value})
            if store.about["keep_features"]:
                change.put("features", stored_features(good, drawn.features))
        done += numbers
    return done


def _add(store: Store, root: Path, paths: list[str], report: Report) -> None:
    if not paths:
        return
    known = _labels(store, root)
    n = len(paths)
    columns = Columns(
        check_sources(paths, n), check_labels([known.get(path) for path in paths], n), ["{}"] * n
    )
    pictures = Pictures(tuple(map(Path, paths)), root=root.resolve())
    with store.bar(n) as bar:
        add_pictures(store, pictures, columns, report, bar.update)


def _labels(store: Store, root: Path) -> dict[str, list[str]]:
    """Labels that the folder's layout gives to files, none where it gives none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pictures = store.encoder.open(str(root))
    except DataError:
        return {}
    if not isinstance(pictures, Pictures) or pictures.labels is None:
        return {}
    words = names_of(pictures.labels, pictures.names)
    return dict(zip(map(os.path.abspath, pictures.paths), words, strict=False))
