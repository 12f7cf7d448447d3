"""The report in docs/ is what the results beside it say, and they come out again."""

from pathlib import Path

import pytest

from zshash.evaluation.running import Job, run_job
from zshash.evaluation.runs import RunFolder
from zshash.evaluation.standard import data_folder
from zshash.evaluation.statistics import deviation
from zshash.studies.data import Sources
from zshash.studies.findings import Findings
from zshash.studies.report import write_report
from zshash.studies.zsh2016 import STUDY

NAMES, read_experiment = STUDY.names, STUDY.read

DOCS = Path(__file__).parents[3] / "docs"
RESULTS = RunFolder(DOCS / "results" / "runs")


@pytest.fixture(scope="module")
def experiments():
    return [read_experiment(name) for name in NAMES]


def test_results_render_to_the_committed_report(experiments, tmp_path):
    found = [Findings.read(own, RESULTS, tmp_path / "pictures") for own in experiments]
    write_report(found, tmp_path / "results", NAMES)
    assert (tmp_path / "results.md").read_text() == (DOCS / "results.md").read_text()
    drawn = {path.name: path.read_bytes() for path in (tmp_path / "results").glob("*.svg")}
    committed = {path.name: path.read_bytes() for path in (DOCS / "results").glob("*.svg")}
    assert drawn == committed


@pytest.mark.parametrize("place", [0, -1])
@pytest.mark.parametrize("name", NAMES)
def test_a_report_of_a_single_run(name, place, tmp_path):
    """As after an interruption: nothing but one run of the first or the last task is there."""
    task = read_experiment(name).tasks[place]
    known = RESULTS.read(task)
    results = RunFolder(tmp_path / "runs")
    results.add(task, known.checksum, known.runs[0])
    found = Findings.read(read_experiment(name), results, tmp_path / "pictures")
    write_report([found], tmp_path / "part", NAMES)
    assert "**Not all runs are there.**" in (tmp_path / "part.md").read_text()


def test_every_run_is_there_and_none_failed(experiments):
    for experiment in experiments:
        found = Findings.read(experiment, RESULTS)
        assert found.is_complete, experiment.name
        assert not any(result.error for result in found.results), experiment.name


def test_no_result_belongs_to_nothing(experiments):
    needed = {task.path() for experiment in experiments for task in experiment.tasks}
    kept = {path.relative_to(RESULTS.folder) for path in RESULTS.folder.rglob("*.json")}
    assert kept == needed


@pytest.mark.skipif(
    not (data_folder() / "features/cifar10_lite0_pca256.npz").is_file(),
    reason="the features of CIFAR-10 are not in ZSHASH_DATA",
)
@pytest.mark.parametrize(("method", "spread"), [("LSH", 0.001), ("ITQ", 0.02), ("ZSH", None)])
def test_a_run_comes_out_again(experiments, method, spread):
    """On the machine that made it, to the last digit; rounding leads ZSH's start elsewhere."""
    cifar10 = next(experiment for experiment in experiments if experiment.name == "cifar10")
    known = Findings.read(cifar10, RESULTS).where(method=method, bits=32).results[0]
    record = run_job(Job(known.task, 1, known.checksum), Sources())
    for key in ("map", "precision"):
        values = known.values(key)
        allowed = spread or 2 * deviation(values)
        assert record[key] == pytest.approx(values[1], abs=allowed)
