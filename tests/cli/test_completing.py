"""Words that a shell completes."""

import json
import os
import subprocess
import sys

import pytest

from tests.cli.terminals import ZSHASH
from zshash.cli import COMMANDS
from zshash.cli.completing import TABLE

VERBS = [name for part in COMMANDS.values() for name in part]


def complete(words, shell="bash"):
    """What a shell is offered for the last of some words."""
    settings = {"_ZSHASH_COMPLETE": f"{shell}_complete", "COMP_WORDS": words}
    *before, last = words.split(" ")
    settings["COMP_CWORD"] = last if shell == "fish" else str(len(before))
    done = subprocess.run(
        [ZSHASH], env=os.environ | settings, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


def offered(words):
    return [line.partition(",")[2] for line in complete(words) if line.startswith("plain,")]


def test_verbs():
    assert offered("zshash ") == VERBS
    assert set(offered("zshash s")) == {name for name in VERBS if name.startswith("s")}
    assert offered("zshash nothing") == []
    assert complete("zshash labe", "zsh")[:2] == ["plain", "label"]
    assert complete("zshash labe", "fish")[0].startswith("plain,label\tGive items")


def test_options_and_their_values():
    assert offered("zshash search album --dis") == ["--distance"]
    assert offered("zshash search album --distance ") == ["real", "bits"]
    assert {"--paths", "--null", "-0", "--csv"} <= set(offered("zshash list album -"))
    assert offered("zshash --v") == ["--version"]


def test_paths():
    assert complete("zshash search al") == ["file,al"]
    assert complete("zshash sync album --moved ol") == ["file,ol"]
    assert complete("zshash create album -m mo") == ["file,mo"]


def test_nothing_heavy_is_loaded():
    settings = {"_ZSHASH_COMPLETE": "bash_complete", "COMP_WORDS": "zshash search --k"}
    program = (
        "import sys, atexit; from zshash.cli import main;"
        "atexit.register(lambda: print('numpy' in sys.modules, 'sqlite3' in sys.modules));"
        "main(prog_name='zshash')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | settings | {"COMP_CWORD": "2"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "False False"
    assert "plain,--k" in done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_script(shell):
    settings = {"_ZSHASH_COMPLETE": f"{shell}_source"}
    done = subprocess.run([ZSHASH], env=os.environ | settings, capture_output=True, check=True)
    assert b"_ZSHASH_COMPLETE" in done.stdout


def test_the_table_is_that_of_the_commands():
    from tools.write_cli_docs import completions

    assert TABLE.read_text() == completions(), "run: python tools/write_cli_docs.py"
    assert list(json.loads(TABLE.read_text())) == VERBS
