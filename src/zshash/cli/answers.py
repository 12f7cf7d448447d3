"""Answers to searches, printed for people and for programs."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import click

from zshash.cli.outputs import Form, metadata_columns, write_csv, write_paths
from zshash.cli.terminal import count, plain, print_json, printable
from zshash.collection import Found, Match, Query
from zshash.learning.readings import Reading

__all__ = ["Answer", "of_item", "of_row", "show"]

MOST_SENSES = 5  # other senses and labels that are printed
Describe = Callable[[Match], dict[str, Any]]


class Answer(NamedTuple):
    """A query, and what it has found."""

    query: Query
    found: Found


def show(answers: Sequence[Answer], describe: Describe, form: Form) -> None:
    """Print the matches of each query; a query that could not be read is left out."""
    good = [answer for answer in answers if answer.found.failure is None]
    if form is Form.JSON:
        print_json([_told(answer, describe) for answer in good])
    elif form is Form.CSV:
        _table(good, describe)
    elif form is Form.TEXT:
        for answer in good:
            _print(answer, describe)
    else:
        write_paths(dict.fromkeys(match.path for _, found in good for match in found), form)


def _told(answer: Answer, describe: Describe) -> dict[str, Any]:
    """Facts on an answer, ready for JSON."""
    query, found = answer
    return {
        "query": query.title,
        **({} if found.reading is None else {"reading": found.reading.told()}),
        **({} if found.nothing is None else {"nothing": found.nothing}),
        "neighbours": [_numbers(match) | describe(match) for match in found],
    }


def _table(answers: Sequence[Answer], describe: Describe) -> None:
    """Print a row for each match, with the query that has found it."""
    pairs = [(query.title, match) for query, found in answers for match in found]
    keys = sorted({key for _, match in pairs for key in match.metadata})
    columns = metadata_columns(keys)
    place = "row" if describe is of_row else "id"
    head = ["query", "score", "bits", place, "path", "labels", *columns.values()]
    rows = (
        [title, match.score, match.bits, match.id, match.path, match.labels]
        + [match.metadata.get(key) for key in columns]
        for title, match in pairs
    )
    write_csv(head, rows)


def _print(answer: Answer, describe: Describe) -> None:
    """Print lines of text on an answer."""
    query, found = answer
    click.echo(f"{printable(query.title)}: {count(found, 'neighbour', '', 's')}")
    for line in _reading(found.reading):
        click.echo(f"  {printable(line)}")
    if found.nothing and found.reading is None:
        click.echo("  nothing here looks much like it")
    for match in found:
        click.echo(f"  {_line(_numbers(match) | describe(match))}")


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


def of_item(match: Match) -> dict[str, Any]:
    """Facts on an item of a collection that was found."""
    return {
        "id": match.id,
        "path": match.path,
        "labels": list(match.labels),
        "metadata": match.metadata,
    }


def of_row(match: Match) -> dict[str, Any]:
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
