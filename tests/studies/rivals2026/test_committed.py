"""The page in docs/ is what the runs beside it say."""

from pathlib import Path

import pytest

from zshash.evaluation.runs import RunFolder
from zshash.studies.data import Sources
from zshash.studies.pages import PageReproduction
from zshash.studies.rivals2026 import PREFACE, STUDY, TITLE

DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture(scope="module")
def experiments():
    return [STUDY.read(name) for name in STUDY.names]


def test_runs_render_to_the_committed_page(experiments, tmp_path, monkeypatch):
    text = TITLE, PREFACE
    work = PageReproduction(experiments, tmp_path / "rivals", Sources(), False, STUDY.names, *text)
    monkeypatch.setitem(work.__dict__, "store", RunFolder(DOCS / "rivals" / "runs"))
    work.report()
    assert (tmp_path / "rivals.md").read_text() == (DOCS / "rivals.md").read_text()
    for plot in (DOCS / "rivals").glob("*.svg"):
        assert (tmp_path / "rivals" / plot.name).read_text() == plot.read_text()


def test_every_run_belongs_to_the_study(experiments):
    known = {DOCS / "rivals" / "runs" / task.path() for own in experiments for task in own.tasks}
    found = set((DOCS / "rivals" / "runs").rglob("*.json"))
    assert found
    assert found <= known
