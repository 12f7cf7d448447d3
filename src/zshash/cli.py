"""The command line: one thin command per verb."""

import json
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from zshash._files import write_whole
from zshash._terminal import (
    Commands,
    OutputFile,
    plain,
    print_json,
    print_scores,
    refuse,
    show_warning,
)
from zshash.experiments import Demo, description, evaluation
from zshash.experiments.page import render
from zshash.experiments.training import encode_file, fit_model
from zshash.hashing.files import METHODS

existing_file = click.Path(exists=True, dir_okay=False, path_type=Path)
output_file = OutputFile()

bits_option = click.option(
    "--bits", default=64, show_default=True, type=click.IntRange(8, 1024), help="Bits of a code."
)
labels_option = click.option(
    "--labels",
    multiple=True,
    default=("wordnet",),
    show_default=True,
    metavar="SOURCE",
    help="Where category names get their vectors: wordnet, onehot, or a file of word vectors "
    "(word2vec, GloVe or fastText text, .npz). Given several times, sources are combined.",
)
method_option = click.option(
    "--method",
    default="ZSH",
    show_default=True,
    type=click.Choice(list(METHODS), case_sensitive=False),
    help="Hashing method.",
)
set_option = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set a parameter of the method, for instance --set n_anchors=500 --set graph=anchor.",
)
normalize_option = click.option(
    "--normalize/--no-normalize",
    default=True,
    show_default=True,
    help="Bring every feature vector to unit length first.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="zshash")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Short binary codes that find pictures of categories nobody labelled."""
    ctx.with_resource(warnings.catch_warnings())
    warnings.showwarning = show_warning


@main.command()
@bits_option
@click.option("--seeds", default=5, show_default=True, type=click.IntRange(1), help="Runs.")
@click.option(
    "--output",
    "-o",
    default="zshash-demo.html",
    show_default=True,
    type=output_file,
    help="Page to write.",
)
@json_option
def demo(bits: int, seeds: int, output: Path, as_json: bool) -> None:
    """Learn from eight digits, find two that nobody labelled, and write a page of pictures."""
    show = Demo(n_bits=bits, n_seeds=seeds)
    total = 3 * seeds
    for _ in tqdm(show.scores(), total=total, desc="training and searching", disable=None):
        pass
    write_whole(output, render(show).encode())
    if as_json:
        print_json({"summary": show.summary(), "runs": show.records, "page": str(output)})
        return
    click.echo(f"Handwritten digits, {bits} bits; in each run ({seeds}) two digits are hidden:\n")
    print_scores(show.summary(), show.protocol.k, show.protocol.radius)
    click.echo(
        "\nMAP: are pictures of the hidden digit ranked first? Precision: what share of the\n"
        "pictures within that distance is right? Names of digits are near siblings in WordNet,\n"
        "so they help little here; searching by name needs richer categories.\n"
        f"\nPictures and the convergence curve: {output}"
    )


@main.command()
@click.argument("features", type=existing_file)
@click.option(
    "--output", "-o", required=True, metavar="MODEL", type=output_file, help="Model to write."
)
@bits_option
@labels_option
@click.option("--unseen", multiple=True, metavar="NAME", help="Category to leave out of training.")
@click.option("--train", "n_train", type=click.IntRange(2), help="Samples to train on, at random.")
@method_option
@set_option
@normalize_option
@click.option("--seed", default=0, show_default=True, type=int, help="Same seed, same codes.")
@json_option
def fit(
    features: Path,
    output: Path,
    bits: int,
    labels: tuple[str, ...],
    unseen: tuple[str, ...],
    n_train: int | None,
    method: str,
    settings: tuple[str, ...],
    normalize: bool,
    seed: int,
    as_json: bool,
) -> None:
    """Learn a hash function from FEATURES (.npz with X, y and names) and write it to MODEL."""
    hasher = _hasher(method, bits, normalize, settings).set_params(random_state=seed)
    notes = fit_model(
        hasher, features, output, labels=labels, unseen=unseen, n_train=n_train, seed=seed
    )
    if as_json:
        print_json(notes)
        return
    click.echo(
        f"{output}: {method}, {bits} bits, {notes['n_train']} samples"
        + (f" of {len(notes['seen'])} seen categories" if notes["seen"] else "")
        + f", {notes['fit_seconds']:.1f} s"
    )
    if unseen:
        click.echo(f"never seen: {plain(notes['unseen'])}")


@main.command()
@click.argument("features", type=existing_file)
@click.option("--model", "-m", required=True, type=existing_file, help="Model that fit wrote.")
@click.option(
    "--output", "-o", required=True, metavar="CODES", type=output_file, help="File for the codes."
)
@json_option
def encode(features: Path, model: Path, output: Path, as_json: bool) -> None:
    """Turn FEATURES into packed codes, a row each, and write them to CODES (.npy)."""
    facts = encode_file(features, model, output)
    if as_json:
        print_json(facts)
    else:
        click.echo(f"{output}: {facts['n']} codes of {facts['bits']} bits, {facts['bytes']} bytes")


@main.command(name="eval")
@click.argument("features", type=existing_file)
@click.option(
    "--unseen",
    multiple=True,
    metavar="NAME",
    help="Category to hide; when training, a number hides that many at random in each run. "
    "With --model by default those that it left out.",
)
@click.option("--model", "-m", type=existing_file, help="Score this model instead of training.")
@bits_option
@labels_option
@method_option
@set_option
@normalize_option
@click.option("--train", "n_train", type=click.IntRange(2), help="Samples to train on.")
@click.option("--queries", "n_queries", type=click.IntRange(1), help="Queries to draw.")
@click.option("--k", default=5000, show_default=True, type=click.IntRange(1), help="Ranks of MAP.")
@click.option("--radius", default=2, show_default=True, type=click.IntRange(0), help="Of the ball.")
@click.option("--seeds", default=5, show_default=True, type=click.IntRange(1), help="Runs.")
@json_option
def evaluate(
    features: Path,
    unseen: tuple[str, ...],
    model: Path | None,
    bits: int,
    labels: tuple[str, ...],
    method: str,
    settings: tuple[str, ...],
    normalize: bool,
    n_train: int | None,
    n_queries: int | None,
    k: int,
    radius: int,
    seeds: int,
    as_json: bool,
) -> None:
    """Score zero-shot retrieval: hide categories of FEATURES, train on the rest, search for them.

    The database is everything but the queries. Prints MAP over the first K neighbours and
    precision within the Hamming radius, mean and deviation over the runs.
    """
    options = {"n_queries": n_queries, "k": k, "radius": radius}
    if model:
        refuse(("bits", "labels", "method", "settings", "normalize", "n_train"), "with --model")
        records = evaluation.of_model(features, model, unseen, seeds=seeds, **options)
    else:
        hasher = _hasher(method, bits, normalize, settings)
        records = evaluation.of_method(
            features, hasher, labels, unseen, seeds=seeds, n_train=n_train, **options
        )
    collected = list(tqdm(records, total=seeds, desc="runs", disable=None))
    summary = evaluation.summarize(collected)
    if as_json:
        print_json({"summary": summary, "runs": collected})
    else:
        print_scores(summary, k, radius)


@main.command()
@click.argument("path", required=False, type=existing_file)
@click.option("--similarity", is_flag=True, help="Average cosine of each category to the others.")
@click.option("--name", "names", multiple=True, help="Category for --similarity, without a PATH.")
@labels_option
@json_option
def info(
    path: Path | None,
    similarity: bool,
    names: tuple[str, ...],
    labels: tuple[str, ...],
    as_json: bool,
) -> None:
    """Describe a model, a feature file, or this installation.

    With --similarity: how close in meaning each category is to the others on average. The paper
    finds that the closer ones are retrieved better when nobody labels them.
    """
    if path:
        refuse(("names",), "with a PATH")
    if similarity:
        facts = description.similarity(path, names, labels)
        lines = [f"{name:<24} {value:.4f}" for name, value in facts.items()]
    else:
        refuse(("names", "labels"), "without --similarity")
        facts = description.describe(path)
        lines = [f"{key + ':':<18} {plain(value)}" for key, value in facts.items()]
    if as_json:
        print_json(facts)
    else:
        click.echo("\n".join(lines))


def _hasher(method: str, bits: int, normalize: bool, settings: Sequence[str]) -> Any:
    hasher = METHODS[method](n_bits=bits, normalize=normalize)
    options = ("n_bits", "normalize", "random_state")  # have flags of their own
    known = sorted(name for name in hasher.get_params() if name not in options)
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals or name not in known:
            raise click.BadParameter(
                f"{setting!r}: write NAME=VALUE with one of {', '.join(known)}", param_hint="--set"
            )
        hasher.set_params(**{name: _literal(text)})
    return hasher


def _literal(text: str) -> Any:
    """A number, true, false or none where it reads as one, else the word itself."""
    try:
        return json.loads({"none": "null"}.get(text.lower(), text.lower()))
    except ValueError:
        return text


if __name__ == "__main__":
    sys.exit(main())
