"""Groups of copies as text, JSON or paths: what was found, what would go, what has gone."""

from collections.abc import Iterable, Sequence
from typing import Any

import click

from zshash.cli.listing import path_of
from zshash.cli.outputs import Form, write_paths
from zshash.cli.terminal import count, plain, print_json, printable
from zshash.collection import Collection, Duplicates, Group, Item
from zshash.collection.operations.choosing import Choice, Picture
from zshash.collection.operations.clearing import Cleared
from zshash.collection.operations.duplicates import ALIKE, IDENTICAL, SAME

__all__ = ["in_bytes", "n_files", "report_cleared", "show_groups", "show_plan"]

TITLES = {IDENTICAL: "equal files", SAME: "one picture", ALIKE: "look-alikes"}


def in_bytes(n: int) -> str:
    """Size of a file as people read it.

    >>> in_bytes(999), in_bytes(1500), in_bytes(23_000_000)
    ('999 bytes', '1.5 kB', '23.0 MB')
    """
    if n < 1000:
        return count(n, "byte", "", "s")
    size, unit = n / 1000, "kB"
    for larger in ("MB", "GB", "TB"):
        if size >= 1000:
            size, unit = size / 1000, larger
    return f"{size:.1f} {unit}"


def n_files(choices: Iterable[Choice]) -> int:
    """Number of files that would go."""
    return sum(len(_going(choice)) for choice in choices)


def _going(choice: Choice) -> list[str | None]:
    """Paths of the files that would go."""
    own = [[_path(picture), *picture.copies] for picture in choice.others]
    return [*choice.kept.copies, *(path for paths in own for path in paths)]


def _path(picture: Picture) -> str | None:
    return None if picture.path is None else str(picture.path)


def show_groups(opened: Collection, found: Duplicates, paths: bool, as_json: bool) -> None:
    """Print groups of copies or look-alikes."""
    if as_json:
        groups = [_facts(opened, group) for group in found]
        print_json({"groups": groups, "unknown": found.unknown})
    elif paths:
        _show_paths([_paths(opened, group) for group in found])
    else:
        for group in found:
            _show_group(opened, group)
        click.echo(_summary(found))


def _facts(opened: Collection, group: Group) -> dict[str, Any]:
    return {"level": group.level, "items": [_item(opened, group, item) for item in group.items]}


def _item(opened: Collection, group: Group, item: Item) -> dict[str, Any]:
    sizes = {name: item.metadata.get(name) for name in ("width", "height")}
    copies = {"copies": group.copies.get(item.id, [])}
    facts = {"id": item.id, "path": path_of(opened, item), "labels": list(item.labels)}
    cropped = {"cropped": item.id in group.cropped}
    return {**facts, **sizes, "bytes": item.size, **cropped, **copies}


def _paths(opened: Collection, group: Group) -> list[str | None]:
    own = [[path_of(opened, item), *group.copies.get(item.id, ())] for item in group.items]
    return [path for paths in own for path in paths]


def _show_paths(groups: Sequence[Sequence[str | None]]) -> None:
    for place, group in enumerate(groups):
        if place:
            click.echo()
        write_paths(group, Form.PATHS)


def _show_group(opened: Collection, group: Group) -> None:
    click.echo(f"{TITLES[group.level]}:")
    for item in group.items:
        size = _size(item.metadata.get("width"), item.metadata.get("height"), item.size)
        cropped = "cropped" if item.id in group.cropped else ""
        words = [printable(path_of(opened, item) or ""), plain(list(item.labels)), size, cropped]
        click.echo("  ".join([f"{item.id:>8}", *filter(None, words)]))
        _show_copies(group.copies.get(item.id, ()))
    click.echo()


def _show_copies(copies: Sequence[str]) -> None:
    for path in copies:
        click.echo(f"{'':>8}  {printable(path)}")


def _size(width: Any, height: Any, n: int | None) -> str:
    """Size of a picture in pixels and bytes, as far as they are known."""
    parts = [f"{width} × {height}"] if width and height else []
    return ", ".join([*parts, *([in_bytes(n)] if n else [])])


def _summary(found: Duplicates) -> str:
    numbers = {level: sum(group.level == level for group in found) for level in TITLES}
    told = ", ".join(f"{n} of {TITLES[level]}" for level, n in numbers.items() if n)
    text = f"{count(found, 'group', '', 's')}: {told}" if told else "no copies were found"
    if found.unknown:
        text += f"; {count(found.unknown, 'item', ' has', 's have')} no thumbnail to compare"
    return text


def show_plan(choices: Sequence[Choice], paths: bool, as_json: bool) -> None:
    """Print what would be kept and what would go."""
    if as_json:
        print_json([_plan_facts(choice) for choice in choices])
    elif paths:
        _show_paths([_going(choice) for choice in choices])
    else:
        for choice in choices:
            _show_choice(choice)
        size = in_bytes(sum(choice.bytes for choice in choices))
        going = f"{count(n_files(choices), 'file', '', 's')}, {size}"
        click.echo(
            f"{len(choices)} kept, {going} would go; nothing was changed: --remove takes them out "
            "of the collection, --delete-files deletes them, too"
        )


def _plan_facts(choice: Choice) -> dict[str, Any]:
    ids = [own.item.id for own in choice.others]
    kept = {"id": choice.kept.item.id, "path": _path(choice.kept)}
    return {"keep": kept, "remove": ids, "files": _going(choice), "bytes": choice.bytes}


def _show_choice(choice: Choice) -> None:
    for word, own in [("keep", choice.kept), *(("remove", own) for own in choice.others)]:
        size = _size(own.width, own.height, own.bytes)
        words = [printable(_path(own) or ""), size, "cropped" if own.is_cropped else ""]
        click.echo("  ".join([f"{word:<6}", f"{own.item.id:>8}", *filter(None, words)]))
        for path in own.copies:
            click.echo(f"remove  {'':>8}  {printable(path)}")
    click.echo()


def report_cleared(opened: Collection, done: Cleared, as_json: bool) -> None:
    """Print what has gone, and what stays and why; exit status 1 if something stays."""
    if as_json:
        gone = {"removed": done.removed, "deleted": done.deleted, "bytes": done.bytes}
        print_json({**gone, "failures": done.failures, "items": len(opened)})
    else:
        for failure in done.failures:
            click.echo(f"not removed: {printable(failure)}")
        deleted = f"{count(done.deleted, 'file', '', 's')} deleted, {in_bytes(done.bytes)}; "
        click.echo(
            f"{printable(str(opened.path))}: {deleted if done.deleted else ''}"
            f"{len(done.removed)} removed, {len(opened)} left"
        )
    if done.failures:
        raise SystemExit(1)
