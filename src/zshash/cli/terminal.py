"""What the commands share: mistakes in one line, files to write, tables to print."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from zshash._extras import MissingExtra
from zshash.collection import is_collection
from zshash.experiments.protocol import with_deviation

__all__ = [
    "CollectionFolder",
    "Commands",
    "Folder",
    "OutputFile",
    "ShowWarnings",
    "count",
    "keep_inputs",
    "literal",
    "plain",
    "print_json",
    "print_scores",
    "printable",
    "read_settings",
    "refuse",
]


class Commands(click.Group):
    """Lists commands by what they are for; a mistake becomes one line and exit status 2."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._sections: dict[str, list[str]] = {}

    def add_section(self, title: str, *commands: click.Command) -> None:
        """Add commands that are listed together, in this order."""
        for command in commands:
            self.add_command(command)
        self._sections[title] = [str(command.name) for command in commands]

    def list_commands(self, _: click.Context) -> list[str]:
        """Names of the commands in the order of the help."""
        return [name for names in self._sections.values() for name in names]

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands."""
        width = max(map(len, self.commands))
        for title, names in self._sections.items():
            with formatter.section(title):
                lines = [(name, self.commands[name].get_short_help_str(200)) for name in names]
                formatter.write_dl([(name.ljust(width), text) for name, text in lines])

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
    except (ValueError, TypeError, ArithmeticError, OSError, MemoryError, MissingExtra) as error:
        raise click.UsageError(" ".join(_message(error).split())) from error


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'output'}: {error.strerror}"
    if isinstance(error, MemoryError):
        return f"out of memory: {error or 'use fewer samples or anchors'}"
    if isinstance(error, ArithmeticError):
        return "a number went out of range: rescale the features or choose milder parameters"
    return str(error) or type(error).__name__


class OutputFile(click.Path):
    """A file to write; where that can not work, it is said before the work and not after.

    Parameters
    ----------
    is_stem : bool
        Whether it is the beginning of several names, one of which may be a folder's.
    """

    def __init__(self, is_stem: bool = False) -> None:
        super().__init__(dir_okay=is_stem, writable=True, path_type=Path)

    def convert(self, value: Any, param: Any, ctx: Any) -> Path:
        """The path, if its folder is there."""
        if not value:
            self.fail("the name of a file is missing", param, ctx)
        path = Path(str(super().convert(value, param, ctx)))
        if not path.parent.is_dir():
            self.fail(f"there is no folder {str(path.parent)!r}", param, ctx)
        return path


class Folder(click.Path):
    """A folder; an empty name, as a variable without a value gives, is not that of this one."""

    def __init__(self) -> None:
        super().__init__(file_okay=False, path_type=Path)

    def convert(self, value: Any, param: Any, ctx: Any) -> Path:
        """The path, if it has a name."""
        if not value:
            self.fail("the name of a folder is missing", param, ctx)
        return Path(str(super().convert(value, param, ctx)))


class CollectionFolder(click.Path):
    """The folder of a collection."""

    def __init__(self) -> None:
        super().__init__(exists=True, path_type=Path)

    def convert(self, value: Any, param: Any, ctx: Any) -> Path:
        """The path, if there is a collection."""
        path = Path(str(super().convert(value, param, ctx)))
        if not is_collection(path):
            self.fail(f"{str(path)!r} is no collection: zshash create makes one", param, ctx)
        return path


class ShowWarnings:
    """Prints warnings as one line each, without the place in the code, and none twice."""

    def __init__(self) -> None:
        self._shown: set[str] = set()

    def __call__(self, message: Warning | str, *_: Any, **__: Any) -> None:
        """Stand in for `warnings.showwarning`."""
        if str(message) not in self._shown:
            self._shown.add(str(message))
            click.echo(f"Warning: {printable(str(message))}", err=True)


def refuse(names: Sequence[str], circumstance: str) -> None:
    """End the command if it was given an option that has no meaning here."""
    ctx = click.get_current_context()
    for option in ctx.command.params:
        given = ctx.get_parameter_source(option.name or "") is not ParameterSource.DEFAULT
        if option.name in names and given:
            is_option = isinstance(option, click.Option)
            name = option.opts[0] if is_option else option.human_readable_name
            raise click.UsageError(f"{name} has no meaning {circumstance}")


def keep_inputs(output: Path, *inputs: str | Path) -> None:
    """End the command if it would write over what it reads."""
    for path in inputs:
        if output.exists() and Path(path).exists() and output.samefile(path):
            raise click.BadParameter(
                f"{str(output)!r} is read, too: choose another name", param_hint="--output"
            )


def printable(text: str) -> str:
    r"""A text without characters that steer a terminal.

    >>> print(printable("red\x1b[31m"))
    red\x1b[31m
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def plain(value: Any) -> str:
    """A value as a person reads it; names may hold commas, so semicolons are between them."""
    if isinstance(value, dict):
        value = [f"{key}={item}" for key, item in value.items()]
    return printable("; ".join(map(str, value)) if isinstance(value, list) else str(value))


def count(things: Sequence[Any] | int, word: str, one: str, many: str) -> str:
    """How many things there are."""
    n = things if isinstance(things, int) else len(things)
    return f"{n} {word}{one if n == 1 else many}"


def print_json(value: Any) -> None:
    """Print for a program."""
    click.echo(json.dumps(value, indent=2))


def print_scores(summary: Sequence[dict[str, Any]], k: int, radius: int) -> None:
    """Print a table of scores, a method each row."""
    width = max(len(row["name"]) for row in summary)
    click.echo(
        f"{'':<{width}}  {f'MAP@{k}':<15}  {'asymmetric':<15}  "
        f"{f'precision, radius {radius}':<19}  training"
    )
    for row in summary:
        click.echo(
            f"{row['name']:<{width}}  {with_deviation(row, 'map'):<15}  "
            f"{with_deviation(row, 'map_asymmetric'):<15}  "
            f"{with_deviation(row, 'precision'):<19}  {row['fit_seconds']:.2f} s"
        )


def read_settings(hasher: Any, settings: Sequence[str], form: str = "NAME") -> dict[str, Any]:
    """Parameters of a method from ``NAME=VALUE``, or whatever `form` the user writes."""
    options = ("n_bits", "normalize", "random_state")  # have flags of their own
    known = sorted(name for name in hasher.get_params() if name not in options)
    parameters = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals or name not in known:
            method = type(hasher).__name__
            cure = f"write {form}=VALUE with one of {', '.join(known)}"
            raise click.BadParameter(
                f"{setting!r}: {cure if known else f'{method} has no parameters'}",
                param_hint="--set",
            )
        parameters[name] = literal(text)
    return parameters


def literal(text: str) -> Any:
    """What JSON has for a text; True and None are read, too; else the word itself.

    >>> literal("2024"), literal("None"), literal('["Ann"]'), literal("NaN")
    (2024, None, ['Ann'], 'NaN')
    """
    words = {"true": True, "false": False, "none": None, "null": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return text


def _no_number(word: str) -> Any:
    raise ValueError(f"JSON has no {word}")
