"""Syncing: the items are made to agree with the picture files of a folder or of a list."""

import json
from collections.abc import Collection as Container
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from zshash._interrupts import check, interruptible
from zshash.collection.operations.adding import add_pictures, encode
from zshash.collection.operations.features import as_kept
from zshash.collection.operations.fields import check_labels, check_sources, stored_source
from zshash.collection.operations.inputs import Columns
from zshash.collection.operations.labelling import with_labels
from zshash.collection.operations.pictures import Drawn, Look, extract, look_at
from zshash.collection.operations.portraits import Style
from zshash.collection.operations.same_files import put_same_files, same_files
from zshash.collection.operations.sync_labels import follow, former_labels, layout_labels
from zshash.collection.operations.sync_plan import Place, Plan, make_plan
from zshash.collection.operations.sync_scope import Scope, scope_of
from zshash.collection.operations.unreadable import Unreadable
from zshash.collection.operations.writing import Report, by_the_model, put_beside, with_facts
from zshash.collection.results import Synced
from zshash.collection.storage.rows import Ids, Row, to_item, to_text, with_fields
from zshash.collection.storage.store import Store
from zshash.collection.storage.tables import rows_of
from zshash.datasets import Pictures
from zshash.learning.model import Model

__all__ = ["sync"]

AT_ONCE = 256
SIZE = ("width", "height")


class _Sight(NamedTuple):
    """What was seen of the files, and what is to be done."""

    scope: Scope
    looks: dict[str, Look]
    failures: list[str]
    plan: Plan


def sync(
    store: Store, source: str | Path, *, keep_labels: bool = False, dry_run: bool = False
) -> Synced:
    """Make the items agree with the picture files of a folder: add, change, move and remove.

    If a call is interrupted, the next one does the rest: each step leaves a collection that a plan
    can start from, and nothing is removed before the rest is done.
    """
    with store.reading() if dry_run else store.writing():
        memory = Unreadable(store)
        seen = _look_around(store, source, memory)
        done = _foreseen(store, seen) if dry_run else _do(store, seen, memory, keep_labels)
    memory.warn(done.failures, len(seen.scope.paths))
    return done._replace(told=len(memory.told))


def _look_around(store: Store, source: str | Path, memory: Unreadable) -> _Sight:
    scope = scope_of(store, source)
    looks, unread = _look(store, scope, memory)
    plan = make_plan(scope.paths, scope.rows, looks, unread, _owners(store, looks))
    new = [message for path, message in unread.items() if path not in memory.told]
    return _Sight(scope, looks, new, plan)


def _foreseen(store: Store, seen: _Sight) -> Synced:
    """What a sync would do; new items get the ids that are next, if all files can be read."""
    plan, sources = seen.plan, {row.id: to_item(row).source for row in seen.scope.rows}
    first = store.catalogue.state().next_id
    new = {first + place: path for place, path in enumerate(plan.added)}
    with store.looking() as connection:
        rows = rows_of(connection, store.folder, list(plan.moved))
    paths: dict[int, tuple[str | None, str | None]] = {
        number: (to_item(rows[number]).source, path) for number, (path, _) in plan.moved.items()
    }
    paths |= {number: (path, path) for number, (path, _) in plan.changed.items()}
    paths |= {number: (sources[number], None) for number in plan.removed}
    paths |= {number: (None, path) for number, path in new.items()}
    return Synced(
        *(_ids(new), _ids(plan.changed), _ids(plan.moved), _ids(plan.removed)),
        failures=tuple(seen.failures),
        copies=plan.copies,
        paths=paths,
    )


def _do(store: Store, seen: _Sight, memory: Unreadable, keep_labels: bool) -> Synced:
    scope, plan, report = seen.scope, seen.plan, Report(failures=list(seen.failures))
    with interruptible():
        known = layout_labels(store, scope.root) if plan.added or plan.moved else {}
    _update(store, plan, {} if keep_labels else _moved_labels(store, seen, known))
    changed = _change(store, plan, report)
    _add(store, scope.root, plan.added, known, report)
    if plan.removed:
        with store.changing() as change:
            change.remove(plan.removed)
    copies, there = _note_copies(store, seen), set(scope.paths)
    memory.remember(report.failures, lambda path: scope.contains(path) and path not in there)
    added = report.result()
    gone = _ids(plan.removed)
    return Synced(added.ids, _ids(changed), _ids(plan.moved), gone, added.failures, copies)


def _ids(numbers: Container[int]) -> Ids:
    return np.array(sorted(numbers), dtype=np.int64)


def _look(store: Store, scope: Scope, memory: Unreadable) -> tuple[dict[str, Look], dict[str, str]]:
    """Content hash of each file, and why some can not be read; only new-looking files are read."""
    known = {(to_item(row).source, row.size, row.mtime_ns): row for row in scope.rows}
    looks: dict[str, Look] = {}
    unread: dict[str, str] = {}
    for path in scope.paths:
        check()
        row = known.get((path, *_size_and_time(path)))
        look: Look | str
        if row is not None and row.content is not None:
            look = Look(row.content, row.size, row.mtime_ns)
        elif memory.is_told(path):
            look = memory.told[path]
        else:
            look = look_at(Path(path), store.reader.limits)
        if isinstance(look, Look):
            looks[path] = look
        else:
            unread[path] = look
    return looks, unread


def _size_and_time(path: str) -> tuple[int, int]:
    try:
        status = Path(path).stat()
    except OSError:
        return -1, -1
    return status.st_size, status.st_mtime_ns


def _owners(store: Store, looks: dict[str, Look]) -> dict[bytes, Row]:
    """Items with the contents of the files, by content, wherever their sources are."""
    there = store.known(look.content for look in looks.values())
    with store.looking() as connection:
        rows = rows_of(connection, store.folder, list(there.values()))
    return {content: rows[number] for content, number in there.items()}


def _moved_labels(
    store: Store, seen: _Sight, known: dict[str, list[str]]
) -> dict[int, tuple[list[str] | None, list[str]]]:
    """For each item that moves inside a folder: labels by its earlier folder and by the new one."""
    plan, scope = seen.plan, seen.scope
    if not plan.moved or not scope.root.is_dir():
        return {}
    sources = {row.id: to_item(row).source or "" for row in scope.rows}
    before = former_labels(store, scope.root, sources.values())
    return {
        number: (before.get(sources[number]), known.get(path, []))
        for number, (path, _) in plan.moved.items()
        if number in sources
    }


def _update(
    store: Store, plan: Plan, labels: dict[int, tuple[list[str] | None, list[str]]]
) -> None:
    """Store the new paths of items, labels that follow, and the sizes and times of the files."""
    placed = plan.moved | plan.touched
    if placed:
        with store.changing() as change:
            rows = rows_of(store.catalogue.connection, store.folder, list(placed))
            new = {number: _placed(row, *placed[number]) for number, row in rows.items()}
            for number in labels.keys() & new.keys():
                own = json.loads(new[number].labels)
                new[number] = with_labels(new[number], follow(own, *labels[number]))
            change.replace(list(new.values()))


def _placed(row: Row, path: str, look: Look, code: bytes | None = None) -> Row:
    return with_fields(
        row,
        code=row.code if code is None else code,
        source=stored_source(path),
        content=look.content,
        size=look.size,
        mtime_ns=look.mtime_ns,
    )


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
    drawn = extract(model, files, looks, style=Style.of(store.about))
    ids = list(group)
    numbers = [ids[place] for place in drawn.rows]
    done = _write_changed(store, group, numbers, drawn, model) if numbers else []
    return done, list(drawn.failures.values())


def _write_changed(
    store: Store, group: dict[int, Place], numbers: list[int], drawn: Drawn, model: Model
) -> list[int]:
    """Write codes, features and portraits of items; return the ids of those that are there."""
    features = as_kept(store.about, drawn.features)
    codes = encode(model, features)
    with store.changing() as change:
        rows = rows_of(store.catalogue.connection, store.folder, numbers)
        there = [place for place, number in enumerate(numbers) if number in rows]
        done = [numbers[place] for place in there]
        portraits = [drawn.portraits[place] for place in there]
        new = [
            _with_facts(_placed(rows[number], *group[number], code.tobytes()), portrait.facts)
            for number, code, portrait in zip(done, codes[there], portraits, strict=True)
        ]
        change.replace(new, codes[there], model.checksum)
        put_beside(store, change, np.array(done), features[there], portraits)
    return done


def _with_facts(row: Row, facts: dict[str, Any]) -> Row:
    """Row with what is known of its new picture; only the size takes the place of what was said."""
    own = {key: value for key, value in json.loads(row.metadata).items() if key not in SIZE}
    return with_fields(row, metadata=with_facts(to_text(own), facts))


def _add(
    store: Store, root: Path, paths: list[str], known: dict[str, list[str]], report: Report
) -> None:
    if not paths:
        return
    n = len(paths)
    columns = Columns(
        check_sources(paths, n), check_labels([known.get(path) for path in paths], n), ["{}"] * n
    )
    pictures = Pictures(tuple(map(Path, paths)), root=root.resolve())
    with store.bar(n) as bar:
        add_pictures(store, pictures, columns, report, bar.update)


def _note_copies(store: Store, seen: _Sight) -> dict[str, str]:
    """Store which files are copies of items; return those whose items are there."""
    copies, looks = seen.plan.copies, seen.looks
    ids = store.known({looks[path].content for path in copies})
    found: dict[int, list[str]] = {}
    for path in copies:
        if looks[path].content in ids:
            found.setdefault(ids[looks[path].content], []).append(path)
    before = same_files(store)
    now = {number: list[str]() for number in before} | found
    for number, own in before.items():
        now[number] = sorted([*now[number], *(p for p in own if not seen.scope.contains(p))])
    changed = {number: own for number, own in now.items() if own != before.get(number)}
    if changed:
        with store.changing() as change:
            put_same_files(change, changed)
    return {path: copies[path] for own in found.values() for path in own}
