"""What there is to know before and after."""

from pathlib import Path
from typing import Any

import click

from zshash.cli.options import (
    files_option,
    json_option,
    labels_option,
)
from zshash.cli.terminal import (
    plain,
    print_json,
    refuse,
)
from zshash.collection import is_collection
from zshash.experiments import description
from zshash.experiments.sharding import are_shards, describe_shards
from zshash.images import PictureReader

__all__ = ["info"]


@click.command()
@click.argument("path", required=False)
@click.option("--methods", "list_methods", is_flag=True, help="The hashing methods there are.")
@click.option("--similarity", is_flag=True, help="Average cosine of each category to the others.")
@click.option("--name", "names", multiple=True, help="Category for --similarity, without a PATH.")
@labels_option("wordnet")
@files_option
@json_option
def info(
    path: str | None,
    list_methods: bool,
    similarity: bool,
    names: tuple[str, ...],
    labels: tuple[str, ...],
    files: Path | None,
    as_json: bool,
) -> None:
    """Describe a collection, a model, data, this installation, or its methods.

    With --similarity: how close in meaning each category is to the others on average. The paper
    finds that the closer ones are retrieved better when nobody labels them.
    """
    reader = PictureReader(files=files)
    if path:
        refuse(("names",), "with a PATH")
    if list_methods:
        refuse(("path", "similarity", "names", "labels"), "with --methods")
        facts: dict[str, Any] = description.of_methods()
        lines = [line for name, method in facts.items() for line in _portrait(name, method)]
        lines += ["", *(f"{kind}: {text}" for kind, text in description.KINDS.items())]
    elif similarity:
        facts = description.similarity(path, names, labels, reader)
        lines = [f"{name:<24} {value:.4f}" for name, value in facts.items()]
    else:
        refuse(("names", "labels"), "without --similarity")
        is_sharded = path and not is_collection(Path(path)) and are_shards(path, reader)
        facts = describe_shards(str(path)) if is_sharded else description.describe(path, reader)
        lines = [f"{key + ':':<18} {plain(value)}" for key, value in facts.items()]
    if as_json:
        print_json(facts)
    else:
        click.echo("\n".join(lines))


def _portrait(name: str, method: dict[str, Any]) -> list[str]:
    """A method in a few lines."""
    lines = [f"{name} ({method['year']}, {method['kind']})", f"  {method['citation']}"]
    return [*lines, f"  {plain(method['parameters'])}"]
