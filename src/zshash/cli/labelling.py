"""The command that gives, changes and takes away labels."""

import shlex
from pathlib import Path

import click

from zshash.cli.keeping import keeping
from zshash.cli.options import json_option, where_option
from zshash.cli.parameters import CollectionFolder, Text
from zshash.cli.terminal import count, meant_items, print_json, printable
from zshash.collection import Collection

__all__ = ["label"]

MOST_DIGITS = 18  # of ids


@click.command()
@click.argument("collection", type=CollectionFolder())
@click.argument("words", nargs=-1, metavar="[IDS]... [NAME]", type=Text())
@click.option(
    "--name",
    "names",
    multiple=True,
    type=Text(),
    help="Label, for a name that is a number; may be repeated.",
)
@click.option(
    "--also",
    multiple=True,
    type=Text(),
    metavar="NAME",
    help="Label that is added to the labels the items have, or to NAME; may be repeated.",
)
@click.option(
    "--without",
    multiple=True,
    type=Text(),
    metavar="NAME",
    help="Label that is taken away from the labels the items have; may be repeated.",
)
@click.option("--none", "is_none", is_flag=True, help="Take all labels of the items away.")
@where_option("Label the items that meet this condition, in place of IDS.")
@json_option
def label(
    collection: Path,
    words: tuple[str, ...],
    names: tuple[str, ...],
    also: tuple[str, ...],
    without: tuple[str, ...],
    is_none: bool,
    where: str | None,
    as_json: bool,
) -> None:
    """Give items of COLLECTION, named by their IDS or by a condition, the label NAME.

    NAME takes the place of the labels that the items have; --also keeps them, and --without takes
    one of them away. Everything is done at
    once: if an id is unknown, no label changes. A search for the name finds these items first from
    then on, and zshash refit learns from labels.

    For example: zshash label album 3 4 dog
    """
    ids, new = _read(words, names)
    if bool(ids) == (where is not None):
        raise click.UsageError("say which items to label: their IDS, or --where CONDITION")
    if sum(map(bool, (new or also, without, is_none))) != 1:
        raise click.UsageError(
            "say which label: NAME (--name NAME if it is a number), --also NAME, --without NAME "
            "or --none"
        )
    how = "without" if without else "set" if new or is_none else "also"
    with Collection.open(collection) as opened, keeping(opened, "all labels were changed"):
        meant = meant_items(opened, where, "no label was changed") if where else ids
        n = opened.label(meant, [*new, *also, *without], how=how)
        finds_names = opened.model.knowledge is not None
    if as_json:
        labels = [*new, *also, *without]
        print_json({"items": len(set(meant)), "changed": n, "labels": labels})
        return
    if without:
        taken = printable(", ".join(without))
        news = count(n, "item", " is", "s are")
        click.echo(f"{printable(str(collection))}: {news} not labelled {taken} any more")
        return
    _tell(collection, n, [*new, *also], bool(new) or is_none, finds_names)


def _read(words: tuple[str, ...], names: tuple[str, ...]) -> tuple[list[int], list[str]]:
    """Ids, and the labels that take the place of others; the last word is a label, or an id."""
    *first, last = words or ("",)
    if _is_id(last):
        first, last = list(words), ""
    for word in first:
        if not _is_id(word):
            raise click.UsageError(
                f"{word!r} is no id: write ids first and one NAME last, in quotes if it has spaces"
            )
    return list(map(int, first)), [*([last] if last else []), *names]


def _is_id(word: str) -> bool:
    return word.isascii() and word.isdecimal() and len(word) <= MOST_DIGITS


def _tell(collection: Path, n: int, labels: list[str], is_all: bool, finds_names: bool) -> None:
    album, names = printable(str(collection)), printable(", ".join(labels))
    if not labels:
        click.echo(f"{album}: {count(n, 'item', ' has', 's have')} no label any more")
        return
    how = "now" if is_all else "now, too"
    click.echo(f"{album}: {count(n, 'item', ' is', 's are')} labelled {names} {how}")
    if n and finds_names:
        them = "it" if n == 1 else "them"
        click.echo(f"zshash search {album} --name {shlex.quote(labels[0])} finds {them} first")
    if n:
        click.echo(f"zshash refit {album} learns from labels")
