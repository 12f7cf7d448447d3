"""The command that describes collections, models, data and methods."""

from pathlib import Path
from typing import Any

import click

from zshash.cli.options import files_option, json_option, labels_option, meanings_option
from zshash.cli.parameters import Text
from zshash.cli.terminal import plain, print_json, refuse
from zshash.collection import is_collection
from zshash.evaluation import description
from zshash.images import PictureReader
from zshash.learning.sharding import are_shards, describe_shards
from zshash.semantics.senses import senses

__all__ = ["info"]

IDS = ("synsets", "meanings")  # facts that are lists of WordNet ids


@click.command()
@click.argument("path", required=False, type=Text())
@click.option("--methods", "list_methods", is_flag=True, help="List the hashing methods.")
@click.option(
    "--similarity", is_flag=True, help="Print how close in meaning each category is to the others."
)
@click.option(
    "--name",
    "names",
    multiple=True,
    type=Text(),
    help="Category for --similarity, in place of PATH; may be repeated.",
)
@meanings_option("wordnet")
@files_option
@labels_option
@json_option
def info(
    path: str | None,
    list_methods: bool,
    similarity: bool,
    names: tuple[str, ...],
    meanings: tuple[str, ...],
    files: Path | None,
    labels_from: str | Path,
    as_json: bool,
) -> None:
    """Describe a collection, a model, data, this installation, or the hashing methods.

    Without PATH, the installation is described. --similarity prints the average cosine between
    the name of each category and the names of the others. The paper finds that categories closer
    to the others are retrieved better when nobody labels them.
    """
    reader = PictureReader(files=files, labels=labels_from)
    if path:
        refuse(("names",), "with a PATH")
    if list_methods:
        refuse(("path", "similarity", "names", "meanings"), "with --methods")
        facts: dict[str, Any] = description.of_methods()
        lines = [line for name, method in facts.items() for line in _portrait(name, method)]
        lines += ["", *(f"{kind}: {text}" for kind, text in description.KINDS.items())]
    elif similarity:
        _check_similarity(path, names, meanings)
        facts = description.similarity(path, names, meanings, reader)
        lines = [f"{name:<24} {value:.4f}" for name, value in facts.items()]
    else:
        refuse(("names", "meanings"), "without --similarity")
        is_sharded = path and not is_collection(Path(path)) and are_shards(path, reader)
        facts = describe_shards(str(path)) if is_sharded else description.describe(path, reader)
        lines = [f"{key + ':':<18} {plain(_in_words(key, facts))}" for key in facts]
    if as_json:
        print_json(facts)
    else:
        click.echo("\n".join(lines))


def _in_words(key: str, facts: dict[str, Any]) -> Any:
    """A fact to be read by people: WordNet ids as names."""
    if key not in IDS or not isinstance(facts[key], list):
        return facts[key]
    found = [senses(str(synset))[:1] for synset in facts[key]]
    return [sense[0].text if sense else "unknown" for sense in found]


def _check_similarity(path: str | None, names: tuple[str, ...], meanings: tuple[str, ...]) -> None:
    if "onehot" in meanings:
        raise click.BadParameter(
            "one-hot labels are all equally far apart: write wordnet or the name of a file",
            param_hint="--meanings",
        )
    if path is None and len(names) < 2:
        raise click.UsageError("similarity needs two categories: give a PATH, or --name twice")


def _portrait(name: str, method: dict[str, Any]) -> list[str]:
    """Lines of text that describe a method."""
    lines = [f"{name} ({method['year']}, {method['kind']})", f"  {method['citation']}"]
    if method["extra"]:
        lines.append(f"  a fit needs pip install 'zshash[{method['extra']}]'")
    return [*lines, f"  {plain(method['parameters'])}"]
