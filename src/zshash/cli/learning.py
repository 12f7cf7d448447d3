"""From data to a model, features and codes."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from zshash.cli.options import (
    bits_option,
    json_option,
    labels_option,
    make_hasher,
    method_option,
    model_option,
    normalize_option,
    output_file,
    reading_options,
    set_option,
)
from zshash.cli.terminal import count, keep_inputs, plain, print_json
from zshash.encoding import encode_data
from zshash.experiments.extraction import extract_data
from zshash.experiments.sharding import are_shards, encode_shards, fit_shards
from zshash.experiments.training import fit_model
from zshash.images import PictureReader
from zshash.scale import ClusterError
from zshash.scale.cluster import connect
from zshash.scale.shards import SUFFIXES

__all__ = ["encode", "extract", "fit"]

FOR_SHARDS = {"ZSH": ("graph=anchor",)}
"""Settings of methods whose defaults need all rows in memory."""

scheduler_option = click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Let the workers of a Dask cluster do the work, whose scheduler is at ADDRESS "
    "(tcp://HOST:PORT). DATA are tables of features, which all workers see under the same path.",
)


@click.command()
@click.argument("data")
@click.option(
    "--output", "-o", required=True, metavar="MODEL", type=output_file, help="Model to write."
)
@bits_option
@labels_option("wordnet; onehot for methods that do not learn from names")
@click.option("--unseen", multiple=True, metavar="NAME", help="Category to leave out of training.")
@click.option("--train", "n_train", type=click.IntRange(2), help="Samples to train on, at random.")
@method_option
@set_option
@normalize_option
@click.option("--seed", default=0, show_default=True, type=int, help="Same seed, same codes.")
@scheduler_option
@reading_options
@json_option
def fit(
    data: str,
    output: Path,
    bits: int,
    labels: tuple[str, ...],
    unseen: tuple[str, ...],
    n_train: int | None,
    method: str,
    settings: tuple[str, ...],
    normalize: bool,
    seed: int,
    scheduler: str | None,
    reader: PictureReader,
    as_json: bool,
) -> None:
    """Learn a hash function from DATA and write it to MODEL.

    DATA is a folder that has a folder of pictures for each category; a list of pictures with their
    labels (.csv, .tsv, .parquet); a table of features (.npz, .npy, .parquet); CIFAR, MNIST,
    Tiny-ImageNet, ImageNet or MIRFlickr in a folder as they are distributed, or by name: cifar10,
    cifar100, mnist, fashion-mnist, tiny-imagenet, imagenet, mirflickr25k.

    DATA may also be a folder of tables of features (.npz, .npy, .parquet), which together may be
    larger than memory: a block of rows is read at a time. Labels of NAME.npy are in
    NAME.labels.npy. ZSH, SDH, ITQ, LSH and SSH can do this, ZSH with graph=anchor, which is its
    default here.
    """
    keep_inputs(output, data, *labels)
    chosen: dict[str, Any] = {
        "reader": reader,
        "labels": labels,
        "unseen": unseen,
        "n_train": n_train,
        "seed": seed,
    }
    sharded = are_shards(data, reader, scheduler is not None)
    if sharded:
        _keep_shards(output, data)
        settings = (*FOR_SHARDS.get(method, ()), *settings)  # the user's own come last
    hasher = make_hasher(method, bits, normalize, settings).set_params(random_state=seed)
    if sharded:
        with _cluster(scheduler) as client:
            notes = fit_shards(hasher, data, output, **chosen, client=client, progress=True)
    else:
        notes = fit_model(hasher, data, output, **chosen)
    if as_json:
        print_json(notes)
    else:
        _tell(f"{output}: {method}, {bits} bits", notes)


def _tell(model: str, notes: dict[str, Any]) -> None:
    """Print what a model has learned from."""
    seen = f" of {count(notes['seen'], 'seen categor', 'y', 'ies')}" if notes["seen"] else ""
    click.echo(f"{model}, {notes['n_train']} samples{seen}, {notes['fit_seconds']:.1f} s")
    if notes["unseen"]:
        click.echo(f"never seen: {plain(notes['unseen'])}")
    if notes.get("graph") == "anchor":
        click.echo("graph: anchor (knn, the default elsewhere, needs all rows in memory)")


@click.command()
@click.argument("data")
@model_option
@click.option(
    "--output",
    "-o",
    required=True,
    metavar="CODES",
    type=output_file,
    help="File for the codes: .npy, or .npz to have the paths and labels with them.",
)
@scheduler_option
@reading_options
@json_option
def encode(
    data: str,
    model: Path,
    output: Path,
    scheduler: str | None,
    reader: PictureReader,
    as_json: bool,
) -> None:
    """Turn pictures or features (DATA as for fit) into packed codes, and write them to CODES.

    Codes of a folder of tables are written to a .npy file while the next ones are made; those for
    a .npz file are held in memory, the features are not.
    """
    keep_inputs(output, data, model)
    if are_shards(data, reader, scheduler is not None):
        _keep_shards(output, data)
        with _cluster(scheduler) as client:
            facts = encode_shards(data, model, output, reader=reader, client=client, progress=True)
    else:
        facts = encode_data(data, model, output, reader)
    if as_json:
        print_json(facts)
    else:
        click.echo(f"{output}: {facts['n']} codes of {facts['bits']} bits, {facts['bytes']} bytes")


@contextmanager
def _cluster(scheduler: str | None) -> Iterator[Any]:
    """A client of the cluster, or None where nobody wants one; its errors end the command."""
    if scheduler is None:
        yield None
        return
    if not scheduler:
        raise click.BadParameter("the address is missing", param_hint="--scheduler")
    logging.disable()  # Dask's: what ends the command is said in one line
    try:
        with connect(scheduler) as client:
            yield client
    except ClusterError as error:
        raise click.UsageError(" ".join(str(error).split())) from error
    finally:
        logging.disable(logging.NOTSET)


def _keep_shards(output: Path, data: str) -> None:
    """End the command if what it writes would be one of the shards from then on."""
    is_inside = Path(data).is_dir() and output.parent.samefile(data)
    if is_inside and output.suffix.lower() in SUFFIXES:
        raise click.BadParameter(
            f"{str(output)!r} would lie among the shards: choose another folder",
            param_hint="--output",
        )


@click.command()
@click.argument("data")
@click.option(
    "--output",
    "-o",
    required=True,
    metavar="FEATURES",
    type=output_file,
    help="Table of features to write (.npz).",
)
@reading_options
@json_option
def extract(data: str, output: Path, reader: PictureReader, as_json: bool) -> None:
    """Write the features of pictures, with paths and labels, to a file that all commands read.

    The commands extract features by themselves; this is for taking them elsewhere.
    """
    keep_inputs(output, data)
    facts = extract_data(data, output, reader)
    if as_json:
        print_json(facts)
    else:
        click.echo(f"{output}: {facts['n']} samples of {facts['dimension']} features")
