"""Write docs/cli.md from the commands' own help.

python tools/write_cli_docs.py
"""

from pathlib import Path

import click
from click.testing import CliRunner

from zshash.cli import main

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


if __name__ == "__main__":
    DOCS.write_text(render(), encoding="utf-8")
