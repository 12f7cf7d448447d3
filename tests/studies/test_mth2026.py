import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.stats import sem, ttest_1samp
from sklearn.metrics import average_precision_score

from zshash import MTH, scale
from zshash.cli import main
from zshash.datasets import digits
from zshash.evaluation.running import run_jobs
from zshash.hashing.hasher import SemanticHasher
from zshash.hashing.steps.linear import whiten
from zshash.hashing.steps.rows import Rows, unit_rows
from zshash.learning.targets import label_vectors
from zshash.studies.mth2026 import FULL, PARTS, QUICK, MTHReproduction, scoring, splits
from zshash.studies.mth2026.ablations import ABLATIONS
from zshash.studies.mth2026.cells import Cell, Work, key_of
from zshash.studies.mth2026.centred import CENTRED
from zshash.studies.mth2026.cosine import COSINES
from zshash.studies.mth2026.findings import Findings, clustered_t, paired
from zshash.studies.mth2026.folders import FolderCell, draw_folder
from zshash.studies.mth2026.hidden import AMONG_HIDDEN
from zshash.studies.mth2026.lookup import LOOKUP
from zshash.studies.mth2026.report import write_report
from zshash.studies.mth2026.scoring import cosine_maps, rankings, score_names, whitened
from zshash.studies.mth2026.semantics import MEANING
from zshash.studies.mth2026.setups import ALL, BASELINE, BEST, RIVALS, WITHIN, Pool, best_of
from zshash.studies.mth2026.sizes import SIZED
from zshash.studies.mth2026.splits import FRESH, SOURCES
from zshash.studies.mth2026.study import open_runs
from zshash.studies.mth2026.study import plan as plan_parts
from zshash.studies.mth2026.tradeoff import tradeoffs
from zshash.studies.mth2026.unlabelled import with_kinds, with_pool
from zshash.studies.mth2026.zsh import ZSH_ABLATIONS
from zshash.studies.planning import make_plan

DOCS = Path(__file__).parents[2] / "docs"
DIGITS = SOURCES["digits"]
SMALL_ZSH = replace(RIVALS["ZSH"], parameters={"n_anchors": 100})
SMALL = [name for name in PARTS if name != "comparison"]  # whose methods take their time


def call(output, *arguments):
    command = ["reproduce", "mth", "--jobs", "1", "-o", output, *arguments]
    return CliRunner().invoke(main, [str(argument) for argument in command])


def plan(size, names, n_seeds=None):
    return plan_parts(size, [PARTS[name] for name in names], n_seeds)


def job_key(job):
    return key_of(job.task.planned(job.seed))


def section(name, found):
    """The blocks of a section of the page."""
    (make,) = [part.sections[name][1] for part in PARTS.values() if name in part.sections]
    return make(found)


def write_page(records, output):
    write_report(records, output, list(PARTS.values()))


def options(names):
    return [word for name in names for word in ("--part", name)]


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """A quick run of all parts but the largest."""
    stem = tmp_path_factory.mktemp("study") / "transfer"
    result = call(stem, "--quick", *options(SMALL))
    assert result.exit_code == 0, result.output
    return stem


@pytest.fixture
def records(quick):
    return json.loads(quick.with_suffix(".json").read_text())["runs"]


@pytest.fixture(scope="module")
def split():
    return DIGITS.protocol(5, 400).split(digits(), 0)


@pytest.mark.parametrize(
    ("method", "objective"),
    [
        (BASELINE, lambda hasher: np.mean(hasher.loss_)),
        (SMALL_ZSH, lambda hasher: hasher.objective_[-1]),
    ],
    ids=["MTH", "ZSH"],
)
def test_of_several_fits_the_lowest_objective_counts(method, objective):
    protocol, data = DIGITS.protocol(5, 200), digits()
    split, fitted = protocol.split(data, 0), {}
    for seed in range(3):
        hasher = method.hasher(32, 200, QUICK.smaller).set_params(random_state=seed)
        scoring.fit(hasher, data, split.train, split.seen, method.labels(DIGITS), None)
        found = scoring.score(hasher, data, split, protocol, DIGITS.knows_related)
        fitted[objective(hasher)] = round(found["map"], 6)
    assert len(set(fitted.values())) == 3
    cell = Cell(DIGITS, 5, 200, best_of(method, 3), 32)
    assert cell.run(0, Work(QUICK))["map"] == fitted[min(fitted)]


@pytest.mark.parametrize("source", SOURCES.values(), ids=list(SOURCES))
def test_each_category_is_hidden_once(source):
    hidden = [category for split in range(10) for category in source.hidden(split)]
    assert sorted(hidden) == list(range(source.n_categories))


def test_splits_never_change():
    assert [SOURCES["cifar10"].hidden(split) for split in (0, 4, 9)] == [[1], [0], [3]]
    order = np.random.RandomState(2016).permutation(100).reshape(10, 10)
    for split, group in enumerate(order):
        assert SOURCES["tiny100"].hidden(split) == sorted(group)
    assert SOURCES["tiny100"].protocol(3, None).facts() == {
        "unseen": sorted(order[3].tolist()),
        "n_train": None,
        "n_queries": 500,
        "k": 1000,
        "radius": 2,
    }
    assert SOURCES["cifar10"].protocol(0, 10_000).k == 5000
    assert list(FRESH) == [5, 6, 7, 8, 9]


def test_the_full_study():
    sizes = {name: len(plan(FULL, [name])) for name in PARTS}
    assert sizes == {
        "comparison": 16 * 3 * 20 * 5,
        "lookup": 20 * 5,
        "semantics": 4 * 10 * 5,
        "all-seen": 15 * 3 * 20 * 5,
        "ablations": 20 * 6 - 3,  # names mean something for one of the data sets
        "zsh": 13 * 6,
        "sizes": 6 * 4 * 6,
        "tradeoff": 5 * 6,
        "cosine": 3 * 20,
        "whitening": 7 * 3 * 20,
        "centred": 6 * 20,
        "hidden": 16 * 10,  # of the data set of which several categories are hidden at a time
        "names": 2 * 3 * 10 * 5,
        "unlabelled": 10 * (2 + 1 + 8 + 16 + 4 * 2),  # 8 of 15 can use samples without a label
        "pools": 6 * (4 + 3 + 4 + 9),
        "folders": 2 * 20 * 4,
    }
    jobs = plan(FULL, list(PARTS))
    assert len(set(map(job_key, jobs))) == len(jobs)
    baselines = 6 * 2  # of MTH, in ablations, sizes and the trade-off
    rivals = 3 * 10 * 5 + 6 * 6  # in the comparison and for semantics, sizes and variants of ZSH
    shared = baselines + rivals
    assert len(jobs) == sum(sizes.values()) - shared


def test_a_cell_of_two_parts_wants_the_scores_of_both(tmp_path, monkeypatch):
    monkeypatch.setattr(splits.Source, "load", lambda _: None)
    for number, parts in enumerate((["comparison", "semantics"], ["semantics", "comparison"])):
        study = MTHReproduction(
            tmp_path / f"{number}", [], [PARTS[name] for name in parts], FULL, n_seeds=1
        )
        jobs = plan(FULL, parts, 1)
        for job in jobs:
            study.store.add(job.task, "", job.task.planned(job.seed) | {"map": 0.5})
        found = make_plan(study.jobs(), study.store, None)
        assert Counter(job.task.wanted for job in found.jobs) == {"map_related": 4 * 10}
        assert found.n_finished == len(jobs) - 4 * 10


def test_what_each_setup_learns_from():
    cifar10, tiny = FULL.sources
    assert BEST.labels(tiny) == ("onehot",)
    assert MEANING.labels(tiny) == RIVALS["ZSH"].labels(tiny) == ("wordnet",)
    assert RIVALS["ZSH"].labels(cifar10) == ("words/huang2012_50d.txt",)
    assert RIVALS["SDH"].labels(tiny) == RIVALS["ITQ"].labels(tiny) == ()
    assert RIVALS["KSH"].hasher(64, 10_000, {}).n_anchors == 1000
    assert RIVALS["ZSH"].hasher(64, 10_000, {}).graph == "knn"
    assert RIVALS["ZSH"].hasher(64, None, {}).graph == "anchor"
    assert len(RIVALS) == 14
    assert all(setup.hasher(32, None, {}).normalize for setup in RIVALS.values())


def test_what_variants_learn_from():
    cifar10, tiny = FULL.sources
    one_hot, *others, _ = ZSH_ABLATIONS
    assert one_hot.labels(tiny) == ("onehot",)
    assert {setup.labels(tiny) for setup in others} == {("wordnet",)}
    pulled = [setup for setup in ABLATIONS if "pull" in setup.name]
    assert [setup.hasher(64, 10_000, {}).semantics for setup in pulled] == [0.1, 0.3, 1.0]
    assert {setup.labels(source) for setup in pulled for source in (cifar10, tiny)} == {("onehot",)}
    changed = [setup.hasher(64, 10_000, {}).get_params() for setup in (RIVALS["ZSH"], *others)]
    assert len({str(parameters) for parameters in changed}) == len(changed)


def test_training_sets_of_other_sizes(records):
    few = next(r for r in records if r["setup"] == "ITQ, 100 samples")
    assert few["n_train"] == 100
    (table,) = section("sizes", Findings(records))
    assert table.head == ["samples", "cells", "100", "200"]
    assert [row[0] for row in table.rows] == [setup.name for setup in SIZED]
    usual = next(r for r in records if key_of(r) == ("digits", "ITQ", 32, 200, "", 5, 0))
    assert table.rows[1] == ["ITQ", "1", f"{few['map']:.4f}", f"{usual['map']:.4f}"]


def test_sizes_are_compared_on_the_cells_that_all_have(records):
    itq = next(r for r in records if key_of(r) == ("digits", "ITQ", 32, 200, "", 5, 0))
    more = [*records, itq | {"seed": 7, "map": 0.0}]
    assert section("sizes", Findings(more)) == section("sizes", Findings(records))


def test_variants_are_compared_with_their_baseline_on_their_cells(records):
    zsh = next(r for r in records if key_of(r) == ("digits", "ZSH", 32, 200, "", 5, 0))
    others = [r for r in records if r["setup"].startswith("ZSH, ") and r["split"] == 5]
    (table,) = section("zsh", Findings([*others, zsh, zsh | {"seed": 7, "map": 0.0}]))
    assert table.rows[0][:3] == ["ZSH", "1", f"{zsh['map']:.4f}"]
    assert [row[0] for row in table.rows[1:]] == [setup.name for setup in ZSH_ABLATIONS]
    one_hot = next(r for r in others if r["setup"] == "ZSH, one-hot")
    change = f"{one_hot['map'] - zsh['map']:+.4f}".replace("-", "−")
    assert table.rows[1][2:4] == [f"{one_hot['map']:.4f}", change]


def test_a_quick_run_has_every_cell(quick, records):
    assert {key_of(record) for record in records} == set(map(job_key, plan(QUICK, SMALL, 1)))
    one = next(r for r in records if r["setup"] == "MTH lookup 1" and r["split"] == 5)
    assert one["parameters"] == {"lookup": 1.0, "n_steps": 3}
    assert (one["method"], one["trained_on"], one["n_train"]) == ("MTH", "CPU", 200)
    for key in ("map", "precision", "map_real", "map_related"):
        assert 0 < one[key] <= 1
    assert len(quick.with_suffix(".json").read_text().splitlines()) == len(records) + 4


def test_the_tables_of_a_quick_run(quick, records):
    text = quick.with_name("transfer-tables.md").read_text()
    maps = {r["split"]: r["map"] for r in records if key_of(r)[1:5] == ("ITQ", 32, "all", "")}
    mean, error = np.mean(list(maps.values())), sem(list(maps.values()))
    assert f"| ITQ | 2 | {mean:.4f} ± {error:.4f} | " in text.partition('id="all-seen"')[2]
    assert "![MAP of each method" in text
    assert "(./transfer-tradeoff.svg)" in text
    for name in ("cosine", "lookup", "related", "names", "ablations", "zsh", "sizes", "whitening"):
        assert f'<a id="{name}"></a>' in text
    for name in ("centred", "time"):
        assert f'<a id="{name}"></a>' in text
    picture = quick.with_name("transfer-tradeoff.svg").read_text()
    assert "MTH, lookup 0 to 1" in picture
    assert "digits, 32 bits" in picture


def test_the_trade_off_compares_the_same_cells(records):
    """Variants of MTH were run on one split, and what others do on another one does not count."""
    (shown,) = tradeoffs(Findings(records))
    assert (shown.n, len(shown.ours)) == (1, 5)
    itq = next(r for r in records if key_of(r) == ("digits", "ITQ", 32, 200, "", 5, 0))
    assert shown.theirs["ITQ"] == (itq["precision"], itq["map"])
    (without,) = tradeoffs(Findings([r for r in records if r is not itq]))
    assert "ITQ" not in without.theirs
    (ends,) = tradeoffs(Findings([r for r in records if "lookup 0.5" not in r["setup"]]))
    assert list(ends.ours) == ["MTH best", "MTH lookup 1"]
    assert ends.n == 2


def test_finished_runs_are_not_run_again(quick, monkeypatch):
    paths = sorted(quick.parent.iterdir())
    before = [path.read_bytes() for path in paths]
    monkeypatch.setattr(Cell, "run", lambda *_: pytest.fail("it ran"))
    for more in (["--report-only"], options(SMALL)):
        assert call(quick, "--quick", *more).exit_code == 0
        assert [path.read_bytes() for path in paths] == before


def test_a_folder_that_is_missing_is_made(tmp_path):
    cosine = [PARTS["cosine"]]
    stem = tmp_path / "new" / "folder" / "t"
    study = MTHReproduction(stem, list(PARTS.values()), cosine, QUICK)
    assert len(list(study.run(1))) == 3 * 2
    study.report()
    assert len(json.loads(stem.with_suffix(".json").read_text())["runs"]) == 3 * 2
    (tmp_path / "file").touch()
    result = call(tmp_path / "file" / "t", "--quick", "--part", "cosine")
    assert result.exit_code == 2
    assert result.output.startswith("Error: ")


def test_a_lost_run_comes_out_again(records, tmp_path):
    lost = next(n for n, r in enumerate(records) if r["setup"] == "MTH lookup 1")
    (tmp_path / "t.json").write_text(json.dumps(records[:lost] + records[lost + 1 :]))  # as 0.1.0
    assert call(tmp_path / "t", "--quick", "--part", "lookup").exit_code == 0
    again = {key_of(r): r for r in json.loads((tmp_path / "t.json").read_text())["runs"]}
    expected = records[lost]
    found = again[key_of(expected)]
    timeless = {"fit_seconds": 0}
    assert found | timeless == expected | timeless
    assert len(again) == len(records)


def missing(runs, jobs):
    return [job for job in jobs if runs.find(*job) is None]


def test_a_run_without_the_wanted_score_is_run_again(records, tmp_path):
    jobs = plan(QUICK, ["semantics"], 1)
    known = open_runs(tmp_path / "t.json")
    for record in records:
        known.add(None, "", record)
    assert missing(known, jobs) == []
    old = next(r for r in records if key_of(r) == job_key(jobs[-1]))
    known.add(None, "", {name: value for name, value in old.items() if name != "map_related"})
    assert missing(known, jobs) == [jobs[-1]]
    assert missing(known, plan(QUICK, ["lookup"], 1)) == []


def test_an_interruption_loses_no_run(tmp_path):
    known = open_runs(tmp_path / "t.json")
    runs = run_jobs(plan(QUICK, ["cosine"], 1), known, Work(QUICK))
    _, first = next(runs)
    runs.close()
    assert json.loads((tmp_path / "t.json").read_text())["runs"] == [first]
    assert len(open_runs(tmp_path / "t.json")) == 1


def test_a_run_that_fails_is_told_and_tried_again(tmp_path, monkeypatch):
    def fail(*_):
        raise ValueError("too few samples")

    monkeypatch.setattr(scoring, "fit", fail)
    result = call(tmp_path / "t", "--quick", "--part", "lookup")
    assert result.exit_code == 0, result.output
    runs = json.loads((tmp_path / "t.json").read_text())["runs"]
    assert {run["error"] for run in runs} == {"too few samples"}
    assert missing(open_runs(tmp_path / "t.json"), plan(QUICK, ["lookup"])) != []
    assert "There are no runs." in (tmp_path / "t-tables.md").read_text()


def test_only_mth_is_trained_on_a_device(monkeypatch):
    asked = []

    def fit(hasher, X, targets, *, device):
        asked.append(device)
        return hasher.fit(X, targets)

    monkeypatch.setattr(scale, "fit", fit)
    cell = Cell(DIGITS, 0, 400, LOOKUP, 16)
    on_device, without = (cell.run(0, Work(QUICK, device)) for device in ("cuda", None))
    assert asked == ["cuda"]
    assert (on_device["trained_on"], without["trained_on"]) == ("GPU", "CPU")
    assert on_device["map"] == without["map"]
    other = replace(cell, setup=RIVALS["LSH"])
    assert other.run(0, Work(QUICK, "cuda"))["trained_on"] == "CPU"
    assert asked == ["cuda"]


@pytest.mark.torch
def test_mth_is_trained_by_pytorch():
    pytest.importorskip("torch")
    cell = Cell(DIGITS, 5, 400, MEANING, 32)
    on_device, without = (cell.run(0, Work(QUICK, device)) for device in ("cpu", None))
    assert on_device["map"] == pytest.approx(without["map"], abs=0.05)
    assert on_device["trained_on"] == "CPU"


@pytest.mark.torch
def test_a_device_that_is_none(tmp_path):
    pytest.importorskip("torch")
    result = call(tmp_path / "t", "--quick", "--part", "lookup", "--device", "abacus")
    assert result.exit_code == 2
    assert "the device 'abacus' can not be used" in result.output


@pytest.mark.parametrize("content", ["{", "{}", "[1]", '[{"data": "cifar10"}]'])
def test_a_file_of_something_else(content, tmp_path):
    (tmp_path / "t.json").write_text(content)
    result = call(tmp_path / "t", "--report-only")
    assert result.exit_code == 2
    assert "t.json: not a list of runs; remove it or choose another name" in result.output
    assert (tmp_path / "t.json").read_text() == content


def test_missing_data_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("ZSHASH_DATA", str(tmp_path))
    splits._load.cache_clear()
    result = call(tmp_path / "t", "--part", "cosine")
    assert result.exit_code == 2
    assert "set ZSHASH_DATA to the folder that holds it" in result.output


def test_development_and_fresh_splits_are_told_apart(tmp_path):
    common = {"data": "digits", "seed": 0, "n_train": 400, "bits": 32}
    scores = {"MTH best": (0.6, 0.8), "ITQ": (0.4, 0.6), "LSH": (0.3, 0.6)}
    made = [
        common | {"split": split, "setup": setup, "map": value}
        for setup, values in scores.items()
        for split, value in zip((0, 5), values, strict=True)
    ]
    write_page(made, tmp_path / "t")
    rows = (tmp_path / "t-tables.md").read_text().partition("hardest rival is")[2].splitlines()
    assert [row.removeprefix("| digits | 32 | ") for row in rows[4:7]] == [
        "all | 2 | 0.7000 | ITQ | 0.5000 | +0.2000 ± 0.0000 | +40.0 % | 0 of 2 | – |",
        "development | 1 | 0.6000 | ITQ | 0.4000 | +0.2000 | +50.0 % | 0 of 1 | – |",
        "fresh | 1 | 0.8000 | ITQ | 0.6000 | +0.2000 | +33.3 % | 0 of 1 | – |",
    ]


def test_no_runs_no_tables(tmp_path):
    write_page([], tmp_path / "t")
    assert "There are no runs." in (tmp_path / "t-tables.md").read_text()
    assert not (tmp_path / "t-tradeoff.svg").exists()


def test_cosines_rank_as_they_should(split):
    data = digits()
    protocol = replace(DIGITS.protocol(5, 400), k=len(split.database))
    X = data.X / np.linalg.norm(data.X, axis=1, keepdims=True)
    scores = X[split.queries] @ X[split.database].T
    same = data.labels[split.queries][:, None] == data.labels[split.database]
    expected = [average_precision_score(*pair) for pair in zip(same, scores, strict=True)]
    assert cosine_maps(data, split, protocol)["map"] == pytest.approx(np.mean(expected), abs=1e-5)


def test_whitening_is_that_of_mth(split):
    data = digits()
    rows = Rows(unit_rows(data.X[split.train]))
    expected = whiten(rows, MTH().shrinkage)(rows).X
    assert whitened(data, split, ALL).X[split.train] == pytest.approx(expected, abs=1e-4)
    milder = whiten(rows, 2.0)(rows).X
    assert whitened(data, split, ALL, 2.0).X[split.train] == pytest.approx(milder, abs=1e-4)
    assert np.abs(milder - expected).max() > 0.01


def test_features_are_centred_on_the_training_samples(monkeypatch):
    dataset, given = digits(), []
    monkeypatch.setattr(scoring, "fit", lambda _, data, *rest: given.append((data, *rest)) or 1.0)
    monkeypatch.setattr(scoring, "score", lambda *_: {"map": 0.5})
    for setup in (CENTRED[1], RIVALS["ITQ"]):
        Cell(DIGITS, 5, 200, setup, 32).run(0, Work(QUICK))
    (centred, rows, *_), (as_is, *_) = given
    mean = dataset.X[rows].mean(axis=0)
    np.testing.assert_allclose(centred.X[rows].mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(centred.X + mean, dataset.X, atol=1e-5)
    np.testing.assert_array_equal(as_is.X, dataset.X)


def test_a_database_of_hidden_categories_alone(monkeypatch):
    given = []
    monkeypatch.setattr(scoring, "fit", lambda *_: 1.0)
    monkeypatch.setattr(scoring, "score", lambda _, __, split, *___: given.append(split) or {})
    monkeypatch.setattr(splits.Source, "hidden", lambda *_: [1, 4, 7])
    for setup in (AMONG_HIDDEN[2], RIVALS["ITQ"]):
        Cell(DIGITS, 5, 200, setup, 32).run(0, Work(QUICK))
    alone, usual = given
    labels = digits().labels
    assert set(labels[alone.database]) == {1, 4, 7}
    assert set(labels[usual.database]) == set(range(10))
    expected = np.isin(labels, [1, 4, 7]).sum() - len(alone.queries)
    assert len(alone.database) == expected
    for role in ("train", "queries"):
        np.testing.assert_array_equal(getattr(alone, role), getattr(usual, role))


def test_whitening_within_categories(split):
    """Members of a category scatter alike in all directions that are not damped."""
    data = digits()
    Z, y = whitened(data, split, WITHIN).X[split.train], data.labels[split.train]
    parts = [Z[y == category] - Z[y == category].mean(axis=0) for category in split.seen]
    spread = np.linalg.eigvalsh(np.cov(np.vstack(parts).T))[::-1]
    before = unit_rows(data.X[split.train])
    parts = [before[y == c] - before[y == c].mean(axis=0) for c in split.seen]
    unlike = np.linalg.eigvalsh(np.cov(np.vstack(parts).T))[::-1]
    assert spread[0] / spread[20] < 1.1
    assert unlike[0] / unlike[20] > 5


class Told(SemanticHasher):
    """A method that gives the codes, and the map of these, that it is told."""

    def __init__(self, mapping, codes=None):
        self.mapping, self.codes, self.n_bits = mapping, codes, len(mapping)

    def code_meanings(self):
        return self.mapping

    def encode(self, X):
        return self.codes[: len(X)]


def codes_with(meanings):
    """A method whose codes mean just this, and the codes."""
    bits = np.random.RandomState(1).randint(0, 2, (len(meanings), 64)).astype(np.uint8)
    hasher = Told(np.linalg.pinv(2.0 * bits - 1) @ meanings, np.packbits(bits, axis=1))
    np.testing.assert_allclose(hasher.meanings(2.0 * bits - 1), meanings, atol=1e-12)
    return hasher, hasher.codes


def test_names_are_ranked_by_the_rule_of_collections():
    rng = np.random.RandomState(0)
    meanings, names, seen = (unit_rows(rng.standard_normal((n, 4))) for n in (6, 3, 5))
    seen[2] = names[1]  # can not be told apart, so it is no other category
    cosines, by_rule = rankings(*codes_with(2 * meanings), names, seen)
    assert cosines == pytest.approx(names @ meanings.T)
    for name, place in np.ndindex(3, 6):
        others = [s @ meanings[place] for number, s in enumerate(seen) if (name, number) != (1, 2)]
        expected = names[name] @ meanings[place] - 0.6 * max(others)
        assert by_rule[name, place] == pytest.approx(expected)


def test_perfect_codes_find_every_name(split, tmp_path):
    data, rng = digits(), np.random.RandomState(0)
    words = [f"{name} {' '.join(map(str, rng.standard_normal(5)))}" for name in data.names]
    (tmp_path / "words.txt").write_text("\n".join(words))
    labels = (str(tmp_path / "words.txt"),)
    split = replace(split, unseen=np.array([3, 7]), seen=np.array([0, 1, 2, 4, 5, 6, 8, 9]))
    vectors = label_vectors(data, np.arange(10), labels, split.seen)
    hasher, codes = codes_with(vectors.astype(np.float64))
    numbers = data.labels[split.database]
    hasher.codes = codes[numbers]
    perfect = score_names(data, split, hasher, labels, 100)
    assert perfect["map"] == pytest.approx(1)
    assert perfect["accuracy"] == 1
    swapped = np.array([0, 1, 2, 7, 4, 5, 6, 3, 8, 9])[numbers]
    hasher.codes = codes[swapped]
    wrong = score_names(data, split, hasher, labels, 100)
    assert wrong["map"] == wrong["accuracy"] == 0


def test_codes_of_mth_do_not_depend_on_what_names_mean(split):
    """So that a search by name needs no other codes than a search by picture."""
    data = digits()
    X, y = data.X[split.train], data.labels[split.train]
    vectors = label_vectors(data, split.seen, ("wordnet",))[np.searchsorted(split.seen, y)]
    codes = [MTH(32, n_steps=5, random_state=0).fit(X, own).encode(data.X) for own in (y, vectors)]
    assert np.array_equal(*codes)


def test_paired_differences():
    rng = np.random.RandomState(0)
    ours = {(split, seed): rng.rand() + 0.1 for split in range(4) for seed in range(3)}
    theirs = {cell: rng.rand() for cell in [*ours, (9, 9)] if cell != (0, 0)}
    shared = [cell for cell in ours if cell in theirs]
    differences = np.array([ours[cell] - theirs[cell] for cell in shared])
    found = paired(ours, theirs)
    assert (found.n, found.n_splits, found.lost) == (11, 4, (differences < 0).sum())
    assert found.difference == pytest.approx(differences.mean())
    assert found.error == pytest.approx(sem(differences))
    assert found.theirs == pytest.approx(np.mean([theirs[cell] for cell in shared]))
    assert found.gain == pytest.approx(differences.mean() / found.theirs)
    splits = np.array([split for split, _ in shared])
    by_split = [differences[splits == split].mean() for split in range(4)]
    assert found.t == pytest.approx(ttest_1samp(by_split, 0).statistic)


def test_what_one_cell_can_not_tell():
    found = paired({(0, 0): 0.5}, {(0, 0): 0.0})
    assert (found.error, found.t, found.gain) == (None, None, None)
    assert paired({(0, 0): 0.5}, {(1, 0): 0.5}) is None
    assert clustered_t({(0, 0): 0.5, (1, 0): 0.5}) is None


def test_findings_tell_training_sets_and_names_apart(records):
    found = Findings(records)
    few, many = (found.scores("digits", "ITQ", 32, all_seen=all_seen) for all_seen in (False, True))
    assert few.keys() == many.keys() == {(0, 0), (5, 0)}
    assert few != many
    assert found.scores("digits", "ITQ", 32, splits=FRESH).keys() == {(5, 0)}
    named = found.scores("digits", "MTH best", 32, names="WordNet")
    assert named != found.scores("digits", "MTH best", 32)
    assert found.scores("digits", COSINES[0].name, None).keys() == {(0, 0), (5, 0)}
    assert found.name_sources("digits") == ["WordNet"]


def test_the_committed_tables_follow_from_the_committed_runs(tmp_path):
    known = open_runs(DOCS / "transfer.json")
    assert len(known) > 2000
    write_page(list(known), tmp_path / "transfer")
    for name in ("transfer-tables.md", "transfer-tradeoff.svg"):
        assert (tmp_path / name).read_bytes() == (DOCS / name).read_bytes(), name


def test_the_committed_runs_are_of_the_study():
    planned = set(map(job_key, plan(FULL, list(PARTS))))
    keys = [key_of(record) for record in open_runs(DOCS / "transfer.json")]
    assert set(keys) <= planned


def test_a_committed_run_comes_out_again(data_folder, monkeypatch):
    monkeypatch.setenv("ZSHASH_DATA", str(data_folder))
    if not (data_folder / "features/tiny100_lite0_pca256.npz").is_file():
        pytest.skip("the features of Tiny-ImageNet are not in ZSHASH_DATA")
    cell = Cell(SOURCES["tiny100"], 5, 10_000, RIVALS["LSH"], 32)
    known = open_runs(DOCS / "transfer.json").find(cell, 0)
    found = cell.run(0, Work(FULL))
    for key in ("map", "precision"):
        assert found[key] == pytest.approx(known[key], abs=0.001)


class TestUnlabelled:
    """Learning from samples that nobody labelled."""

    data = digits()
    split = DIGITS.protocol(0, 200).split(data, 0)

    def test_a_pool_never_holds_queries(self):
        known, rows = scoring.pooled(self.data, self.split, Pool(), 0)
        asked = np.concatenate([self.split.queries, self.split.seen_queries])
        everything = np.arange(len(self.data))
        np.testing.assert_array_equal(rows, np.setdiff1d(everything, asked))
        np.testing.assert_array_equal(np.flatnonzero(known.labels >= 0), self.split.train)

    def test_parts_of_a_pool(self):
        _, whole = scoring.pooled(self.data, self.split, Pool(), 0)
        n_others = len(whole) - 200
        is_hidden = np.isin(self.data.labels, self.split.unseen)
        for pool, n, n_hidden in (
            (Pool(share=0.1), 200 + round(0.1 * n_others), None),
            (Pool(hidden=0.0), None, 0),
            (Pool(hidden=0.3), None, round(0.3 * is_hidden[whole].sum())),
        ):
            known, rows = scoring.pooled(self.data, self.split, pool, 0)
            assert np.isin(self.split.train, rows).all()
            assert np.isin(rows, whole).all()
            assert n in (None, len(rows))
            assert n_hidden in (None, is_hidden[rows].sum())
            assert (known.labels >= 0).sum() == 200

    @pytest.mark.parametrize("n_labelled", [0, 50])
    def test_some_keep_their_labels(self, n_labelled):
        known, rows = scoring.pooled(self.data, self.split, Pool(n_labelled=n_labelled), 0)
        _, whole = scoring.pooled(self.data, self.split, Pool(), 0)
        np.testing.assert_array_equal(rows, whole)
        labelled = np.flatnonzero(known.labels >= 0)
        assert len(labelled) == n_labelled
        assert np.isin(labelled, self.split.train).all()
        np.testing.assert_array_equal(known.labels[labelled], self.data.labels[labelled])

    def test_cosines_of_all_kinds_of_queries(self):
        protocol = DIGITS.protocol(0, 200)
        hidden = replace(self.split, unseen=np.array([3, 4]))
        found = cosine_maps(self.data, hidden, protocol)
        X = unit_rows(self.data.X.astype(np.float64))
        for suffix, queries, database in (
            ("_alone", hidden.queries, np.flatnonzero(np.isin(self.data.labels, [3, 4]))),
            ("_seen", hidden.seen_queries, hidden.database),
        ):
            database = np.intersect1d(database, hidden.database)
            expected = []
            for query in queries:
                others = database[database != query]
                order = np.argsort(-(X[others] @ X[query]))[: protocol.k]
                hits = self.data.labels[others[order]] == self.data.labels[query]
                at = np.cumsum(hits) / np.arange(1, len(hits) + 1)
                expected.append((at * hits).sum() / max(hits.sum(), 1))
            assert found[f"map{suffix}"] == pytest.approx(np.mean(expected), abs=1e-3)

    def test_the_pool_helps_those_who_can_use_it(self):
        scores = {
            setup.name: Cell(DIGITS, 0, 200, setup, 32).run(0, Work(QUICK))["map"]
            for setup in (with_pool(RIVALS["ITQ"]), with_kinds(RIVALS["ITQ"]))
        }
        assert scores["ITQ, unlabelled too"] > scores["ITQ, inductive"]

    def test_folders(self):
        X, y = unit_rows(self.data.X.astype(np.float32)), self.data.labels
        folder = draw_folder(X, y, 8, 0)
        assert len(folder.database) == 8 * 8
        assert len(folder.queries) == 8 * 15
        assert not np.isin(folder.asked, np.setdiff1d(np.arange(10), folder.categories)).any()
        assert (folder.labels < 0).sum() == 3 * 8
        assert not (folder.queries[:, None] == folder.database).all(axis=2).all(axis=1).any()
        record = FolderCell("cosine in a folder", 8, 0, 32, small=True).run(0, Work(QUICK))
        near, precision = folder.queries @ folder.database.T, []
        for own, category in zip(near, folder.asked, strict=True):
            if category in folder.hidden:
                precision.append((folder.categories[np.argsort(-own)[:10]] == category).mean())
        assert record["first_hidden"] == pytest.approx(np.mean(precision), abs=1e-3)

    def test_tables(self, records):
        found = Findings(records)
        assert len(section("unlabelled", found)) == 3  # two lengths, and the inductive one
        (pools,) = section("pools", found)
        assert [row[0] for row in pools.rows][:2] == [
            "MTH best, unlabelled too",
            "MTH best, unlabelled too, 10 % of the pool",
        ]
        (folders,) = section("folders", found)
        assert [row[1] for row in folders.rows] == ["2"] * 4
