"""Parts that all commands share: errors in one line, settings to read, tables to print."""

import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from zshash._extras import MissingExtra
from zshash.cli.completing import stand_in

if TYPE_CHECKING:
    from zshash.collection import Collection
    from zshash.hashing.hasher import Hasher

__all__ = [
    "Commands",
    "ShowWarnings",
    "count",
    "keep_inputs",
    "literal",
    "meant_items",
    "plain",
    "print_json",
    "print_scores",
    "printable",
    "read_settings",
    "refuse",
    "unknown_fields",
]

INTERRUPTED = 130  # exit status of programs that Ctrl-C has ended
BUILT_IN = ("label", "path", "id")  # fields of every item
Sections = Mapping[str, Mapping[str, tuple[str, str]]]


class Commands(click.Group):
    """Commands in sections; the module of a command is loaded when the command is called.

    A user's mistake becomes one line and exit status 2; Ctrl-C becomes one line, too, and exit
    status 130. A command that knows what is kept raises KeyboardInterrupt with a sentence on it.

    Parameters
    ----------
    sections : mapping
        For each title of the help a mapping from the name of a command to the place of its
        function, "module:function", and the first sentence of its help.
    """

    def __init__(self, *args: Any, sections: Sections | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._sections = dict(sections or {})
        self._places = {
            name: place for part in self._sections.values() for name, (place, _) in part.items()
        }

    def list_commands(self, _: click.Context) -> list[str]:
        """Names of the commands in the order of the help."""
        return list(self._places)

    def get_command(self, ctx: click.Context | None, name: str) -> click.Command | None:
        """The command with this name, or None; a stand-in while a shell completes words."""
        if name not in self._places:
            return None
        if ctx is not None and ctx.resilient_parsing:
            return stand_in(name)
        module, function = self._places[name].split(":")
        command: click.Command = getattr(import_module(module), function)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first word names; for an unknown word the nearest one is named."""
        name = args[0]
        if name not in self._places and not ctx.resilient_parsing:
            near = get_close_matches(name.lower(), self._places, n=1)
            cure = f"did you mean {near[0]!r}?" if near else "zshash --help lists the commands"
            raise click.UsageError(f"No such command {name!r}: {cure}", ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Names of commands, or options, that begin with a text; no command is loaded."""
        texts = {name: text for part in self._sections.values() for name, (_, text) in part.items()}
        named = [CompletionItem(name, help=text) for name, text in texts.items()]
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [item for item in named if item.value.startswith(incomplete)] + options

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands, without loading them."""
        width = max(map(len, self._places))
        for title, part in self._sections.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), text) for name, (_, text) in part.items()])

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Read the arguments before the command's name."""
        with _one_line():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; errors in data or arguments end it without a traceback."""
        try:
            with _one_line():
                return super().invoke(ctx)
        except KeyboardInterrupt as error:  # the first line is the one where the terminal shows ^C
            click.echo(f"\nInterrupted. {error}".rstrip(), err=True)
            raise click.exceptions.Exit(INTERRUPTED) from error


@contextmanager
def _one_line() -> Iterator[None]:
    try:
        yield
    except (click.exceptions.NoArgsIsHelpError, BrokenPipeError):
        raise
    except click.MissingParameter as error:
        verb = error.ctx.command_path if error.ctx else "zshash"
        text = error.format_message().rstrip(".")
        raise click.UsageError(f"{text}: {verb} --help tells what it takes") from error
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
    return (str(error) or type(error).__name__) + _hint(error)


def _hint(error: Exception) -> str:
    """Options to type, for errors whose message can not name them."""
    from zshash.collection.errors import NoFeatures
    from zshash.collection.operations.sync_scope import MissingFolder
    from zshash.datasets.downloads import DownloadError
    from zshash.images.reading import ExtractorError
    from zshash.learning.aliases import AliasError
    from zshash.learning.targets import SourceError
    from zshash.semantics import UnknownNames

    for own in (error, error.__cause__):
        if isinstance(own, UnknownNames) and not any(own.suggestions.values()):
            return " (a name is an English noun, such as dog)"
    if isinstance(error, DownloadError):
        return " (--from PATH)"
    if isinstance(error, SourceError):
        return " (--meanings)"
    if isinstance(error, AliasError):
        return " (--alias, --aliases)"
    if isinstance(error, MissingFolder):
        return " (if it has moved: zshash sync ALBUM --moved OLD NEW)"
    if isinstance(error, NoFeatures):
        return " (zshash create --keep-features)"
    if isinstance(error, ExtractorError):
        return f" (--extractor {error.network or 'NETWORK'})"
    return ""


class ShowWarnings:
    """Prints each warning once, as one line without the place in the code."""

    def __init__(self) -> None:
        self._shown: set[str] = set()

    def __call__(self, message: Warning | str, *_: Any, **__: Any) -> None:
        """Stand in for `warnings.showwarning`."""
        if str(message) not in self._shown:
            self._shown.add(str(message))
            click.echo(f"Warning: {printable(str(message))}{_cure(message)}", err=True)


def _cure(warning: Warning | str) -> str:
    """Option that changes what a warning is about; its message can not name it."""
    from zshash.collection.operations.unreadable import ToldBefore
    from zshash.datasets.folders import FolderWarning
    from zshash.learning.aliases import MeaningWarning

    if isinstance(warning, ToldBefore):
        return " (zshash info lists them)"
    if isinstance(warning, FolderWarning):
        return " (--labels folders)"
    return " (--alias LABEL=MEANING)" if isinstance(warning, MeaningWarning) else ""


def refuse(names: Sequence[str], circumstance: str) -> None:
    """End the command if one of the named options was given, which has no meaning here."""
    ctx = click.get_current_context()
    for option in ctx.command.params:
        given = ctx.get_parameter_source(option.name or "") is not ParameterSource.DEFAULT
        if option.name in names and given:
            is_option = isinstance(option, click.Option)
            name = option.opts[0] if is_option else option.human_readable_name
            raise click.UsageError(f"{name} has no meaning {circumstance}; leave it out")


def keep_inputs(output: Path, *inputs: str | Path) -> None:
    """End the command if its output would replace one of its inputs."""
    for path in inputs:
        if output.exists() and Path(path).exists() and output.samefile(path):
            raise click.BadParameter(
                f"{str(output)!r} is also an input of this command: choose another name",
                param_hint="--output",
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
    """Text for a value; items of a list are separated by semicolons, as names may hold commas."""
    if isinstance(value, dict):
        value = [f"{key}={item}" for key, item in value.items()]
    return printable("; ".join(map(str, value)) if isinstance(value, list) else str(value))


def count(things: Sequence[Any] | int, word: str, one: str, many: str) -> str:
    """Number of things with their noun, in the singular or plural."""
    n = things if isinstance(things, int) else len(things)
    return f"{n} {word}{one if n == 1 else many}"


def unknown_fields(collection: "Collection", where: str) -> str:
    """Message on fields of a condition that no item has, with the known fields; else empty."""
    unknown = collection.unknown_fields(where)
    if not unknown or not len(collection):
        return ""
    some = collection.items(collection.ids[:1000])
    known = sorted({name for item in some for name in item.metadata})
    return f"no item has {' or '.join(unknown)}; there are {', '.join([*BUILT_IN, *known])}"


def meant_items(collection: "Collection", where: str, kept: str) -> list[int]:
    """Ids of the items that meet a condition; a misspelled field that lets items in is an error.

    The error ends with `kept`, which says that nothing was done.
    """
    found: list[int] = collection.find(where).tolist()
    unknown = unknown_fields(collection, where)
    if found and unknown:
        raise click.UsageError(f"{unknown}; {kept}")
    if unknown:
        warnings.warn(unknown, UserWarning, stacklevel=2)
    return found


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    click.echo(json.dumps(value, indent=2))


def print_scores(summary: Sequence[dict[str, Any]], k: int, radius: int) -> None:
    """Print a table of scores, one row for each method."""
    from zshash.evaluation.protocol import with_deviation

    titles = {"map": f"MAP@{k}", "map_real": "real-valued"}
    others = {"map_alone": "hidden alone", "map_seen": "seen queries"}
    titles |= {key: title for key, title in others.items() if any(key in row for row in summary)}
    titles["precision"] = f"precision, radius {radius}"
    width = max(len(row["name"]) for row in summary)
    widths = {key: max(15, len(title)) for key, title in titles.items()}
    head = (f"{title:<{widths[key]}}" for key, title in titles.items())
    click.echo("  ".join([" " * width, *head, "training"]))
    for row in summary:
        scores = (f"{with_deviation(row, key):<{widths[key]}}" for key in titles)
        click.echo("  ".join([f"{row['name']:<{width}}", *scores, f"{row['fit_seconds']:.2f} s"]))


def read_settings(hasher: "Hasher", settings: Sequence[str], form: str = "NAME") -> dict[str, Any]:
    """Parameters of a method from texts ``NAME=VALUE``; messages call NAME by `form`."""
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
    """Value of a text in JSON; Python's True and None are read, too; other text stays text.

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
