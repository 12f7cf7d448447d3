"""The command that lists the items of a collection."""

import sys
import warnings
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import click

from zshash.cli.options import where_option
from zshash.cli.outputs import (
    LISTED,
    Form,
    form_options,
    metadata_columns,
    write_csv,
    write_json,
    write_paths,
)
from zshash.cli.parameters import CollectionFolder, Integer, Text
from zshash.cli.terminal import count, plain, printable, unknown_fields
from zshash.collection import Collection, Item
from zshash.collection.operations.copies import came_as_bytes

__all__ = ["list_items"]


@click.command("list")
@click.argument("collection", type=CollectionFolder())
@where_option("List only items that meet this condition.")
@click.option("--label", type=Text(), metavar="NAME", help="List only items with this label.")
@click.option("--unlabelled", is_flag=True, help="List only items without a label.")
@click.option("--limit", type=Integer(1), help="Number of items to list.  [default: all]")
@click.option(
    "--offset", default=0, show_default=True, type=Integer(0), help="Number of items to skip."
)
@form_options
def list_items(
    collection: Path,
    where: str | None,
    label: str | None,
    unlabelled: bool,
    limit: int | None,
    offset: int,
    form: Form,
) -> None:
    """List the items of COLLECTION with their paths and labels, in the order of their ids."""
    if label is not None and unlabelled:
        raise click.UsageError("--label and --unlabelled exclude each other: leave one of them out")
    with Collection.open(collection) as opened:
        meant = _condition(where, label, unlabelled)
        stop = None if limit is None else offset + limit
        items = islice(opened.each(meant), offset, stop)
        n = _write(opened, _counted(items), meant, form)
        unknown = unknown_fields(opened, where) if where and not n else ""
    if unknown:
        warnings.warn(unknown, UserWarning, stacklevel=2)


def _condition(where: str | None, label: str | None, unlabelled: bool) -> str | None:
    """One condition for all that was asked for.

    >>> _condition("year = 2020 or year = 2021", "Rock 'n' Roll", False)
    "(year = 2020 or year = 2021) and label = 'Rock ''n'' Roll'"
    """
    parts = [f"({where})"] if where is not None else []
    if label is not None:
        parts.append("label = '{}'".format(label.replace("'", "''")))
    if unlabelled:
        parts.append("label = null")
    return " and ".join(parts) or None


class _counted(Iterator[Item]):  # noqa: N801, reads like a function
    """Items, and the number of those that were taken so far."""

    def __init__(self, items: Iterator[Item]) -> None:
        self._items, self.n = items, 0

    def __next__(self) -> Item:
        item = next(self._items)
        self.n += 1
        return item


def _write(opened: Collection, items: _counted, where: str | None, form: Form) -> int:
    """Write items in a form; return their number."""
    if form in (Form.PATHS, Form.NULL):
        write_paths((path_of(opened, item) for item in items), form)
    elif form is Form.CSV:
        head, cells = table_of(opened, opened.metadata_keys(where))
        write_csv(head, map(cells, items))
    elif form is Form.JSON:
        write_json(facts_of(opened, item) for item in items)
    else:
        sys.stdout.writelines(f"{line_of(opened, item)}\n" for item in items)
        click.echo(count(items.n, "item", "", "s"))
    return items.n


def path_of(opened: Collection, item: Item) -> str | None:
    """Path of an item's picture; for one that came as bytes, that of the collection's copy."""
    return str(opened.picture(item.id)) if came_as_bytes(item) else item.source


def facts_of(opened: Collection, item: Item) -> dict[str, Any]:
    """Facts on an item, ready for JSON."""
    return {
        "id": item.id,
        "path": path_of(opened, item),
        "labels": list(item.labels),
        "metadata": item.metadata,
    }


def line_of(opened: Collection, item: Item) -> str:
    """One line of text on an item: its id, path and labels."""
    words = [f"{item.id:>8}", printable(path_of(opened, item) or ""), plain(list(item.labels))]
    return "  ".join(word for word in words if word)


def table_of(opened: Collection, keys: list[str]) -> tuple[list[str], Callable[[Item], list[Any]]]:
    """Names of the columns of a table of items, and the function that gives an item's cells."""
    columns = metadata_columns(keys)

    def cells(item: Item) -> list[Any]:
        own = [item.metadata.get(key) for key in columns]
        return [item.id, path_of(opened, item), item.labels, *own]

    return [*LISTED, *columns.values()], cells
