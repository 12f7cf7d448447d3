"""Commands that turn data into a model, features or codes."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from zshash.cli.aliases import alias_options
from zshash.cli.keeping import keeping_file
from zshash.cli.options import (
    arrays_file,
    bits_option,
    force_option,
    json_option,
    learning_method_option,
    list_of,
    meanings_option,
    method_settings,
    model_file,
    model_option,
    normalize_option,
    reading_options,
    set_option,
    statistics_file,
)
from zshash.cli.parameters import Data, Integer
from zshash.cli.terminal import count, keep_inputs, plain, print_json
from zshash.images import PictureReader
from zshash.learning import Model
from zshash.learning import fit as fit_model
from zshash.learning.files import encode_data, extract_data
from zshash.learning.fitting import default_method
from zshash.learning.sharding import are_shards
from zshash.learning.statistics import statistics as make_statistics
from zshash.scale import ClusterError
from zshash.scale.cluster import connect
from zshash.scale.shards import SUFFIXES, is_shard_folder

__all__ = ["encode", "extract", "fit", "statistics"]

scheduler_option = click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Let a Dask cluster do the work; ADDRESS is that of its scheduler (tcp://HOST:PORT). DATA "
    "must be tables of features, which all workers see under the same path.",
)


@click.command()
@click.argument("data", type=Data())
@click.option(
    "--output", "-o", required=True, metavar="MODEL", type=model_file, help="Model file to write."
)
@force_option
@bits_option
@meanings_option("wordnet; onehot for methods that do not learn from names")
@alias_options
@click.option(
    "--unseen",
    multiple=True,
    metavar="NAME",
    help="Category to leave out of training; may be repeated.",
)
@click.option(
    "--train",
    "n_train",
    type=Integer(2),
    help="Number of samples to train on, drawn at random.",
)
@learning_method_option
@set_option
@normalize_option
@click.option(
    "--seed",
    default=0,
    show_default=True,
    type=Integer(0, 2**32 - 1),
    help="Seed of all random draws; the same seed gives the same codes.",
)
@scheduler_option
@reading_options
@json_option
def fit(
    data: str,
    output: Path,
    bits: int,
    meanings: tuple[str, ...],
    aliases: dict[str, str],
    unseen: tuple[str, ...],
    n_train: int | None,
    method: str | None,
    settings: tuple[str, ...],
    normalize: bool,
    seed: int,
    scheduler: str | None,
    reader: PictureReader,
    as_json: bool,
) -> None:
    """Learn a hash function from DATA and write it to MODEL.

    Labels are not needed: the default method learns from pictures with and without labels.

    DATA is a folder with a folder of pictures for each category; a list of pictures with their
    labels (.csv, .tsv, .parquet); a table of features (.npz, .npy, .parquet); CIFAR, MNIST,
    Tiny-ImageNet, ImageNet or MIRFlickr, either as a folder in the form they are distributed in, or
    by name: cifar10, cifar100, mnist, fashion-mnist, tiny-imagenet, imagenet, mirflickr25k; or
    clipart, drawings of Debian's package openclipart-png.

    A warning tells what labels were taken to mean, where this is not plain; --alias changes it. A
    label that nobody knows, such as the name of a pet, is learned, too, but is not found by other
    names.

    DATA may also be a folder of tables of features (.npz, .npy, .parquet). Together they may be
    larger than memory: a block of rows is read at a time. Labels of NAME.npy are in
    NAME.labels.npy. The methods ZSH, SDH, ITQ, LSH and SSH can learn from such a folder; ZSH then
    uses graph=anchor by default.
    """
    keep_inputs(output, data, *meanings, *list_of(reader))
    _keep_shards(output, data)
    with keeping_file(output, reader), _cluster(scheduler, data, reader) as client:
        name = method or default_method(data, reader, client)
        model = fit_model(
            data,
            method=name,
            n_bits=bits,
            semantics=meanings,
            aliases=aliases,
            unseen=unseen,
            n_train=n_train,
            random_state=seed,
            reader=reader,
            client=client,
            progress=True,
            normalize=normalize,
            **method_settings(name, settings),
        )
    model.save(output)
    notes = model.notes
    if as_json:
        print_json(notes)
    else:
        _tell(f"{output}: {name}, {bits} bits", notes)


def _tell(model: str, notes: dict[str, Any]) -> None:
    """Print the facts on the training of a model."""
    seen = f" of {count(notes['seen'], 'seen categor', 'y', 'ies')}" if notes["seen"] else ""
    click.echo(f"{model}, {notes['n_train']} samples{seen}, {notes['fit_seconds']:.1f} s")
    if notes["unseen"]:
        click.echo(f"never seen: {plain(notes['unseen'])}")
    if n_unlabelled := notes.get("n_unlabelled"):
        who = "all" if n_unlabelled == notes["n_train"] else f"{n_unlabelled} of them"
        click.echo(f"without labels: {who}; the model has learned from these, too")
    if notes.get("graph") == "anchor":
        click.echo("graph: anchor (knn, the default elsewhere, needs all rows in memory)")


@click.command()
@click.argument("data", type=Data())
@model_option
@click.option(
    "--output",
    "-o",
    required=True,
    metavar="CODES",
    type=arrays_file,
    help="File of codes to write: .npy, or .npz to store paths and labels, too.",
)
@force_option
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

    If DATA is a folder of tables of features, they may be larger than memory: a block of rows is
    read at a time. Codes are written to a .npy file as they are made; for a .npz file all codes are
    held in memory.
    """
    keep_inputs(output, data, model, *list_of(reader))
    _keep_shards(output, data)
    own = Model.load(model, reader)
    with _cluster(scheduler, data, reader) as client:
        facts = encode_data(own, data, output, reader=reader, client=client, progress=True)
    if as_json:
        print_json(facts)
    else:
        click.echo(f"{output}: {facts['n']} codes of {facts['bits']} bits, {facts['bytes']} bytes")


@contextmanager
def _cluster(scheduler: str | None, data: str, reader: PictureReader) -> Iterator[Any]:
    """A client of the Dask cluster, or None without an address; its errors end the command."""
    if scheduler is None:
        yield None
        return
    if not scheduler:
        raise click.BadParameter(
            "the address is missing: write tcp://HOST:PORT", param_hint="--scheduler"
        )
    are_shards(data, reader, on_cluster=True)  # refuses pictures before it connects
    logging.disable()  # Dask's messages: an error ends the command with one line
    try:
        with connect(scheduler) as client:
            yield client
    except ClusterError as error:
        raise click.UsageError(" ".join(str(error).split())) from error
    finally:
        logging.disable(logging.NOTSET)


def _keep_shards(output: Path, data: str) -> None:
    """End the command if its output would lie among the shards and be read as one of them."""
    is_inside = is_shard_folder(Path(data)) and output.parent.samefile(data)
    if is_inside and output.suffix.lower() in SUFFIXES:
        raise click.BadParameter(
            f"{str(output)!r} would lie among the tables of DATA: choose another folder",
            param_hint="--output",
        )


@click.command()
@click.argument("data", type=Data())
@click.option(
    "--output",
    "-o",
    required=True,
    metavar="FEATURES",
    type=arrays_file,
    help="File of features to write (.npz).",
)
@force_option
@reading_options
@json_option
def extract(data: str, output: Path, reader: PictureReader, as_json: bool) -> None:
    """Write the features of pictures, with paths and labels, to a file that all commands read.

    Other commands extract features by themselves; this one is for use in other programs.
    """
    keep_inputs(output, data, *list_of(reader))
    facts = extract_data(data, output, reader)
    if as_json:
        print_json(facts)
    else:
        click.echo(f"{output}: {facts['n']} samples of {facts['dimension']} features")


@click.command()
@click.argument("data", metavar="PICTURES", type=Data())
@click.option(
    "--output",
    "-o",
    required=True,
    metavar="FILE",
    type=statistics_file,
    help="File of statistics to write (.safetensors).",
)
@force_option
@reading_options
@json_option
def statistics(data: str, output: Path, reader: PictureReader, as_json: bool) -> None:
    """Write the statistics of a network's features over general PICTURES to FILE.

    Where there are few pictures to learn from, MTH takes what is missing from such statistics:
    zshash fit PICTURES --extractor NETWORK --set prior=FILE. Those of efficientnet-lite0 come with
    zshash and are used by themselves. For another network, give some thousand pictures of many
    kinds; PICTURES are as DATA of fit, and labels are not looked at.
    """
    keep_inputs(output, data, *list_of(reader))
    made = make_statistics(data, reader)
    made.save(output)
    facts = {"output": str(output), "n": made.n, "dimension": made.n_features}
    if as_json:
        print_json(facts | {"extractor": made.network or None})
    else:
        click.echo(
            f"{output}: statistics of {made.n_features} features over "
            f"{count(made.n, 'picture', '', 's')}"
        )
