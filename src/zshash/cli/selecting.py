"""Parameters chosen without unseen data."""

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
    json_option,
    k_option,
    labels_option,
    make_hasher,
    method_option,
    normalize_option,
    output_file,
    radius_option,
    reading_options,
    set_option,
)
from zshash.cli.terminal import keep_inputs, literal, printable
from zshash.experiments.selection import SCORES, select_from
from zshash.hashing.registry import METHODS
from zshash.images import PictureReader

__all__ = ["select"]

APART = ("data", "output", "settings", "n_train", "as_json")
"""Of the options of fit, those that are not taken over from this command as they are."""


@click.command()
@click.argument("data")
@method_option
@bits_option
@click.option(
    "--grid",
    "grids",
    multiple=True,
    metavar="NAME=VALUE,VALUE",
    help="Values of a parameter to try, for instance --grid nu=1e-5,1e-3 --grid loss=l2,hinge: "
    "every combination is a candidate.  [default: what zshash info --methods --json lists as the "
    "method's grid, without what --set fixes]",
)
@click.option(
    "--candidates",
    "n_candidates",
    type=click.IntRange(1),
    help="Try so many combinations at random.  [default: all]",
)
@click.option(
    "--unseen",
    multiple=True,
    metavar="NAME",
    help="Category that is to stay unseen: no sample of it is read.",
)
@click.option(
    "--hold-out",
    "n_unseen",
    type=click.IntRange(1),
    help="Categories to hold out in each fold.  [default: a tenth of them, at least one]",
)
@click.option(
    "--together",
    multiple=True,
    metavar="NAME;NAME",
    help="Categories that are held out together, so that none stands in for another. --hold-out "
    "counts them as one.",
)
@click.option(
    "--splits", "n_splits", default=3, show_default=True, type=click.IntRange(1), help="Folds."
)
@click.option(
    "--train", "n_train", type=click.IntRange(2), help="Samples to train on in each fold."
)
@click.option(
    "--queries",
    "n_queries",
    type=click.IntRange(1),
    help="Queries to draw in each fold.  [default: half of what is held out, at most 1000]",
)
@click.option(
    "--score",
    default="map",
    show_default=True,
    type=click.Choice(list(SCORES)),
    help="What to choose by: MAP over the first K, precision within the Hamming radius, or MAP by "
    "asymmetric distance.",
)
@k_option
@radius_option
@labels_option("wordnet; onehot for methods that do not learn from names")
@set_option
@normalize_option
@click.option(
    "--jobs",
    "n_jobs",
    default=1,
    show_default=True,
    type=click.IntRange(-1),
    help="Processes, which share the cores; -1 for one each core. The scores are the same.",
)
@click.option("--seed", default=0, show_default=True, type=int, help="Same seed, same scores.")
@click.option(
    "--output",
    "-o",
    metavar="FILE",
    type=output_file,
    help="Write every score to a file, too (JSON).",
)
@reading_options
@json_option
def select(
    data: str,
    method: str,
    bits: int,
    grids: tuple[str, ...],
    together: tuple[str, ...],
    labels: tuple[str, ...],
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
    """Choose parameters of a method by categories of DATA held out as if they were unseen.

    DATA is as for fit, and every category but those of --unseen has labels there. In each fold
    some of them are not trained on: they are searched for among all samples, as eval does with
    unseen ones. All candidates get the same folds. Prints mean and standard error of each, how far
    it is behind the best, and the command that fits the best one to all of DATA.
    """
    if n_jobs == 0:
        raise click.BadParameter("say 1 or more, or -1 for all cores", param_hint="--jobs")
    if output:
        keep_inputs(output, data, *labels)
    hasher = make_hasher(method, bits, normalize, settings).set_params(random_state=seed)
    found = select_from(
        hasher,
        data,
        _read_grid(hasher, grids, settings),
        reader=reader,
        labels=labels,
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
    hasher: Any, grids: Sequence[str], settings: Sequence[str]
) -> dict[str, Sequence[Any]]:
    """Values to try, by parameter: those given, or the method's own for what is not set."""
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
            raise click.UsageError(f"{name} is both set and to be tried: leave out one of them")
        grid.setdefault(name, []).extend(map(literal, values.split(",")))
    own = {name: values for name, values in METHODS[method].grid.items() if name not in fixed}
    if not grid and not own:
        raise click.UsageError(f"{method} has nothing of its own to try: say --grid {form}")
    return {**(grid or own)}


def _read_groups(together: Sequence[str]) -> dict[str, int] | None:
    """Names that are held out together, by the number of the option."""
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
                raise click.BadParameter(f"{name!r} is in two groups", param_hint="--together")
    return groups or None


def _fit_command(data: str, settings: Sequence[str], best: Mapping[str, Any]) -> str:
    """The command line that fits the best candidate, with the options that this one was given."""
    chosen = [f"{name}={_text(value)}" for name, value in best.items()]
    sets = [word for setting in (*settings, *chosen) for word in ("--set", setting)]
    return shlex.join(["zshash", "fit", data, *_given(), *sets, "-o", "model.zshash"])


def _given() -> list[str]:
    """Words of the options that this command was given and that fit has, too."""
    ctx = click.get_current_context()
    words: list[str] = []
    for option in fit.params:
        name = option.name or ""
        source = ctx.get_parameter_source(name)
        if name not in APART and source not in (None, ParameterSource.DEFAULT):
            words += _words(option, ctx.params[name])
    return words


def _words(option: click.Parameter, value: Any) -> list[str]:
    """An option as it is written on the command line."""
    if isinstance(value, bool):
        return [option.opts[0] if value else option.secondary_opts[0]]
    values = value if option.multiple else [value]
    return [word for item in values for word in (option.opts[0], str(item))]


def _text(value: Any) -> str:
    """What `literal` reads as this value.

    >>> _text(1e-05), _text(None), _text("agh"), _text("1")
    ('1e-05', 'null', 'agh', '"1"')
    """
    return value if isinstance(value, str) and literal(value) == value else json.dumps(value)
