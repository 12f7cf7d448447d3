"""Charts of long codes, of runs that are written by hand."""

import pytest

from zshash.evaluation.report.document import Lines, Scatter
from zshash.evaluation.runs import Result
from zshash.studies.findings import Findings
from zshash.studies.rivals2026 import STUDY
from zshash.studies.rivals2026.charts import line, shared_seeds
from zshash.studies.rivals2026.long import show_long
from zshash.studies.rivals2026.timing import SearchTime

MILLISECONDS = {"bits": 0.1, "bits by bits": 0.01, "parts": 0.1, "PQ": 1.0, "floats": 10.0}


@pytest.fixture(scope="module")
def blocks():
    """Every run has the score bits / 1,000, or takes so long."""
    experiment = STUDY.read("rivals-long")
    return show_long(Findings(experiment, [written(task) for task in experiment.tasks]))


def written(task):
    if isinstance(task, SearchTime):
        return Result(task, [{"seed": 0, "milliseconds": MILLISECONDS[task.coding]}])
    n_bytes = 1024 if task.coder.startswith("floats") else task.bits / 8
    run = {"seed": 0, "bytes": n_bytes, "fit_seconds": 1.0, "map": task.bits / 2000}
    return Result(task, [run | {f"map_real{own}": task.bits / 1000 for own in ("", "_seen")}])


def panels(blocks, kind):
    found = {block.name: block.panels[0] for block in blocks if hasattr(block, "panels")}
    return {name: panel for name, panel in found.items() if isinstance(panel, kind)}


def test_every_coder_has_a_line(blocks):
    experiment = STUDY.read("rivals-long")
    charts = panels(blocks, Lines)
    for told, pool in (("inductive", False), ("unlabelled", True)):
        drawn = [panel for name, panel in charts.items() if told in name]
        labels = {line.label for panel in drawn for line in panel.lines}
        names = {
            task.name
            for task in experiment.tasks
            if not isinstance(task, SearchTime) and task.unlabelled is pool
        }
        assert {label.removesuffix(", 1,024 bytes") for label in labels} == names
        assert all(panel.lines[0].label == "MTH best" for panel in drawn)
        assert all(panel.lines[-1].label == "floats, 1,024 bytes" for panel in drawn)
    (line,) = [
        line
        for line in charts["rivals-long-inductive-features"].lines
        if line.label == "SpectralHashing"
    ]
    assert list(line.x) == [4, 8, 16, 32, 64]
    assert list(line.y) == [0.032, 0.064, 0.128, 0.256, 0.512]


def test_what_can_not_make_long_codes_is_left_out(blocks):
    features = panels(blocks, Lines)["rivals-long-inductive-features"].lines
    (itq,) = [line for line in features if line.label == "ITQ"]
    assert list(itq.x) == [4, 8, 16, 32]


def test_map_over_the_time_of_a_search(blocks):
    found = panels(blocks, Scatter)
    assert set(found) == {"rivals-long-inductive-search", "rivals-long-unlabelled-search"}
    points = {own.label: (own.x, own.y) for own in found["rivals-long-inductive-search"].points}
    assert points["MTH, 8"] == (-1, 0.064)
    assert points["MTH by bits, 8"] == (-2, 0.032)
    assert points["MTH, parts, 32"] == (-1, 0.256)
    assert points["OPQ, 64"] == (0, 0.512)
    assert points["floats"] == (1, 0.256)
    assert len(points) == 21


def test_tables_are_of_the_long_codes_alone(blocks):
    tables = [block.caption for block in blocks if not hasattr(block, "panels")]
    assert tables == [
        f"tiny100, Lite0, {size} bytes, {told}; one seed"
        for size in (32, 64)
        for told in ("inductive", "with unlabelled pictures")
    ]


def test_seeds_that_hide_other_categories_are_not_drawn_together():
    """MTH has two seeds at each length and a third one at one; another coder has one less."""
    experiment = STUDY.read("rivals-long")
    tasks = [own for own in experiment.tasks if getattr(own, "unlabelled", None) is False]
    results = []
    for task in tasks:
        if task.name in ("MTH best", "PQ") and task.bits in (32, 64):
            seeds = range(3 if task.bits == 64 else 2)
            runs = [{"seed": seed, "bytes": task.bits / 8, "map_real": seed / 2} for seed in seeds]
            results.append(Result(task, runs[: 1 if task.name == "PQ" and task.bits == 32 else 3]))
    found = Findings(experiment, results)
    assert shared_seeds(found) == {0, 1}
    assert list(line(found, "MTH best", {0, 1}).y) == [0.25, 0.25]
    assert list(line(found, "PQ", {0, 1}).x) == [8]
