"""The task against its parts, and tables of runs that are written by hand."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from zshash import ITQ, MTH
from zshash.cli import main
from zshash.datasets import DataError, digits
from zshash.evaluation.protocol import Protocol, Setup, run_setup
from zshash.evaluation.runs import RunFolder
from zshash.index import ProductIndex
from zshash.studies.data import Sources
from zshash.studies.experiments import Changes
from zshash.studies.findings import Findings
from zshash.studies.rivals2026 import STUDY
from zshash.studies.rivals2026.coders import CODERS, score_coder
from zshash.studies.rivals2026.coding import EqualBytes, reduced
from zshash.studies.rivals2026.tables import show

USUAL = {"data": "digits", "n_train": 300, "n_queries": 40, "n_seen_queries": 30, "k": 100}
KINDS = ("map", "map_real", "map_alone", "map_real_alone", "map_seen", "map_real_seen")


def protocol(**others):
    return Protocol(2, n_train=300, n_queries=40, n_seen_queries=30, k=100, **others)


def test_a_method_is_scored_by_the_protocol():
    task = EqualBytes(unseen=2, method="ITQ", bits=32, **USUAL)
    found, data = task.run(1, Sources()), digits()
    setup = Setup("ITQ", ITQ(32, normalize=True))
    own = run_setup(data, setup, protocol().split(data, 1), protocol(), 1)
    assert {key: found[key] for key in KINDS} == pytest.approx({key: own[key] for key in KINDS})
    assert (found["bytes"], found["n_train"], found["n_pool"]) == (4, 300, 0)
    assert found["unseen"] == own["unseen"]


@pytest.mark.parametrize("unlabelled", [False, True])
def test_a_quantiser_learns_from_the_same_pictures(unlabelled):
    task = EqualBytes(unseen=2, coder="PCA signs", bits=32, unlabelled=unlabelled, **USUAL)
    found, data, own = task.run(1, Sources()), digits(), protocol(unlabelled=unlabelled)
    split = own.split(data, 1)
    direct = score_coder(CODERS["PCA signs"], data, split, own, 4, 1)
    assert {key: found[key] for key in KINDS} == pytest.approx({key: direct[key] for key in KINDS})
    assert found["n_pool"] == (len(split.pool) if unlabelled else 0)
    assert not set(split.pool) & {*split.queries, *split.seen_queries}


def test_floats_take_four_bytes_a_number():
    found = EqualBytes(unseen=2, coder="floats", bits=32, **USUAL).run(0, Sources())
    assert found["bytes"] == 4 * digits().X.shape[1]
    assert "map" not in found  # floats have no bits


def test_one_category_is_hidden_in_turn():
    names = ("four", "seven")
    task = EqualBytes(unseen=names, in_turn=True, coder="PCA signs", bits=32, **USUAL)
    assert [task.run(seed, Sources())["unseen"] for seed in range(3)] == [
        ["four"],
        ["seven"],
        ["four"],
    ]


def test_features_are_reduced_by_training_samples_alone():
    X = digits().X
    rows = list(range(100))
    changed = X.copy()
    changed[100:] += 1
    assert reduced(X, rows, 5).shape == (len(X), 5)
    assert reduced(X, rows, 5)[:100] == pytest.approx(reduced(changed, rows, 5)[:100])


def test_what_a_coder_is():
    assert CODERS["PCA signs"].is_binary
    assert not CODERS["OPQ"].is_binary
    task = EqualBytes(unseen=2, coder="OPQ", bits=64, **USUAL)
    assert "method" not in task.facts()
    assert task.facts()["coder"] == "OPQ"
    with pytest.raises(DataError, match="'OPX' is no quantiser: there are floats"):
        EqualBytes(unseen=2, coder="OPX", bits=64, **USUAL)


def test_every_task_has_a_file_of_its_own():
    for name in STUDY.names:
        tasks = STUDY.read(name).tasks
        assert len({task.path() for task in tasks}) == len(tasks)
        told = [task for task in tasks if getattr(task, "coder", "") == "RaBitQ, whitened"]
        assert all(task.bits >= 128 for task in told)


def findings(scores):
    """Findings of the small version in which each coder has these scores, seed by seed."""
    experiment = STUDY.read("rivals", Changes(quick=True, seeds=2, bits=(32,)))
    store = Findings.read(experiment, RunFolder(Path("no folder")))
    for result in store.results:
        own = scores.get(result.task.name, ())
        result.runs = [
            {
                "seed": seed,
                **dict.fromkeys(KINDS, value),
                "map_real_seen": value + 0.25,
                "bytes": 4,
                "fit_seconds": 1.0,
            }
            for seed, value in enumerate(own)
        ]
    return store


def test_tables():
    found = findings({"MTH": (0.5, 0.75), "ITQ": (0.25, 0.5), "LSH": (0.625, 0.625)})
    losses, *charts, table = show(found)
    assert [block.name for block in charts] == []  # one length, and not the one of charts
    assert [row[0] for row in table.rows] == ["MTH", "LSH", "ITQ"]
    assert table.caption == "digits, 4 bytes, inductive; 2 seeds"
    cells = dict(zip(table.head, table.rows[2], strict=True))
    assert (cells["hidden"], cells["seen"]) == ("0.375 ± 0.125", "0.625 ± 0.125")
    assert (cells["bytes"], cells["codes"]) == ("4", "binary")
    assert (cells["MTH − it"], cells["lost"]) == ("+0.250 ± 0.000", "0 of 2")
    assert dict(zip(table.head, table.rows[1], strict=True))["lost"] == "1 of 2"
    assert losses.text.startswith("MTH is ahead of every rival")
    table = show(findings({"MTH": (0.5, 0.75), "ITQ": (0.25,)}))[-1]
    assert [row[0] for row in table.rows] == ["MTH", "ITQ (one seed)"]


def test_cells_that_are_lost_are_named():
    scores = {"MTH": (0.5, 0.5), "ITQ": (0.75, 0.75), "LSH": (0.5, 0.75), "PCA signs": (0.4, 0.5)}
    losses = show(findings(scores | {"MTH pq": (0.7, 0.7)}))[0]
    kinds = [kind for kind in ("hidden", "hidden alone", "seen") for _ in range(2)]
    assert [row[1] for row in losses.rows] == kinds
    assert {row[0] for row in losses.rows} == {"digits, 4 bytes, inductive"}
    expected = ["MTH", "2", "ITQ 0.250, LSH 0.125"], ["MTH pq", "1", "ITQ 0.050"]
    assert [row[2:] for row in losses.rows] == [*expected] * 3


def test_parts_are_scored_as_their_index_ranks_them():
    """MAP of the small version, again by `ProductIndex` and the definition."""
    parts = {"codes": "pq"}
    task = EqualBytes(unseen=2, method="MTH", bits=32, parameters=parts, unlabelled=True, **USUAL)
    found = task.run(0, Sources())
    dataset = task.dataset(Sources())
    protocol = task.protocol_of(dataset, 0)
    split = protocol.split(dataset, 0)
    labels = split.known_labels(dataset.labels)[split.pool]
    hasher = MTH(32, codes="pq", random_state=0).fit(dataset.X[split.pool], labels)
    codes = hasher.encode(dataset.X)
    codes[split.pool] = hasher.codes_
    index = ProductIndex(hasher.centres_)
    index.add(codes[split.database], split.database)
    queries = hasher.project(dataset.X[split.queries])
    ranked = dataset.labels[index.search_real(queries, protocol.k)[1]]
    hits = ranked == dataset.labels[split.queries][:, None]
    precisions = hits.cumsum(axis=1) / np.arange(1, protocol.k + 1)
    mean = (precisions * hits).sum(axis=1) / np.maximum(hits.sum(axis=1), 1)
    assert found["map_real"] == pytest.approx(mean.mean(), abs=0.01)  # but for ties
    assert "map" not in found
    assert found["bytes"] == 4
    assert (task.name, task.is_binary) == ("MTH pq", False)


@pytest.mark.study
def test_the_small_version(tmp_path):
    output = tmp_path / "rivals"
    call = ["reproduce", "rivals", "--quick", "--output", str(output), "--jobs", "1"]
    done = CliRunner().invoke(main, [*call, "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["not run"] == {}
    text = output.with_suffix(".md").read_text()
    assert "Written from 10 runs" in text
    assert "zshash reproduce rivals --quick" in text
    assert "| PQ | features | 8 | other |" in text
    assert "| MTH pq | names | 4 | other |" in text
    again = CliRunner().invoke(main, [*call, "--report-only"])
    assert again.exit_code == 0, again.output
    assert output.with_suffix(".md").read_text() == text
