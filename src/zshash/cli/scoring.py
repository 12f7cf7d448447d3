"""Commands that score methods and models."""

from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from zshash.cli.options import (
    READING,
    all_methods,
    all_seen_option,
    are_standard,
    bits_option,
    choose_methods,
    hidden_categories,
    json_option,
    k_option,
    make_hasher,
    meanings_option,
    method_choice,
    method_names,
    method_option,
    normalize_option,
    output_file,
    queries_option,
    radius_option,
    reading_options,
    seeds_option,
    seen_queries_option,
    set_option,
    tell_left_out,
    train_option,
    unlabelled_option,
    unseen_option,
)
from zshash.cli.parameters import Data, Integer, ModelFile
from zshash.cli.terminal import print_json, print_scores, refuse
from zshash.evaluation import comparison
from zshash.evaluation import scoring as evaluation
from zshash.evaluation.tables import to_json, to_markdown
from zshash.hashing.registry import METHODS, SEMANTIC
from zshash.images import PictureReader

__all__ = ["compare", "evaluate"]


@click.command(name="eval")
@click.argument("data", type=Data())
@unseen_option
@all_seen_option
@click.option(
    "--model",
    "-m",
    type=ModelFile(),
    help="Score this model instead of training one; by default its queries are of the categories "
    "that were left out of its training.",
)
@bits_option
@meanings_option("wordnet; onehot for methods that do not learn from names")
@method_option
@set_option
@normalize_option
@train_option
@unlabelled_option
@queries_option
@seen_queries_option
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
    meanings: tuple[str, ...],
    method: str,
    settings: tuple[str, ...],
    normalize: bool,
    n_train: int | None,
    unlabelled: bool,
    n_queries: int | None,
    n_seen_queries: int | None,
    k: int,
    radius: int,
    seeds: int,
    reader: PictureReader,
    as_json: bool,
) -> None:
    """Score zero-shot retrieval: hide categories of DATA, train on the rest, find the hidden ones.

    DATA is as for fit. The database is everything but the queries. Prints MAP over the first K
    neighbours by Hamming distance, the same MAP with real-valued queries (binary database), MAP in
    a database of hidden categories alone, MAP of queries of seen categories, and precision within
    the Hamming radius; each as mean and deviation over the runs. A model's seen queries may be
    samples that it was trained on, so --seen-queries must ask for them.
    """
    options = {"n_queries": n_queries, "k": k, "radius": radius}
    options["n_seen_queries"] = n_seen_queries or 0 if model else n_seen_queries
    if all_seen:
        refuse(("n_seen_queries",), "with --all-seen: every query is of a seen category")
    if model:
        own = ("all_seen", "bits", "meanings", "method", "settings", "normalize", "n_train")
        refuse((*own, "unlabelled"), "with --model")
        records = evaluation.of_model(data, reader, model, unseen, seeds=seeds, **options)
    else:
        hasher = make_hasher(method, bits, normalize, settings)
        hidden = hidden_categories(unseen, all_seen)
        records = evaluation.of_method(
            data,
            reader,
            hasher,
            meanings,
            hidden,
            seeds=seeds,
            n_train=n_train,
            unlabelled=unlabelled,
            **options,
        )
    collected = list(tqdm(records, total=seeds, desc="runs", disable=None))
    summary = evaluation.summarize(collected)
    if as_json:
        print_json({"summary": summary, "runs": collected})
    else:
        print_scores(summary, k, radius)


@click.command()
@click.argument("data", nargs=-1, required=True, type=Data())
@click.option(
    "--output",
    "-o",
    required=True,
    metavar="NAME",
    type=output_file,
    help="Files to write: NAME.json and NAME.md. Runs that NAME.json holds are not run again.",
)
@click.option(
    "--method",
    "names",
    multiple=True,
    type=method_choice,
    metavar=method_names,
    help="Hashing method; may be repeated.  [default: all]",
)
@click.option(
    "--bits",
    multiple=True,
    default=(16, 32, 64, 96, 128),
    show_default=True,
    type=Integer(8, 1024),
    help="Length of the codes in bits; may be repeated.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="METHOD.NAME=VALUE",
    help="Set a parameter of a method, as in --set KSH.n_anchors=1000; may be repeated.",
)
@meanings_option("wordnet; only methods that learn from names look at it")
@normalize_option
@unseen_option
@all_seen_option
@train_option
@unlabelled_option
@queries_option
@seen_queries_option
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
    meanings: tuple[str, ...],
    normalize: bool,
    unseen: tuple[str, ...],
    all_seen: bool,
    n_train: int | None,
    unlabelled: bool,
    n_queries: int | None,
    n_seen_queries: int | None,
    k: int,
    radius: int,
    seeds: int,
    reader: PictureReader,
    as_json: bool,
) -> None:
    """Score methods side by side, at several code lengths, on the same splits.

    DATA is as for fit, or the name of a standard protocol: cifar10, tiny100, clipart or
    cifar10-seen. KSH has 1,000 anchors in these, as in the paper, and their features are in the
    folder that the environment variable ZSHASH_DATA names, by default ../shared/data; where it has
    none of clipart, they are made from Debian's package openclipart-png. Several DATA are written
    to one document. There are tables for three kinds of queries: of hidden categories in the whole
    database, of hidden categories in a database of them alone, and of seen categories.
    """
    given: dict[str, Any] = {"n_train": n_train, "n_queries": n_queries, "k": k, "radius": radius}
    given |= {"normalize": normalize, "n_seen_queries": n_seen_queries}
    if all_seen:
        refuse(("n_seen_queries",), "with --all-seen: every query is of a seen category")
    if are_standard(data):
        own = (*given, "meanings", "unseen", "all_seen", *READING)
        refuse(own, "with a standard protocol")
    else:
        given["unseen"] = hidden_categories(unseen, all_seen)
    lengths = sorted(set(bits))
    chosen = choose_methods(names or all_methods(), settings, lengths)
    if meanings and not any(METHODS[name].kind == SEMANTIC for name in chosen):
        raise click.UsageError(
            "--meanings are for methods that learn from names: choose ZSH or MTH, too"
        )
    contests = [
        comparison.make_contest(
            item, chosen, lengths, meanings, reader, unlabelled=unlabelled, **given
        )
        for item in data
    ]
    records = comparison.compare_into(output, contests, range(seeds))
    total = seeds * sum(len(contest.setups) for contest in contests)
    try:
        collected = list(tqdm(records, total=total, desc="runs", disable=None))
    except KeyboardInterrupt:
        path = comparison.files(output)[0]
        raise KeyboardInterrupt(f"The same command goes on from the runs in {path}.") from None
    if not any("map" in record for record in collected):
        raise click.UsageError(f"{collected[0]['name']}: {collected[0]['error']}")
    if not names:
        tell_left_out()
    click.echo(to_json(collected) if as_json else to_markdown(collected), nl=False)
