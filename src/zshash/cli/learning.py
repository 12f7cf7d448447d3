"""From data to a model, features and codes."""

from pathlib import Path

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
from zshash.experiments.training import fit_model
from zshash.images import PictureReader

__all__ = ["encode", "extract", "fit"]


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
    reader: PictureReader,
    as_json: bool,
) -> None:
    """Learn a hash function from DATA and write it to MODEL.

    DATA is a folder that has a folder of pictures for each category; a list of pictures with their
    labels (.csv, .tsv, .parquet); a table of features (.npz, .npy, .parquet); CIFAR, MNIST,
    Tiny-ImageNet, ImageNet or MIRFlickr in a folder as they are distributed, or by name: cifar10,
    cifar100, mnist, fashion-mnist, tiny-imagenet, imagenet, mirflickr25k.
    """
    keep_inputs(output, data, *labels)
    hasher = make_hasher(method, bits, normalize, settings).set_params(random_state=seed)
    notes = fit_model(
        hasher,
        data,
        output,
        reader=reader,
        labels=labels,
        unseen=unseen,
        n_train=n_train,
        seed=seed,
    )
    if as_json:
        print_json(notes)
        return
    click.echo(
        f"{output}: {method}, {bits} bits, {notes['n_train']} samples"
        + (f" of {count(notes['seen'], 'seen categor', 'y', 'ies')}" if notes["seen"] else "")
        + f", {notes['fit_seconds']:.1f} s"
    )
    if unseen:
        click.echo(f"never seen: {plain(notes['unseen'])}")


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
@reading_options
@json_option
def encode(data: str, model: Path, output: Path, reader: PictureReader, as_json: bool) -> None:
    """Turn pictures or features (DATA as for fit) into packed codes, and write them to CODES."""
    keep_inputs(output, data, model)
    facts = encode_data(data, model, output, reader)
    if as_json:
        print_json(facts)
    else:
        click.echo(f"{output}: {facts['n']} codes of {facts['bits']} bits, {facts['bytes']} bytes")


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
