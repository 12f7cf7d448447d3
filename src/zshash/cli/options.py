"""Options that several commands share, and what they stand for."""

from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from zshash.cli.terminal import OutputFile, literal, read_settings
from zshash.experiments.standard import STANDARD
from zshash.hashing.registry import METHODS
from zshash.images import Limits, PictureReader
from zshash.images.networks import DEFAULT

__all__ = [
    "READING",
    "all_seen_option",
    "are_standard",
    "bits_option",
    "choose_methods",
    "existing_file",
    "files_option",
    "hidden_categories",
    "json_option",
    "k_option",
    "labels_option",
    "make_hasher",
    "method_choice",
    "method_names",
    "method_option",
    "model_option",
    "normalize_option",
    "output_file",
    "queries_option",
    "radius_option",
    "reading_options",
    "seeds_option",
    "set_option",
    "train_option",
    "unseen_option",
    "where_option",
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


def where_option(text: str) -> Callable[[Command], Command]:
    """A condition on items of a collection; `text` says what it does."""
    return click.option(
        "--where",
        metavar="CONDITION",
        help=f"{text} It compares label, path, id or what --meta said: label = 'cat' and year >= "
        "2020; and, or, not, in, like and parentheses work.",
    )


model_option = click.option(
    "--model", "-m", required=True, type=existing_file, help="Model that fit wrote."
)
files_option = click.option(
    "--from",
    "files",
    type=click.Path(exists=True, path_type=Path),
    metavar="PATH",
    help="Where the files of a known data set are; without it they are downloaded.",
)
_reading = (
    click.option(
        "--extractor",
        metavar="NETWORK",
        help="What turns pictures into features: efficientnet-lite0, onnx:FILE, pixels:SIDE, or "
        "with the extra torch torchvision:NAME.LAYER, timm:NAME, open_clip:NAME/WEIGHTS.  "
        f"[default: that of the model where there is one, else {DEFAULT}]",
    ),
    click.option(
        "--extractor-option",
        "options",
        multiple=True,
        metavar="NAME=VALUE",
        help="Set an option of the extractor, for instance output=pool or mean=124,116,104 for an "
        "ONNX file.",
    ),
    files_option,
    click.option(
        "--on-error",
        type=click.Choice(["skip", "fail"]),
        default="skip",
        show_default=True,
        help="What to do about a picture that can not be read.",
    ),
    click.option(
        "--max-pixels",
        type=click.IntRange(1),
        default=Limits().pixels,
        show_default=True,
        help="Pixels that a picture may have.",
    ),
    click.option(
        "--max-bytes",
        type=click.IntRange(1),
        default=Limits().bytes,
        show_default=True,
        help="Bytes that a picture's file may have.",
    ),
    click.option(
        "--cache/--no-cache",
        default=True,
        show_default=True,
        help="Keep the features of pictures, so that the next command has them.",
    ),
)


READING = ("extractor", "options", "files", "on_error", "max_pixels", "max_bytes", "cache")
"""Names of these options."""


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options on how pictures are read; the command gets them as one `reader`."""

    @wraps(command)
    def with_reader(
        *args: Any,
        extractor: str | None,
        options: tuple[str, ...],
        files: Path | None,
        on_error: str,
        max_pixels: int,
        max_bytes: int,
        cache: bool,
        **kwargs: Any,
    ) -> Any:
        reader = PictureReader(
            extractor=extractor,
            options=_extractor_options(options),
            files=files,
            limits=Limits(max_pixels, max_bytes),
            on_error=on_error,
            cache=cache,
            progress=True,
        )
        return command(*args, reader=reader, **kwargs)

    for option in reversed(_reading):
        with_reader = option(with_reader)
    return with_reader


def _extractor_options(settings: Sequence[str]) -> dict[str, Any]:
    pairs = [setting.partition("=") for setting in settings]
    for name, equals, text in pairs:
        if not name or not equals:
            raise click.BadParameter(
                f"{name + equals + text!r}: write NAME=VALUE", param_hint="--extractor-option"
            )
    return {name: _numbers(text) for name, _, text in pairs}


def _numbers(text: str) -> Any:
    """Numbers with commas between them as a list, anything else as `literal` has it.

    >>> _numbers("0.5,1,2"), _numbers("bicubic")
    ([0.5, 1, 2], 'bicubic')
    """
    several = literal(f"[{text}]")
    return several if isinstance(several, list) and len(several) > 1 else literal(text)


def make_hasher(method: str, bits: int, normalize: bool, settings: Sequence[str]) -> Any:
    """The method that the options describe."""
    estimator = METHODS[method].estimator
    parameters = read_settings(estimator(), settings)
    return estimator(n_bits=bits, normalize=normalize, **parameters)


def are_standard(data: Sequence[str]) -> bool:
    """Whether all DATA are standard protocols; some can not be."""
    if len({Path(item).stem for item in data}) < len(data):
        raise click.UsageError("two DATA have the same name: compare them in two commands")
    standard = [item in STANDARD for item in data]
    if any(standard) and not all(standard):
        raise click.UsageError("compare standard protocols and feature files in two commands")
    return all(standard)


def choose_methods(
    names: Sequence[str], settings: Sequence[str], lengths: Sequence[int]
) -> dict[str, dict[str, Any]]:
    """Methods to compare, each with the parameters that ``METHOD.NAME=VALUE`` sets."""
    known = {name.lower(): name for name in METHODS}
    own: dict[str, list[str]] = {}
    for setting in settings:
        name, _, rest = setting.partition(".")
        if known.get(name.lower()) not in names:
            raise click.BadParameter(
                f"{setting!r}: write METHOD.NAME=VALUE with one of {', '.join(names)}",
                param_hint="--set",
            )
        own.setdefault(known[name.lower()], []).append(rest)
    chosen: dict[str, dict[str, Any]] = {name: {} for name in names}
    for name, texts in own.items():
        estimator = METHODS[name].estimator
        chosen[name] = read_settings(estimator(), texts, form=f"{name}.NAME")
        estimator(n_bits=lengths[0], **chosen[name])._check_parameters()
    return chosen


def hidden_categories(unseen: tuple[str, ...], all_seen: bool) -> tuple[str, ...] | None:
    """The categories to hide, None for none of them; one of both options must be given."""
    if unseen and all_seen:
        raise click.UsageError("--unseen and --all-seen exclude each other")
    if not unseen and not all_seen:
        raise click.UsageError(
            "say which category to hide: --unseen NAME, --unseen 10 for any ten, or --all-seen"
        )
    return unseen or None
