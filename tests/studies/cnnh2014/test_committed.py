"""The page in docs/ is what the runs beside it say."""

from pathlib import Path

from zshash.evaluation.runs import RunFolder
from zshash.studies.cnnh2014 import PREFACE, STUDY, TITLE
from zshash.studies.data import Sources
from zshash.studies.pages import PageReproduction

DOCS = Path(__file__).parents[3] / "docs"


def test_runs_render_to_the_committed_page(tmp_path, monkeypatch):
    experiments = [STUDY.read(name) for name in STUDY.names]
    runs = DOCS / "cnnh-pixels" / "runs"
    known = {runs / task.path() for own in experiments for task in own.tasks}
    assert set(runs.rglob("*.json")) == known
    output, text = tmp_path / "cnnh-pixels", (TITLE, PREFACE)
    work = PageReproduction(experiments, output, Sources(), False, STUDY.names, *text)
    monkeypatch.setitem(work.__dict__, "store", RunFolder(runs))
    work.report()
    page = "cnnh-pixels.md"
    assert (tmp_path / page).read_text() == (DOCS / page).read_text()
