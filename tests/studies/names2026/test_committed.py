"""The pages in docs/ are what the runs beside them say."""

from pathlib import Path

import pytest

from zshash.evaluation.runs import RunFolder
from zshash.studies.data import Sources
from zshash.studies.names2026 import PREFACE, STUDY, TITLE
from zshash.studies.pages import PageReproduction

DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize("name", STUDY.names)
def test_runs_render_to_the_committed_page(name, tmp_path, monkeypatch):
    text = TITLE, PREFACE
    work = PageReproduction(
        [STUDY.read(name)], tmp_path / name, Sources(), False, STUDY.names, *text
    )
    monkeypatch.setitem(work.__dict__, "store", RunFolder(DOCS / name / "runs"))
    work.report()
    assert (tmp_path / f"{name}.md").read_text() == (DOCS / f"{name}.md").read_text()


@pytest.mark.parametrize("name", STUDY.names)
def test_every_run_belongs_to_the_study(name):
    known = {DOCS / name / "runs" / task.path() for task in STUDY.read(name).tasks}
    assert set((DOCS / name / "runs").rglob("*.json")) <= known
