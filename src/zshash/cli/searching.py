"""Finding pictures by picture, and by name."""

from pathlib import Path
from typing import Any

import click

from zshash.cli.options import existing_file, json_option, reading_options, where_option
from zshash.cli.terminal import count, plain, print_json, printable, refuse
from zshash.collection import is_collection
from zshash.collection.searching import ASYMMETRIC, DISTANCES
from zshash.experiments.searching import search_codes, search_collection
from zshash.images import PictureReader

__all__ = ["search"]


@click.command()
@click.argument("where_to", metavar="COLLECTION", type=click.Path(exists=True, path_type=Path))
@click.argument("queries", nargs=-1)
@click.option(
    "--name",
    "names",
    multiple=True,
    help="Find pictures of a category by its name, also of one that nobody labelled.",
)
@click.option(
    "--k", default=10, show_default=True, type=click.IntRange(1), help="How many to find."
)
@click.option("--radius", type=click.IntRange(0), help="Find all up to this distance instead.")
@click.option(
    "--distance",
    type=click.Choice(DISTANCES),
    default=DISTANCES[0],
    show_default=True,
    help="Compare the bits of a query with those of the items, or (asymmetric) the real values "
    "before they became bits, which usually ranks better and takes longer; then a score is "
    "printed, the higher the better, and beside it how many bits differ.",
)
@where_option("Find only items that meet this condition.")
@click.option("--model", "-m", type=existing_file, help="Model that a file of codes was made with.")
@reading_options
@json_option
def search(
    where_to: Path,
    queries: tuple[str, ...],
    names: tuple[str, ...],
    k: int,
    radius: int | None,
    distance: str,
    where: str | None,
    model: Path | None,
    reader: PictureReader,
    as_json: bool,
) -> None:
    """Find what looks like QUERIES, or is what a --name means.

    QUERIES are pictures, folders of them, features: DATA as for fit.

    Instead of a COLLECTION it may be a file of codes that encode wrote; then --model is needed,
    and as .npz it tells paths and labels.
    """
    if not queries and not names:
        raise click.UsageError("say what to search for: QUERIES, or --name")
    if radius is not None:
        refuse(("k", "names"), "with --radius")
    asymmetric = distance == ASYMMETRIC
    if asymmetric:
        refuse(("radius",), "with --distance asymmetric, which is no number of bits")
        refuse(("names",), "with --distance asymmetric: names have scores of their own")
    if where_to.is_dir() and not is_collection(where_to):
        raise click.UsageError(f"{where_to}: there is no collection here: zshash create makes one")
    if where_to.is_dir():
        refuse(("model",), "for a collection, which has its own")
        found = search_collection(
            where_to,
            queries,
            names,
            reader,
            k=k,
            radius=radius,
            where=where,
            asymmetric=asymmetric,
        )
    else:
        refuse(("names", "where"), "for a file of codes")
        if model is None:
            raise click.UsageError(
                f"{where_to} is no collection, and a file of codes needs the --model that made them"
            )
        found = search_codes(
            where_to, queries, model, reader, k=k, radius=radius, asymmetric=asymmetric
        )
    if as_json:
        print_json(list(found))
        return
    for answer in found:
        _show(answer)


def _show(answer: dict[str, Any]) -> None:
    number = count(answer["neighbours"], "neighbour", "", "s")
    click.echo(f"{printable(answer['query'])}: {number}")
    for neighbour in answer["neighbours"]:
        click.echo(f"  {_line(neighbour)}")


def _line(neighbour: dict[str, Any]) -> str:
    """A neighbour as a person reads it."""
    if "id" in neighbour:
        name = f"{neighbour['id']:>6}  {printable(neighbour['path'] or '')}".rstrip()
    else:
        name = printable(neighbour.get("path") or f"row {neighbour['row']}")
    numbers = [f"{neighbour['score']:>8.3f}"] if "score" in neighbour else []
    numbers += [f"{neighbour['distance']:>4}"] if "distance" in neighbour else []
    return "  ".join([*numbers, name, plain(neighbour.get("labels", []))]).rstrip()
