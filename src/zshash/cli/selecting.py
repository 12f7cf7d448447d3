"""The command that chooses parameters of a method without unseen data."""

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from zshash._files import write_whole
from zshash.cli.learning import fit
from zshash.cli.options import (
    bits_option,
    force_option,
    json_file,
    json_option,
    k_option,
    list_of,
    make_hasher,
    meanings_option,
    method_option,
    normalize_option,
    radius_option,
    reading_options,
    set_option,
    unlabelled_option,
)
from zshash.cli.parameters import Data, Integer
from zshash.cli.terminal import keep_inputs, literal, printable
from zshash.evaluation.selection import SCORES, select_from
from zshash.hashing.hasher import Hasher
from zshash.hashing.registry import METHODS
from zshash.images import PictureReader

__all__ = ["select"]

APART = ("data", "output", "force", "settings", "n_train", "as_json")
"""Options of fit that are not copied from this command into the printed fit command."""


@click.command()
@click.argument("data", type=Data())
@method_option
@bits_option
@click.option(
    "--grid",
    "grids",
    multiple=True,
    metavar="NAME=VALUE,VALUE",
    help="Values of a parameter to try; may be repeated, as in --grid nu=1e-5,1e-3 --grid "
    "loss=l2,hinge for --method SDH: every combination is a candidate.  [default: the grid that "
    "zshash info --methods --json lists for the method, without the parameters that --set fixes]",
)
@click.option(
    "--candidates",
    "n_candidates",
    type=Integer(1),
    help="Number of combinations to try, drawn at random.  [default: all]",
)
@click.option(
    "--unseen",
    multiple=True,
    metavar="NAME",
    help="Category that stays unseen: no sample of it is read. May be repeated.",
)
@click.option(
    "--hold-out",
    "n_unseen",
    type=Integer(1),
    help="Number of categories to hold out in each fold.  [default: a tenth of all, at least one]",
)
@click.option(
    "--together",
    multiple=True,
    metavar="NAME;NAME",
    help="Categories to hold out together, because they are so similar that one could stand in for "
    "another. --hold-out counts them as one. May be repeated.",
)
@click.option(
    "--splits",
    "n_splits",
    default=3,
    show_default=True,
    type=Integer(1),
    help="Number of folds.",
)
@click.option(
    "--train", "n_train", type=Integer(2), help="Number of samples to train on in each fold."
)
@click.option(
    "--queries",
    "n_queries",
    type=Integer(1),
    help="Number of queries to draw in each fold.  [default: half of the samples held out, at most "
    "1000]",
)
@click.option(
    "--score",
    default="map",
    show_default=True,
    type=click.Choice(list(SCORES)),
    help="Score to choose by: MAP over the first K (map), precision within the Hamming radius "
    "(precision), or MAP of real-valued queries (real).",
)
@unlabelled_option
@k_option
@radius_option
@meanings_option("wordnet; onehot for methods that do not learn from names")
@set_option
@normalize_option
@click.option(
    "--jobs",
    "n_jobs",
    default=1,
    show_default=True,
    type=Integer(-1),
    help="Number of processes, -1 for one on each core. The scores do not depend on it.",
)
@click.option(
    "--seed",
    default=0,
    show_default=True,
    type=Integer(0, 2**32 - 1),
    help="Seed of all random draws; the same seed gives the same scores.",
)
@click.option(
    "--output",
    "-o",
    metavar="FILE",
    type=json_file,
    help="JSON file to write with every score.",
)
@force_option
@reading_options
@json_option
def select(
    data: str,
    method: str,
    bits: int,
    grids: tuple[str, ...],
    together: tuple[str, ...],
    meanings: tuple[str, ...],
    unseen: tuple[str, ...],
    settings: tuple[str, ...],
    normalize: bool,
    n_jobs: int,
    seed: int,
    output: Path | None,
    reader: PictureReader,
    as_json: bool,
    **options: Any,
) -> None:
    """Choose parameters of a method by holding out categories of DATA as if they were unseen.

    DATA is as for fit, and has labels for every category but those of --unseen. In each fold some
    categories are not trained on, and are then searched for among all samples, as eval does with
    hidden categories. All candidates get the same folds. Prints mean and standard error of the
    score of each candidate, its distance from the best one, the same score in a database of
    held-out categories alone and for queries of the other categories, and the command that fits
    the best candidate to all of DATA.
    """
    if n_jobs == 0:
        raise click.BadParameter(
            "give 1 or more, or -1 for one process on each core", param_hint="--jobs"
        )
    if output:
        keep_inputs(output, data, *meanings, *list_of(reader))
    hasher = make_hasher(method, bits, normalize, settings).set_params(random_state=seed)
    found = select_from(
        hasher,
        data,
        _read_grid(hasher, grids, settings),
        reader=reader,
        labels=meanings,
        unseen=unseen,
        groups=_read_groups(together),
        n_jobs=n_jobs,
        random_state=seed,
        progress=True,
        **options,
    )
    content = found.to_json()
    if output:
        write_whole(output, content.encode())
    if as_json:
        click.echo(content, nl=False)
        return
    click.echo("\n".join(map(printable, found.report().splitlines())))
    click.echo(f"\n{printable(_fit_command(data, settings, found.best))}")


def _read_grid(
    hasher: Hasher, grids: Sequence[str], settings: Sequence[str]
) -> dict[str, Sequence[Any]]:
    """Values to try for each parameter: from the options, else from the method's own grid."""
    method = type(hasher).__name__
    known = sorted(set(hasher.get_params()) - {"n_bits", "normalize", "random_state"})
    form = f"NAME=VALUE,VALUE with one of {', '.join(known)}"
    fixed = {setting.partition("=")[0] for setting in settings}
    grid: dict[str, list[Any]] = {}
    for text in grids:
        name, _, values = text.partition("=")
        if not values or name not in known:
            raise click.BadParameter(f"{text!r}: write {form}", param_hint="--grid")
        if name in fixed:
            raise click.UsageError(f"{name} is in both --set and --grid: leave one of them out")
        grid.setdefault(name, []).extend(map(literal, values.split(",")))
    own = {name: values for name, values in METHODS[method].grid.items() if name not in fixed}
    if not grid and not own:
        raise click.UsageError(f"{method} has no grid of its own: write --grid {form}")
    return {**(grid or own)}


def _read_groups(together: Sequence[str]) -> dict[str, int] | None:
    """Group number of each name that is held out together with others."""
    groups: dict[str, int] = {}
    for number, text in enumerate(together):
        names = [name.strip() for name in text.split(";")]
        if len(names) < 2 or not all(names):
            raise click.BadParameter(
                f"{text!r}: write two names or more, with semicolons between them",
                param_hint="--together",
            )
        for name in names:
            if groups.setdefault(name, number) != number:
                raise click.BadParameter(
                    f"{name!r} is in two groups: name it in one", param_hint="--together"
                )
    return groups or None


def _fit_command(data: str, settings: Sequence[str], best: Mapping[str, Any]) -> str:
    """The fit command of the best candidate, with the options that were given to select."""
    chosen = [f"{name}={_text(value)}" for name, value in best.items()]
    sets = [word for setting in (*settings, *chosen) for word in ("--set", setting)]
    return shlex.join(["zshash", "fit", data, *_given(), *sets, "-o", "model.zshash"])


def _given() -> list[str]:
    """Command line words of the options that were given to select and that fit has, too."""
    ctx = click.get_current_context()
    words: list[str] = []
    for option in fit.params:
        name = option.name or ""
        source = ctx.get_parameter_source(name)
        if name not in APART and source not in (None, ParameterSource.DEFAULT):
            words += _words(option, ctx.params[name])
    return words


def _words(option: click.Parameter, value: Any) -> list[str]:
    """Command line words of an option with its value."""
    if isinstance(value, bool):
        return [option.opts[0] if value else option.secondary_opts[0]]
    values = value if option.multiple else [value]
    return [word for item in values for word in (option.opts[0], str(item))]


def _text(value: Any) -> str:
    """Text that `literal` reads as this value.

    >>> _text(1e-05), _text(None), _text("agh"), _text("1")
    ('1e-05', 'null', 'agh', '"1"')
    """
    return value if isinstance(value, str) and literal(value) == value else json.dumps(value)
