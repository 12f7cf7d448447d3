"""The command line: one thin command per verb."""

import sys
import warnings
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from zshash._files import write_whole
from zshash._options import (
    READING,
    all_seen_option,
    are_standard,
    bits_option,
    choose_methods,
    existing_file,
    files_option,
    hidden_categories,
    json_option,
    k_option,
    labels_option,
    make_hasher,
    method_choice,
    method_names,
    method_option,
    model_option,
    normalize_option,
    output_file,
    queries_option,
    radius_option,
    reading_options,
    seeds_option,
    set_option,
    train_option,
    unseen_option,
)
from zshash._terminal import (
    Commands,
    ShowWarnings,
    count,
    keep_inputs,
    plain,
    print_json,
    print_scores,
    printable,
    refuse,
)
from zshash.experiments import Demo, comparison, description, evaluation
from zshash.experiments.encoding import encode_data
from zshash.experiments.extraction import extract_data
from zshash.experiments.page import render
from zshash.experiments.searching import search_codes
from zshash.experiments.tables import to_json, to_markdown
from zshash.experiments.training import fit_model
from zshash.hashing.registry import METHODS, SEMANTIC
from zshash.images import PictureReader


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="zshash")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Short binary codes that find pictures of categories nobody labelled."""
    ctx.with_resource(warnings.catch_warnings())
    warnings.showwarning = ShowWarnings()


@main.command()
@bits_option
@seeds_option(5)
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


@main.command()
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


@main.command()
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


@main.command()
@click.argument("codes", type=existing_file)
@click.argument("queries", nargs=-1, required=True)
@model_option
@click.option(
    "--k", default=10, show_default=True, type=click.IntRange(1), help="How many to find."
)
@click.option("--radius", type=click.IntRange(0), help="Find all up to this distance instead.")
@reading_options
@json_option
def search(
    codes: Path,
    queries: tuple[str, ...],
    model: Path,
    k: int,
    radius: int | None,
    reader: PictureReader,
    as_json: bool,
) -> None:
    """Find what looks like QUERIES (pictures, or DATA as for fit) among CODES.

    CODES is a file that encode wrote with the same model; as .npz it tells paths and labels.
    """
    if radius is not None:
        refuse(("k",), "with --radius")
    found = search_codes(codes, queries, model, reader, k=k, radius=radius)
    if as_json:
        print_json(list(found))
        return
    for answer in found:
        number = count(answer["neighbours"], "neighbour", "", "s")
        click.echo(f"{printable(answer['query'])}: {number}")
        for neighbour in answer["neighbours"]:
            click.echo(f"  {_line(neighbour)}")


def _line(neighbour: dict[str, Any]) -> str:
    """A neighbour as a person reads it."""
    name = printable(neighbour.get("path", f"row {neighbour['row']}"))
    return "  ".join([f"{neighbour['distance']:>4}", name, plain(neighbour.get("labels", []))])


@main.command(name="eval")
@click.argument("data")
@unseen_option
@all_seen_option
@click.option(
    "--model",
    "-m",
    type=existing_file,
    help="Score this model instead of training, by default on the categories that it left out.",
)
@bits_option
@labels_option("wordnet; onehot for methods that do not learn from names")
@method_option
@set_option
@normalize_option
@train_option
@queries_option
@k_option
@radius_option
@seeds_option(5)
@reading_options
@json_option
def evaluate(
    data: str,
    unseen: tuple[str, ...],
    all_seen: bool,
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
    reader: PictureReader,
    as_json: bool,
) -> None:
    """Score zero-shot retrieval: hide categories of DATA, train on the rest, search for them.

    DATA is as for fit. The database is everything but the queries. Prints MAP over the first K
    neighbours and precision within the Hamming radius, mean and deviation over the runs.
    """
    options = {"n_queries": n_queries, "k": k, "radius": radius}
    if model:
        own = ("all_seen", "bits", "labels", "method", "settings", "normalize", "n_train")
        refuse(own, "with --model")
        records = evaluation.of_model(data, reader, model, unseen, seeds=seeds, **options)
    else:
        hasher = make_hasher(method, bits, normalize, settings)
        hidden = hidden_categories(unseen, all_seen)
        records = evaluation.of_method(
            data, reader, hasher, labels, hidden, seeds=seeds, n_train=n_train, **options
        )
    collected = list(tqdm(records, total=seeds, desc="runs", disable=None))
    summary = evaluation.summarize(collected)
    if as_json:
        print_json({"summary": summary, "runs": collected})
    else:
        print_scores(summary, k, radius)


@main.command()
@click.argument("data", nargs=-1, required=True)
@click.option(
    "--output",
    "-o",
    required=True,
    metavar="NAME",
    type=output_file,
    help="Where to write: NAME.json and NAME.md. Runs that NAME.json holds are not run again.",
)
@click.option(
    "--method",
    "names",
    multiple=True,
    type=method_choice,
    metavar=method_names,
    help="Hashing method, several times for several of them.  [default: all]",
)
@click.option(
    "--bits",
    multiple=True,
    default=(16, 32, 64, 96, 128),
    show_default=True,
    type=click.IntRange(8, 1024),
    help="Bits of a code, several times for several lengths.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="METHOD.NAME=VALUE",
    help="Set a parameter of a method, for instance --set KSH.n_anchors=1000.",
)
@labels_option("wordnet; only methods that learn from names look at it")
@normalize_option
@unseen_option
@all_seen_option
@train_option
@queries_option
@k_option
@radius_option
@seeds_option(4)
@reading_options
@json_option
def compare(
    data: tuple[str, ...],
    output: Path,
    names: tuple[str, ...],
    bits: tuple[int, ...],
    settings: tuple[str, ...],
    labels: tuple[str, ...],
    normalize: bool,
    unseen: tuple[str, ...],
    all_seen: bool,
    n_train: int | None,
    n_queries: int | None,
    k: int,
    radius: int,
    seeds: int,
    reader: PictureReader,
    as_json: bool,
) -> None:
    """Score methods side by side, at several code lengths, on the same splits.

    DATA is as for eval, or the name of a standard protocol (cifar10, tiny100 or
    cifar10-seen; KSH has 1,000 anchors there, as in the paper), whose features are in the folder
    that the environment variable ZSHASH_DATA names, by default ../shared/data. Several DATA end up
    in one document.
    """
    given: dict[str, Any] = {"n_train": n_train, "n_queries": n_queries, "k": k, "radius": radius}
    given["normalize"] = normalize
    if are_standard(data):
        own = (*given, "labels", "unseen", "all_seen", *READING)
        refuse(own, "with a standard protocol")
    else:
        given["unseen"] = hidden_categories(unseen, all_seen)
    lengths = sorted(set(bits))
    chosen = choose_methods(names or tuple(METHODS), settings, lengths)
    if labels and not any(METHODS[name].kind == SEMANTIC for name in chosen):
        raise click.UsageError("--labels are for methods that learn from names: choose ZSH, too")
    tasks = [comparison.make_task(item, chosen, lengths, labels, reader, **given) for item in data]
    records = comparison.compare_into(output, tasks, range(seeds))
    total = seeds * sum(len(task.setups) for task in tasks)
    try:
        collected = list(tqdm(records, total=total, desc="runs", disable=None))
    except KeyboardInterrupt:
        path = comparison.files(output)[0]
        click.echo(f"\nInterrupted. The same command goes on from the runs in {path}.", err=True)
        raise
    if not any("map" in record for record in collected):
        raise click.UsageError(f"{collected[0]['name']}: {collected[0]['error']}")
    click.echo(to_json(collected) if as_json else to_markdown(collected), nl=False)


@main.command()
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
    """Describe a model, data as for fit, this installation, or the methods in it.

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
        facts = description.describe(path, reader)
        lines = [f"{key + ':':<18} {plain(value)}" for key, value in facts.items()]
    if as_json:
        print_json(facts)
    else:
        click.echo("\n".join(lines))


def _portrait(name: str, method: dict[str, Any]) -> list[str]:
    """A method in a few lines."""
    lines = [f"{name} ({method['year']}, {method['kind']})", f"  {method['citation']}"]
    return [*lines, f"  {plain(method['parameters'])}"]


if __name__ == "__main__":
    sys.exit(main())
