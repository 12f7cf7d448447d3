"""Write docs/cli.md from the commands' own help, and the table for completion in a shell.

python tools/write_cli_docs.py
"""

import json
from pathlib import Path

import click
from click.testing import CliRunner

from zshash.cli import main
from zshash.cli.completing import TABLE, as_facts

DOCS = Path(__file__).resolve().parents[1] / "docs" / "cli.md"


def render() -> str:
    """The text of docs/cli.md."""
    parts = [
        "# Command line",
        "Written by `python tools/write_cli_docs.py` from the code.",
        help_of(),
    ]
    parts += [
        f"## {name}\n\n{help_of(name)}" for name in sorted(main.list_commands(click.Context(main)))
    ]
    return "\n\n".join(parts) + "\n"


def help_of(*command: str) -> str:
    """What ``zshash COMMAND --help`` prints, 80 characters wide."""
    shown = CliRunner().invoke(main, [*command, "--help"], prog_name="zshash", terminal_width=80)
    return f"```text\n{shown.output}```"


def completions() -> str:
    """The options of all commands as JSON, a line for each command."""
    ctx, lines = click.Context(main), []
    for name in main.list_commands(ctx):
        command = main.get_command(ctx, name)
        lines.append(f"{json.dumps(name)}: {json.dumps(as_facts(command) if command else [])}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    DOCS.write_text(render(), encoding="utf-8")
    TABLE.write_text(completions(), encoding="utf-8")
