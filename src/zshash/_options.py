"""Options that several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from zshash._terminal import OutputFile
from zshash.hashing.registry import METHODS

__all__ = [
    "all_seen_option",
    "bits_option",
    "existing_file",
    "json_option",
    "k_option",
    "labels_option",
    "method_choice",
    "method_names",
    "method_option",
    "normalize_option",
    "output_file",
    "queries_option",
    "radius_option",
    "seeds_option",
    "set_option",
    "train_option",
    "unseen_option",
]

Command = TypeVar("Command", bound=Callable[..., Any])

existing_file = click.Path(exists=True, dir_okay=False, path_type=Path)
output_file = OutputFile()

bits_option = click.option(
    "--bits", default=64, show_default=True, type=click.IntRange(8, 1024), help="Bits of a code."
)


def labels_option(default: str) -> Callable[[Command], Command]:
    """Label sources; `default` says what is taken where none is given."""
    return click.option(
        "--labels",
        multiple=True,
        metavar="SOURCE",
        help="Where category names get their vectors: wordnet, onehot, or a file of word vectors "
        "(word2vec, GloVe or fastText text, .npz). Given several times, sources are combined.  "
        f"[default: {default}]",
    )


method_choice = click.Choice(list(METHODS), case_sensitive=False)
method_names = f"[{'|'.join(METHODS)}]"
method_option = click.option(
    "--method",
    default="ZSH",
    show_default=True,
    type=method_choice,
    metavar=method_names,
    help="Hashing method; zshash info --methods tells about them.",
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
unseen_option = click.option(
    "--unseen",
    multiple=True,
    metavar="NAME",
    help="Category to hide; a number that is no category's name hides that many at random in each "
    "run.",
)
all_seen_option = click.option(
    "--all-seen",
    is_flag=True,
    help="Hide no category: the queries come from those trained on, as hashing is "
    "conventionally scored.",
)
train_option = click.option(
    "--train", "n_train", type=click.IntRange(2), help="Samples to train on."
)
queries_option = click.option(
    "--queries", "n_queries", type=click.IntRange(1), help="Queries to draw."
)
k_option = click.option(
    "--k", default=5000, show_default=True, type=click.IntRange(1), help="Ranks of MAP."
)
radius_option = click.option(
    "--radius", default=2, show_default=True, type=click.IntRange(0), help="Of the ball."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def seeds_option(default: int) -> Callable[[Command], Command]:
    """How often everything is drawn anew."""
    return click.option(
        "--seeds", default=default, show_default=True, type=click.IntRange(1), help="Runs."
    )
