"""Options on what labels mean: --alias and --aliases."""

from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

import click

from zshash.cli.parameters import Text

__all__ = ["alias_options"]

_options = (
    click.option(
        "--alias",
        "pairs",
        multiple=True,
        type=Text(),
        metavar="LABEL=MEANING",
        help='Say what a label means, for instance --alias Rex=dog or --alias "crane=crane '
        '(bird)"; may be repeated.',
    ),
    click.option(
        "--aliases",
        "alias_file",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Text file with a line such as Rex = dog for each label; a comma or a tab may stand "
        "for the equals sign. --alias goes before it.",
    ),
)


def alias_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --alias and --aliases; the command gets them as one dictionary, `aliases`."""

    @wraps(command)
    def with_aliases(
        *args: Any, pairs: tuple[str, ...], alias_file: Path | None, **kwargs: Any
    ) -> Any:
        from zshash.learning.aliases import read_aliases

        written = {} if alias_file is None else read_aliases(alias_file)
        return command(*args, aliases=written | _parse(pairs), **kwargs)

    for option in reversed(_options):
        with_aliases = option(with_aliases)
    return with_aliases


def _parse(pairs: Sequence[str]) -> dict[str, str]:
    """Meanings by label, from texts of the form LABEL=MEANING.

    >>> _parse(["Rex=dog", "old crane = crane (bird)"])
    {'Rex': 'dog', 'old crane': 'crane (bird)'}
    """
    found: dict[str, str] = {}
    for pair in pairs:
        label, _, meaning = map(str.strip, pair.partition("="))
        if not label or not meaning:
            raise click.BadParameter(
                f"{pair!r}: write LABEL=MEANING, as in Rex=dog", param_hint="--alias"
            )
        if found.setdefault(label, meaning) != meaning:
            raise click.BadParameter(
                f"{label!r} is both {found[label]!r} and {meaning!r}: leave one of them out",
                param_hint="--alias",
            )
    return found
