"""The command that finds pictures by picture and by name."""

import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from zshash.cli.answers import Answer, of_item, of_row, show
from zshash.cli.options import reading_options, where_option
from zshash.cli.outputs import Form, form_options
from zshash.cli.parameters import Data, Integer, ModelFile, Searched, Text
from zshash.cli.terminal import refuse, unknown_fields
from zshash.collection import Collection, Query
from zshash.collection.exchange.file_search import CodeFile
from zshash.collection.operations.queries import DISTANCES, read_queries
from zshash.images import Limits, PictureReader
from zshash.learning.model import Model

__all__ = ["search"]

STANDARD_INPUT = "-"


@click.command()
@click.argument("where_to", metavar="COLLECTION", type=Searched())
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
    help="Rank the best N items again by the features that the collection keeps. This often finds "
    "more of the same kind, and takes some milliseconds longer.",
)
@where_option("Find only items that meet this condition.")
@click.option("--model", "-m", type=ModelFile(), help="Model that made the file of codes.")
@reading_options
@form_options
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
    form: Form,
) -> None:
    """Find items that look like QUERIES, or that show what a --name means.

    QUERIES are pictures, folders of pictures, or features (DATA as for fit); - is a picture from
    standard input. For each item found, the command prints its score (higher is better), the number
    of bits that differ, its id, path and labels.

    COLLECTION may also be a file of codes that encode wrote; then --model is needed, and paths and
    labels are printed if the file is .npz.
    """
    if not queries and not names:
        raise click.UsageError("say what to search for: QUERIES, or --name NAME")
    _refuse_mixtures(radius, distance, rerank)
    page = {"k": None if radius is not None else k, "radius": radius, "distance": distance}
    page["rerank"] = rerank
    if where_to.is_dir():
        refuse(("model",), "for a collection, which has its own model")
        with Collection.open(where_to, reader=reader) as collection:
            if collection.model.knowledge is None and not unwanted:
                asked = _each(reader, queries, names, page)
            else:
                asked = _joined(reader, queries, _words(names, unwanted), page)
            answers = _in_collection(collection, asked, where)
        show(answers, of_item, form)
    else:
        refuse(("names", "unwanted", "where", "rerank"), "for a file of codes")
        show(_in_file(where_to, model, reader, queries, page), of_row, form)


def _refuse_mixtures(radius: int | None, distance: str | None, rerank: int | None) -> None:
    """End the command if options were given that have no meaning together."""
    if radius is not None:
        refuse(("k", "names", "unwanted", "rerank"), "with --radius")
    if distance == "real":
        refuse(("radius",), "with --distance real: a radius is a number of bits")
    if distance is not None:
        refuse(("names", "unwanted"), "with --distance: names have scores of their own")
    if rerank is not None:
        refuse(("names", "unwanted"), "with --rerank: names have scores of their own")


def _read(reader: PictureReader, sources: Sequence[str], **page: Any) -> list[Query]:
    """Queries for pictures and features, one of them perhaps from standard input."""
    if sources.count(STANDARD_INPUT) > 1:
        raise click.UsageError("standard input holds one picture: write - once")
    queries = read_queries(reader, [one for one in sources if one != STANDARD_INPUT], **page)
    if STANDARD_INPUT in sources:
        picture = _from_standard_input(reader.limits)
        queries.append(Query(picture=picture, title="standard input", **page))
    return queries


def _from_standard_input(limits: Limits) -> bytes:
    """Bytes of the picture in the standard input."""
    from zshash.images.decoding import PictureError, decode

    if sys.stdin.isatty():
        raise click.UsageError(
            "- is a picture from standard input, and that is a terminal here: write - < PICTURE"
        )
    picture = sys.stdin.buffer.read(limits.bytes + 1)
    if not picture:
        raise click.UsageError("standard input is empty: let it be the bytes of a picture")
    if len(picture) > limits.bytes:
        raise click.UsageError(
            f"standard input: more than the limit of {limits.bytes} bytes (--max-bytes)"
        )
    try:
        decode(picture, limits)
    except PictureError as error:
        raise click.UsageError(f"standard input: {error}") from error
    return picture


def _in_file(
    path: Path,
    model: Path | None,
    reader: PictureReader,
    queries: Sequence[str],
    page: dict[str, Any],
) -> list[Answer]:
    """Each query with the matches in a file of codes."""
    if model is None:
        raise click.UsageError(
            f"{path} is no collection; if it is a file of codes, give the --model that made them"
        )
    codes = CodeFile(path, Model.load(model, reader))
    asked = _read(reader, queries, **page)
    return list(map(Answer, asked, codes.search_each(asked)))


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


def _each(
    reader: PictureReader, queries: Sequence[str], names: Sequence[str], page: dict[str, Any]
) -> list[Query]:
    """Queries for pictures and for names, each by itself: the model has no names to join."""
    by_name = [Query(name=name, title=name, k=page["k"]) for name in names]
    return _read(reader, queries, **page) + by_name


def _joined(
    reader: PictureReader, queries: Sequence[str], words: dict[str, float], page: dict[str, Any]
) -> list[Query]:
    """Queries for pictures, each together with all names; without pictures, for the names."""
    if queries:
        return _read(reader, queries, words=words or None, **page)
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
    return list(map(Answer, queries, found))
