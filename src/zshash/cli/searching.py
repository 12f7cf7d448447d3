"""The command that finds pictures by picture and by name."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from zshash.cli.options import json_option, reading_options, where_option
from zshash.cli.parameters import Data, Integer, ModelFile, Text
from zshash.cli.terminal import count, plain, print_json, printable, refuse, unknown_fields
from zshash.collection import Collection, Found, Match, Query, is_collection
from zshash.collection.exchange.file_search import CodeFile
from zshash.collection.operations.queries import DISTANCES, read_queries
from zshash.images import PictureReader
from zshash.learning.model import Model
from zshash.learning.readings import Reading

__all__ = ["search"]

MOST_SENSES = 5  # other senses and labels that are printed
Answer = tuple[Query, Found]


@click.command()
@click.argument("where_to", metavar="COLLECTION", type=click.Path(exists=True, path_type=Path))
@click.argument("queries", nargs=-1, type=Data())
@click.option(
    "--name",
    "names",
    multiple=True,
    type=Text(),
    help="Find pictures of what has this name, even if nobody labelled any of them: a word, one of "
    "its senses such as 'crane (bird)', a label, or a phrase such as 'a dog on a beach'. May be "
    "repeated: all names are searched for together, also with QUERIES. NAME:2 counts twice.",
)
@click.option(
    "--not",
    "unwanted",
    multiple=True,
    type=Text(),
    metavar="NAME",
    help="Find pictures that do not show this, beside --name or QUERIES; may be repeated.",
)
@click.option(
    "--k", default=10, show_default=True, type=Integer(1), help="Number of items to find."
)
@click.option(
    "--radius",
    type=Integer(0),
    help="Find all items up to this number of different bits, in place of --k.",
)
@click.option(
    "--distance",
    type=click.Choice(DISTANCES),
    help="real: compare the queries' real values, as they are before they become bits, with the "
    "bits of the items; this usually ranks better and takes longer. bits: compare bits with bits.  "
    "[default: real; bits with --radius]",
)
@click.option(
    "--rerank",
    type=Integer(1),
    metavar="N",
    help="Rank the best N items again by their features, which a collection made with "
    "--keep-features has. This finds more of the same kind, and takes some milliseconds longer.",
)
@where_option("Find only items that meet this condition.")
@click.option("--model", "-m", type=ModelFile(), help="Model that made the file of codes.")
@reading_options
@json_option
def search(
    where_to: Path,
    queries: tuple[str, ...],
    names: tuple[str, ...],
    unwanted: tuple[str, ...],
    k: int,
    radius: int | None,
    distance: str | None,
    rerank: int | None,
    where: str | None,
    model: Path | None,
    reader: PictureReader,
    as_json: bool,
) -> None:
    """Find items that look like QUERIES, or that show what a --name means.

    QUERIES are pictures, folders of pictures, or features (DATA as for fit). For each item found,
    the command prints its score (higher is better), the number of bits that differ, its id, path
    and labels.

    COLLECTION may also be a file of codes that encode wrote; then --model is needed, and paths and
    labels are printed if the file is .npz.
    """
    if not queries and not names:
        raise click.UsageError("say what to search for: QUERIES, or --name NAME")
    if radius is not None:
        refuse(("k", "names", "unwanted", "rerank"), "with --radius")
    if distance == "real":
        refuse(("radius",), "with --distance real: a radius is a number of bits")
    if distance is not None:
        refuse(("names", "unwanted"), "with --distance: names have scores of their own")
    if rerank is not None:
        refuse(("names", "unwanted"), "with --rerank: names have scores of their own")
    if where_to.is_dir() and not is_collection(where_to):
        raise click.UsageError(f"{str(where_to)!r} is no collection: zshash create makes one")
    page = {"k": None if radius is not None else k, "radius": radius, "distance": distance}
    page["rerank"] = rerank
    if where_to.is_dir():
        refuse(("model",), "for a collection, which has its own model")
        with Collection.open(where_to, reader=reader) as collection:
            if collection.model.knowledge is None and not unwanted:  # it knows no names to join
                asked = read_queries(reader, queries, **page)
                asked += [Query(name=name, title=name, k=k) for name in names]
            else:
                asked = _joined(reader, queries, _words(names, unwanted), page)
            answers = _in_collection(collection, asked, where)
        _show(answers, _of_item, as_json)
    else:
        refuse(("names", "unwanted", "where", "rerank"), "for a file of codes")
        if model is None:
            raise click.UsageError(
                f"{where_to} is no collection; if it is a file of codes, give the --model "
                "that made them"
            )
        codes = CodeFile(where_to, Model.load(model, reader))
        asked = read_queries(reader, queries, **page)
        _show(list(zip(asked, codes.search_each(asked), strict=True)), _of_row, as_json)


def _words(names: Sequence[str], unwanted: Sequence[str]) -> dict[str, float]:
    """Names with their weights: "dog:2" counts twice, and what is not wanted counts −1."""
    words: dict[str, float] = {}
    for name in names:
        word, colon, weight = name.rpartition(":")
        try:
            words |= {word: float(weight)} if colon and word else {name: 1.0}
        except ValueError:
            words[name] = 1.0
    return words | dict.fromkeys(unwanted, -1.0)


def _joined(
    reader: PictureReader, queries: Sequence[str], words: dict[str, float], page: dict[str, Any]
) -> list[Query]:
    """Queries for pictures, each together with all names; without pictures, for the names."""
    if queries:
        return read_queries(reader, queries, words=words or None, **page)
    return [_by_name(words, page["k"])]


def _by_name(words: dict[str, float], k: int) -> Query:
    """Query for names alone."""
    (first, weight), *others = words.items()
    if weight == 1 and not others:
        return Query(name=first, title=first, k=k)
    title = ", ".join(word if weight > 0 else f"not {word}" for word, weight in words.items())
    return Query(words=words, title=title, k=k)


def _in_collection(collection: Collection, queries: list[Query], where: str | None) -> list[Answer]:
    """Each query with the matches in a collection; one model answers all of them."""
    found = collection.search_each(queries, where=where)
    unknown = unknown_fields(collection, where) if where and not any(found) else ""
    if unknown:
        warnings.warn(unknown, UserWarning, stacklevel=2)
    return list(zip(queries, found, strict=True))


def _show(
    answers: list[Answer], describe: Callable[[Match], dict[str, Any]], as_json: bool
) -> None:
    """Print the matches of each query; a query that could not be read is left out."""
    told: list[dict[str, Any]] = [
        {
            "query": query.title,
            **({} if found.reading is None else {"reading": found.reading.told()}),
            "neighbours": [_numbers(match) | describe(match) for match in found],
        }
        for query, found in answers
        if found.failure is None
    ]
    if as_json:
        print_json(told)
        return
    readings = [found.reading for _, found in answers if found.failure is None]
    for answer, reading in zip(told, readings, strict=True):
        number = count(answer["neighbours"], "neighbour", "", "s")
        click.echo(f"{printable(answer['query'])}: {number}")
        for line in _reading(reading):
            click.echo(f"  {printable(line)}")
        for neighbour in answer["neighbours"]:
            click.echo(f"  {_line(neighbour)}")


def _reading(reading: Reading | None) -> Iterator[str]:
    """Lines of text on what was understood of a name."""
    if reading is None:
        return
    for thing in reading.things:
        if thing.sense is None and not thing.labels:  # a text that the network reads itself
            continue
        taken = f"taken as {thing.text}" if thing.sense else f"the label {thing.name}"
        others = [f"{other.text}: {other.key}" for other in thing.others[:MOST_SENSES]]
        yield taken + (f"; it also means {'; '.join(others)}" if others else "")
    if reading.left_out:
        yield f"not understood: {', '.join(reading.left_out)}"
    if reading.labels:
        yield f"first, what is labelled {', '.join(reading.labels[:MOST_SENSES])}"
    if reading.nothing:
        yield "nothing here looks much like it"


def _numbers(match: Match) -> dict[str, Any]:
    """Score of a match, and the number of bits that differ unless it was found by name."""
    return {"score": match.score} | ({} if match.bits is None else {"bits": match.bits})


def _of_item(match: Match) -> dict[str, Any]:
    return {
        "id": match.id,
        "path": match.path,
        "labels": list(match.labels),
        "metadata": match.metadata,
    }


def _of_row(match: Match) -> dict[str, Any]:
    """Row number of a match in a file of codes, with path and labels if the file has them."""
    facts: dict[str, Any] = {"row": match.id}
    facts |= {} if match.path is None else {"path": match.path}
    return facts | ({"labels": list(match.labels)} if match.labels else {})


def _line(neighbour: dict[str, Any]) -> str:
    """One line of text for a neighbour."""
    if "id" in neighbour:
        name = f"{neighbour['id']:>6}  {printable(neighbour['path'] or '')}".rstrip()
    else:
        name = printable(neighbour.get("path") or f"row {neighbour['row']}")
    numbers = [f"{neighbour['score']:>8.3f}"]
    numbers += [f"{neighbour['bits']:>4}"] if "bits" in neighbour else []
    return "  ".join([*numbers, name, plain(neighbour.get("labels", []))]).rstrip()
