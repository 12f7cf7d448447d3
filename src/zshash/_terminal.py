"""What the commands share: mistakes in one line, files to write, tables to print."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from zshash.experiments.protocol import with_deviation

__all__ = [
    "Commands",
    "OutputFile",
    "plain",
    "print_json",
    "print_scores",
    "read_settings",
    "refuse",
    "show_warning",
]


class Commands(click.Group):
    """Turns a user's mistake into one line and exit status 2."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Read the arguments before the command's name."""
        with _one_line():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; errors in data or arguments end it without a traceback."""
        with _one_line():
            return super().invoke(ctx)


@contextmanager
def _one_line() -> Iterator[None]:
    try:
        yield
    except (click.exceptions.NoArgsIsHelpError, BrokenPipeError):
        raise
    except click.UsageError as error:
        error.ctx = None  # with it, the usage would be printed too
        raise
    except (ValueError, TypeError, OSError, MemoryError) as error:
        raise click.UsageError(" ".join(_message(error).split())) from error


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'output'}: {error.strerror}"
    if isinstance(error, MemoryError):
        return f"out of memory: {error or 'use fewer samples or anchors'}"
    return str(error) or type(error).__name__


class OutputFile(click.Path):
    """A file to write; where that can not work, it is said before the work and not after."""

    def __init__(self) -> None:
        super().__init__(dir_okay=False, writable=True, path_type=Path)

    def convert(self, value: Any, param: Any, ctx: Any) -> Path:
        """The path, if its folder is there."""
        path = Path(str(super().convert(value, param, ctx)))
        if not path.parent.is_dir():
            self.fail(f"there is no folder {str(path.parent)!r}", param, ctx)
        return path


def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning as one line, without the place in the code it came from."""
    click.echo(f"Warning: {message}", err=True)


def refuse(names: Sequence[str], circumstance: str) -> None:
    """End the command if it was given an option that has no meaning here."""
    ctx = click.get_current_context()
    for option in ctx.command.params:
        given = ctx.get_parameter_source(option.name or "") is not ParameterSource.DEFAULT
        if option.name in names and given:
            raise click.UsageError(f"{option.opts[0]} has no meaning {circumstance}")


def plain(value: Any) -> str:
    """A value as a person reads it; names may hold commas, so lists have semicolons."""
    if isinstance(value, dict):
        return ", ".join(f"{key}={item}" for key, item in value.items())
    return "; ".join(map(str, value)) if isinstance(value, list) else str(value)


def print_json(value: Any) -> None:
    """Print for a program."""
    click.echo(json.dumps(value, indent=2))


def print_scores(summary: Sequence[dict[str, Any]], k: int, radius: int) -> None:
    """Print a table of scores, a method each row."""
    width = max(len(row["name"]) for row in summary)
    click.echo(f"{'':<{width}}  {f'MAP@{k}':<15}  {f'precision, radius {radius}':<19}  training")
    for row in summary:
        click.echo(
            f"{row['name']:<{width}}  {with_deviation(row, 'map'):<15}  "
            f"{with_deviation(row, 'precision'):<19}  {row['fit_seconds']:.2f} s"
        )


def read_settings(hasher: Any, settings: Sequence[str]) -> dict[str, Any]:
    """Parameters of a method from ``NAME=VALUE``."""
    options = ("n_bits", "normalize", "random_state")  # have flags of their own
    known = sorted(name for name in hasher.get_params() if name not in options)
    parameters = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals or name not in known:
            cure = f"with one of {', '.join(known)}" if known else "for a method that has some"
            raise click.BadParameter(f"{setting!r}: write NAME=VALUE {cure}", param_hint="--set")
        parameters[name] = _literal(text)
    return parameters


def _literal(text: str) -> Any:
    """A number, true, false or none where it reads as one, else the word itself."""
    try:
        return json.loads({"none": "null"}.get(text.lower(), text.lower()))
    except ValueError:
        return text
