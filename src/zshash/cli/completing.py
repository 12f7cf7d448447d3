"""Completion of words in a shell: what each command takes, without loading the command.

Commands import NumPy and much more, which takes too long for a press of the tab key. So their
options are in a file beside this one; ``python tools/write_cli_docs.py`` writes it from the code.
"""

import json
from pathlib import Path
from typing import Any

import click

__all__ = ["TABLE", "as_facts", "stand_in"]

TABLE = Path(__file__).with_name("completions.json")
MOST_LETTERS = 60  # of the help that some shells show beside an option


def as_facts(command: click.Command) -> list[dict[str, Any]]:
    """The options of a command, as values that JSON can hold."""
    options = [option for option in command.params if isinstance(option, click.Option)]
    return [_facts(option) for option in options if not option.hidden]


def _facts(option: click.Option) -> dict[str, Any]:
    facts: dict[str, Any] = {"names": [*option.opts, *option.secondary_opts]}
    if option.is_flag:
        facts["flag"] = True
    elif isinstance(option.type, click.Choice):
        facts["choices"] = list(option.type.choices)
    elif isinstance(option.type, click.Path):
        facts["path"] = True
    if option.nargs != 1:
        facts["values"] = option.nargs
    words = (option.help or "").split(". ")[0].rstrip(".")
    return facts | {"help": words if len(words) <= MOST_LETTERS else ""}


def stand_in(name: str) -> click.Command:
    """Command that takes the options of another one and any paths, and does nothing."""
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    options: list[click.Parameter] = [
        _option(place, one) for place, one in enumerate(table.get(name, []))
    ]
    paths = click.Argument(["words"], nargs=-1, required=False, type=click.Path())
    return click.Command(name, params=[*options, paths])


def _option(place: int, facts: dict[str, Any]) -> click.Option:
    kind: click.ParamType[Any] | None = None
    if "choices" in facts:
        kind = click.Choice(facts["choices"])
    elif "path" in facts:
        kind = click.Path()
    return click.Option(
        [*facts["names"], f"option_{place}"],
        is_flag=facts.get("flag", False),
        type=kind,
        multiple=True,
        nargs=facts.get("values", 1),
        help=facts["help"] or None,
    )
