"""Options that several commands share, and functions that read their values."""

from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from zshash._extras import MissingExtra
from zshash.cli.parameters import (
    FORCE,
    Integer,
    LabelSource,
    ModelFile,
    OutputFile,
    Text,
    begins_with,
)
from zshash.cli.terminal import literal, read_settings
from zshash.evaluation.standard import STANDARD
from zshash.hashing.hasher import check_binary
from zshash.hashing.registry import METHODS
from zshash.images import Limits, PictureReader
from zshash.images.networks import DEFAULT

__all__ = [
    "READING",
    "all_methods",
    "all_seen_option",
    "are_standard",
    "arrays_file",
    "bits_option",
    "choose_methods",
    "codes_file",
    "dry_run_option",
    "existing_file",
    "files_option",
    "force_option",
    "hidden_categories",
    "json_file",
    "json_option",
    "k_option",
    "labels_option",
    "learning_method_option",
    "list_of",
    "make_hasher",
    "meanings_option",
    "method_choice",
    "method_names",
    "method_option",
    "method_settings",
    "model_file",
    "model_option",
    "normalize_option",
    "output_file",
    "page_file",
    "queries_option",
    "radius_option",
    "reading_options",
    "seeds_option",
    "seen_queries_option",
    "set_option",
    "statistics_file",
    "tell_left_out",
    "train_option",
    "unlabelled_option",
    "unseen_option",
    "where_option",
]

Command = TypeVar("Command", bound=Callable[..., Any])

existing_file = click.Path(exists=True, dir_okay=False, path_type=Path)
output_file = OutputFile()


def _is_model(path: Path) -> bool:
    from zshash.hashing.files import is_model

    return bool(is_model(path))


_NUMPY = (b"\x93NUMPY", b"PK")


def _is_statistics(path: Path) -> bool:
    from zshash.hashing.steps.statistics import is_statistics

    return is_statistics(path)


model_file = OutputFile(what="model", is_such=_is_model)
statistics_file = OutputFile(what="file of statistics", is_such=_is_statistics)
arrays_file = OutputFile(what="NumPy file", is_such=begins_with(*_NUMPY))
codes_file = OutputFile(what="file of codes", is_such=begins_with(*_NUMPY, b"PAR1", b"IBxF"))
json_file = OutputFile(what="JSON file", is_such=begins_with(b"{"))
page_file = OutputFile(what="HTML page", is_such=begins_with(b"<!doctype html"))


def force_option(command: Command) -> Command:
    """Add --force to a command: its output may replace a file of another kind."""
    return click.option(
        "--force",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=lambda ctx, _, value: ctx.meta.update({FORCE: value}),
        help="Replace a file of this name, even if it holds something else.",
    )(command)


bits_option = click.option(
    "--bits",
    default=64,
    show_default=True,
    type=Integer(8, 1024),
    help="Length of the codes in bits.",
)


def meanings_option(default: str) -> Callable[[Command], Command]:
    """Option for the sources of label vectors; `default` is the text on its default in the help."""
    return click.option(
        "--meanings",
        multiple=True,
        type=Text(),
        metavar="SOURCE",
        help="Where the meanings of category names come from: wordnet, a file of word vectors "
        "(word2vec, GloVe or fastText text, .npz), or onehot (names mean nothing). May be repeated "
        f"to combine sources.  [default: {default}]",
    )


method_choice = click.Choice(list(METHODS), case_sensitive=False)
method_names = f"[{'|'.join(METHODS)}]"
method_option = click.option(
    "--method",
    default="MTH",
    show_default=True,
    type=method_choice,
    metavar=method_names,
    help="Hashing method; zshash info --methods describes them.",
)
learning_method_option = click.option(
    "--method",
    default=None,
    type=method_choice,
    metavar=method_names,
    help="Hashing method; zshash info --methods describes them.  [default: MTH; ZSH for a folder "
    "of tables]",
)
set_option = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set a parameter of the method; may be repeated, as in --set n_anchors=500 --set "
    "graph=anchor.",
)
normalize_option = click.option(
    "--normalize/--no-normalize",
    default=True,
    show_default=True,
    help="Scale every feature vector to unit length first.",
)
unseen_option = click.option(
    "--unseen",
    multiple=True,
    metavar="NAME",
    help="Category to hide; may be repeated. A number, unless a category has it as its name, hides "
    "that many categories at random in each run.",
)
all_seen_option = click.option(
    "--all-seen",
    is_flag=True,
    help="Hide no category: queries are of the categories trained on, as in most papers on "
    "hashing.",
)
train_option = click.option(
    "--train",
    "n_train",
    type=Integer(2),
    help="Number of samples to train on, drawn at random.",
)
queries_option = click.option(
    "--queries", "n_queries", type=Integer(1), help="Number of queries to draw."
)
seen_queries_option = click.option(
    "--seen-queries",
    "n_seen_queries",
    type=Integer(0),
    help="Number of queries of seen categories to draw. They are not trained on, and each is left "
    "out of its own ranking.  [default: as many as other queries, at most a tenth of the seen "
    "samples]",
)
unlabelled_option = click.option(
    "--unlabelled",
    is_flag=True,
    help="Let methods that can (MTH, SSH and those that look at features alone) also learn from "
    "the other samples of the database, without their labels.",
)
k_option = click.option(
    "--k",
    default=5000,
    show_default=True,
    type=Integer(1),
    help="Number of first neighbours that MAP looks at.",
)
radius_option = click.option(
    "--radius",
    default=2,
    show_default=True,
    type=Integer(0),
    help="Hamming radius of the precision: number of bits that may differ.",
)
dry_run_option = click.option(
    "--dry-run", is_flag=True, help="Print what would be done, and change nothing."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")


def seeds_option(default: int) -> Callable[[Command], Command]:
    """Option for the number of runs, each with a random seed of its own."""
    return click.option(
        "--seeds",
        default=default,
        show_default=True,
        type=Integer(1),
        help="Number of runs, each with another random seed.",
    )


def where_option(text: str) -> Callable[[Command], Command]:
    """Option for a condition on the items of a collection; `text` begins its help."""
    return click.option(
        "--where",
        metavar="CONDITION",
        help=f"{text} It compares label, path, id or fields set with add --meta, for instance "
        "\"label = 'cat' and year >= 2020\"; and, or, not, in, like and parentheses work.",
    )


model_option = click.option(
    "--model", "-m", required=True, type=ModelFile(), help="Model file that fit wrote."
)
files_option = click.option(
    "--from",
    "files",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="PATH",
    help="Folder with the files of a data set that is given by name, such as cifar10; without it "
    "the data set is downloaded.",
)
labels_option = click.option(
    "--labels",
    "labels_from",
    type=LabelSource(),
    default="auto",
    metavar="none|folders|FILE",
    help="Where labels come from: nowhere; every folder's name; or a list of files with "
    "columns path and label (.csv, .tsv, .parquet).  [default: labels that come with the data, "
    "and names of folders that look like categories, not like dates, numbers, cameras or "
    "programs]",
)
_reading = (
    click.option(
        "--extractor",
        type=Text(),
        metavar="NETWORK",
        help="Network that turns pictures into features: efficientnet-lite0, onnx:FILE, "
        "pixels:SIDE; with the extra lite2 also efficientnet-lite2; with the extra torch also "
        "torchvision:NAME.LAYER, timm:NAME, open_clip:NAME/WEIGHTS.  [default: the network of "
        f"the model, or without a model {DEFAULT}]",
    ),
    click.option(
        "--extractor-option",
        "options",
        multiple=True,
        metavar="NAME=VALUE",
        help="Set an option of the network, for instance output=pool or mean=124,116,104 for an "
        "ONNX file; may be repeated.",
    ),
    files_option,
    click.option(
        "--on-error",
        type=click.Choice(["skip", "fail"]),
        default="skip",
        show_default=True,
        help="Skip a picture that can not be read, or fail.",
    ),
    labels_option,
    click.option(
        "--max-pixels",
        type=Integer(1),
        default=Limits().pixels,
        show_default=True,
        help="Largest picture that is read, in pixels.",
    ),
    click.option(
        "--max-bytes",
        type=Integer(1),
        default=Limits().bytes,
        show_default=True,
        help="Largest picture file that is read, in bytes.",
    ),
    click.option(
        "--cache/--no-cache",
        default=True,
        show_default=True,
        help="Store the features of pictures on disk, so that the next command need not make them.",
    ),
)


READING = (
    "extractor",
    "options",
    "files",
    "on_error",
    "labels_from",
    "max_pixels",
    "max_bytes",
    "cache",
)
"""Names of the parameters that `reading_options` adds to a command."""


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options on how pictures are read; the command gets them as one `reader`."""

    @wraps(command)
    def with_reader(
        *args: Any,
        extractor: str | None,
        options: tuple[str, ...],
        files: Path | None,
        on_error: str,
        labels_from: str | Path,
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
            labels=labels_from,
            cache=cache,
            progress=True,
        )
        return command(*args, reader=reader, **kwargs)

    for option in reversed(_reading):
        with_reader = option(with_reader)
    return with_reader


def list_of(reader: PictureReader) -> list[Path]:
    """The list that labels come from, if there is one, so that no output replaces it."""
    return [reader.labels] if isinstance(reader.labels, Path) else []


def _extractor_options(settings: Sequence[str]) -> dict[str, Any]:
    pairs = [setting.partition("=") for setting in settings]
    for name, equals, text in pairs:
        if not name or not equals:
            raise click.BadParameter(
                f"{name + equals + text!r}: write NAME=VALUE", param_hint="--extractor-option"
            )
    return {name: _numbers(text) for name, _, text in pairs}


def _numbers(text: str) -> Any:
    """A list for numbers with commas between them, else the value that `literal` returns.

    >>> _numbers("0.5,1,2"), _numbers("bicubic")
    ([0.5, 1, 2], 'bicubic')
    """
    several = literal(f"[{text}]")
    return several if isinstance(several, list) and len(several) > 1 else literal(text)


def make_hasher(method: str, bits: int, normalize: bool, settings: Sequence[str]) -> Any:
    """The estimator with the parameters that the options set."""
    METHODS[method].check()
    parameters = method_settings(method, settings)
    return METHODS[method].estimator(n_bits=bits, normalize=normalize, **parameters)


def method_settings(method: str, settings: Sequence[str]) -> dict[str, Any]:
    """Parameters of a method from texts of the form ``NAME=VALUE``."""
    return read_settings(METHODS[method].estimator(), settings)


def are_standard(data: Sequence[str]) -> bool:
    """Whether all DATA are standard protocols; a mixture with other data is an error."""
    if len({Path(item).stem for item in data}) < len(data):
        raise click.UsageError("two DATA have the same name: compare them in two commands")
    standard = [item in STANDARD for item in data]
    if any(standard) and not all(standard):
        raise click.UsageError("compare standard protocols and feature files in two commands")
    return all(standard)


def all_methods() -> tuple[str, ...]:
    """Names of all methods that can be fitted here."""
    return tuple(name for name, method in METHODS.items() if method.is_available)


def tell_left_out() -> None:
    """Print which methods can not be fitted here, and why."""
    without: dict[str, list[str]] = {}
    for name, method in METHODS.items():
        try:
            method.check()
        except MissingExtra as error:
            without.setdefault(str(error), []).append(name)
    for why, names in without.items():
        click.echo(f"{', '.join(names)} left out: {why}", err=True)


def choose_methods(
    names: Sequence[str], settings: Sequence[str], lengths: Sequence[int]
) -> dict[str, dict[str, Any]]:
    """Parameters of each method to compare, from texts of the form ``METHOD.NAME=VALUE``."""
    for name in names:
        METHODS[name].check()
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
        hasher = estimator(n_bits=lengths[0], **chosen[name])
        hasher.check_parameters()
        check_binary(hasher, "a comparison")
    return chosen


def hidden_categories(unseen: tuple[str, ...], all_seen: bool) -> tuple[str, ...] | None:
    """Categories to hide, or None to hide none; exactly one of the two options must be given."""
    if unseen and all_seen:
        raise click.UsageError("--unseen and --all-seen exclude each other: leave one of them out")
    if not unseen and not all_seen:
        raise click.UsageError(
            "say which category to hide: --unseen NAME, --unseen 10 for any ten, or --all-seen"
        )
    return unseen or None
