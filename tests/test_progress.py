"""Progress bars on terminals, in notebooks and nowhere else."""

import io
import sys
from types import SimpleNamespace

import pytest

from zshash._progress import is_watched, progress_bar, watched


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def notebook(monkeypatch):
    """IPython as it is inside a notebook without widgets; its output is no terminal."""
    shell = SimpleNamespace(config={"IPKernelApp": {}})
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setattr("zshash._progress.find_spec", lambda _: None)
    return shell


def shown(file, wanted=True):
    """What a bar writes to a file."""
    with progress_bar(3, wanted, desc="learning", file=file) as bar:
        bar.update(3)
    return file.getvalue()


def test_a_terminal_shows_a_bar_that_is_wanted():
    assert "learning: 100%" in shown(Terminal())
    assert shown(Terminal(), wanted=False) == ""


def test_a_pipe_stays_quiet():
    assert shown(io.StringIO()) == ""


@pytest.mark.usefixtures("notebook")
def test_a_notebook_shows_a_bar_that_is_wanted():
    assert "learning: 100%" in shown(io.StringIO())
    assert shown(io.StringIO(), wanted=False) == ""


@pytest.mark.usefixtures("notebook")
def test_a_notebook_with_widgets_shows_their_bar(monkeypatch):
    made = []
    widgets = SimpleNamespace(tqdm=lambda **options: made.append(options))
    monkeypatch.setattr("zshash._progress.find_spec", lambda _: object())
    monkeypatch.setitem(sys.modules, "tqdm.notebook", widgets)
    progress_bar(3, True, desc="learning")
    assert made == [{"total": 3, "disable": False, "desc": "learning"}]


def test_the_console_of_ipython_is_no_notebook(notebook):
    notebook.config.clear()
    assert shown(io.StringIO()) == ""


def test_work_is_watched_inside_a_block():
    with watched(True):
        assert is_watched()
        with watched(False):
            assert not is_watched()
    assert not is_watched()
