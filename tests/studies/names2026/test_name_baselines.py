"""The experiment: its task against a slow computation, its tables, and the command."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.special import softmax

from zshash.cli import main
from zshash.datasets import DataError, Dataset
from zshash.evaluation.runs import RunFolder
from zshash.images import Categories
from zshash.semantics import WordNet
from zshash.studies.data import Sources
from zshash.studies.experiments import Changes
from zshash.studies.findings import Findings
from zshash.studies.names2026 import STUDY, shipped
from zshash.studies.names2026.cases import Answer, Case, Rule
from zshash.studies.names2026.name_baselines import NameRule
from zshash.studies.names2026.rules import RULES
from zshash.studies.names2026.tables import show

SYNSETS = ("n02123045", "n02085620", "n03417042", "n07753592", "n01443537", "n02504458")
NAMES = ("tabby", "Chihuahua", "garbage truck", "banana", "goldfish", "African elephant")
QUICK = {"method": "MTH", "bits": 16, "parameters": {"n_steps": 5, "n_units": 16}}


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    """Six clusters in twelve dimensions, with WordNet ids."""
    rng = np.random.RandomState(0)
    y = np.repeat(np.arange(6), 15)
    X = rng.rand(6, 12)[y] + 0.1 * rng.rand(90, 12)
    path = tmp_path_factory.mktemp("features") / "pictures.npz"
    np.savez(path, X=X.astype(np.float32), y=y, wnids=SYNSETS, names=NAMES)
    return str(path)


@pytest.fixture
def task(pictures):
    return NameRule(data=pictures, rule="eszsl", groups=3, k=40, labels=("wordnet",))


def by_hand(scores, relevant, k):
    hits = relevant[np.argsort(-scores, kind="stable")[:k]]
    ranks = np.flatnonzero(hits)
    return np.mean([hits[: rank + 1].mean() for rank in ranks]) if len(ranks) else 0.0


def test_scores_of_a_run(task, monkeypatch):
    """MAP and right names of given scores, written out."""
    seen = []

    def rank(case):
        rng = np.random.RandomState(int(case.hidden[0]))
        scores = rng.rand(len(case.hidden), len(case.dataset))
        seen.append((case, scores))
        return Answer(scores, {"groups": len(seen)})

    monkeypatch.setitem(RULES, "eszsl", Rule("by chance", rank))
    found = task.run(2, Sources())
    precisions, right = {}, []
    for case, scores in seen:
        labels = case.dataset.labels
        for own, category in zip(scores, case.hidden, strict=True):
            precisions[NAMES[category]] = by_hand(own, labels == category, 40)
        for picture in np.flatnonzero(np.isin(labels, case.hidden)):
            right.append(case.hidden[scores[:, picture].argmax()] == labels[picture])
        assert set(labels[case.labelled]) == set(case.seen) == set(range(6)) - set(case.hidden)
    assert found["found"] == pytest.approx(precisions, abs=1e-5)
    assert found["map"] == pytest.approx(np.mean(list(precisions.values())), abs=1e-5)
    assert found["accuracy"] == pytest.approx(np.mean(right))
    assert found["chance"] == pytest.approx(1 / 6, abs=0.1)
    assert (found["n_hidden"], found["n_categories"], found["seed"]) == (2, 6, 2)
    assert found["parameters"] == [{"groups": 1}, {"groups": 2}, {"groups": 3}]


@pytest.mark.usefixtures("network")
@pytest.mark.parametrize("rule", RULES)
def test_a_run_comes_out_again(task, rule):
    own = replace(task, rule=rule, turns=1, n_train=40, **QUICK)
    first, again = (own.run(1, Sources()) for _ in range(2))
    assert first["found"] == again["found"]
    assert len(first["found"]) == 2
    assert first["parameters"] == again["parameters"]


@pytest.mark.usefixtures("network")
def test_labels_of_hidden_pictures_are_not_used(task):
    (case,) = replace(task, turns=1, **QUICK).cases(0, Sources())
    other = case.dataset.labels.copy()
    other[np.isin(other, case.hidden)] = case.hidden[0]
    changed = replace(case, dataset=replace(case.dataset, labels=other))
    for name in ("eszsl", "dap", "conse", "zshash-features", "zshash"):
        a, b = (RULES[name].rank(own).scores for own in (case, changed))
        np.testing.assert_array_equal(a, b)


@pytest.fixture
def network(monkeypatch):
    """A classifier of the six categories and one that the data does not have."""
    rng = np.random.RandomState(1)
    directions, biases = rng.randn(7, 12), rng.randn(7)
    known = Categories((*SYNSETS, "n02391049"), (*NAMES, "zebra"), directions, biases)
    monkeypatch.setattr(shipped, "network", lambda: known)
    return known


def test_conse_with_the_classifier_of_the_network(task, network):
    """By hand: without the hidden categories, in the coordinates of the others."""
    (case,) = replace(task, turns=1, rule="conse-network").cases(0, Sources())
    found = RULES["conse-network"].rank(case)
    rows = [row for row in range(7) if row not in case.hidden]
    ids = [network.ids[row] for row in rows]
    space = WordNet(basis=ids)
    outputs = case.dataset.X @ network.directions[rows].T + network.biases[rows]
    places = softmax(outputs, axis=1) @ space.embed(ids)
    names = space.embed([SYNSETS[number] for number in case.hidden])
    expected = names @ (places / np.linalg.norm(places, axis=1, keepdims=True)).T
    np.testing.assert_allclose(found.scores, expected, atol=1e-5)
    assert found.parameters == {"known": 5}


@pytest.mark.usefixtures("network")
def test_the_classifier_of_the_network_needs_its_features():
    data = Dataset(np.zeros((2, 5), np.float32), np.array([0, 1]), NAMES[:2], SYNSETS[:2])
    case = Case(data, np.array([0]), np.array([0]), np.array([1]), ("wordnet",))
    with pytest.raises(DataError, match="only features of efficientnet-lite0"):
        RULES["conse-network"].rank(case)


def test_facts_name_files_and_leave_out_codes(task, monkeypatch):
    facts = task.facts()
    assert facts["data"] == "pictures.npz"
    assert (facts["rule"], facts["groups"], facts["labels"]) == ("eszsl", 3, ["wordnet"])
    assert not {"bits", "method", "parameters"} & set(facts)
    assert replace(task, bits=32).path() == task.path() != replace(task, rule="dap").path()
    assert task.path().name.startswith("name-rule-eszsl-")
    monkeypatch.setitem(RULES, "codes", Rule("codes", RULES["eszsl"].rank, uses_codes=True))
    coded = replace(task, rule="codes")
    assert {"bits", "method", "parameters"} <= set(coded.facts())
    assert replace(coded, bits=32).path() != coded.path()


def test_mistakes(task):
    with pytest.raises(DataError, match="'abc' is no rule: there are dap, zero-data"):
        replace(task, rule="abc")
    for groups in (1, 7):
        with pytest.raises(DataError, match=f"6 categories can not be dealt into {groups} groups"):
            replace(task, groups=groups).rehearse(Sources())
    assert task.rehearse(Sources())


def test_tables(pictures, tmp_path):
    """Rows of rules, columns of sources; rules without runs have a dash."""
    experiment = STUDY.read("name-baselines", Changes(quick=True))
    tasks = tuple(replace(task, data=pictures) for task in experiment.tasks)
    store = RunFolder(tmp_path)
    run = {"n_hidden": 2, "n_categories": 6, "chance": 0.2}
    for seed, score in enumerate((0.25, 0.75)):
        store.add(tasks[0], "", run | {"seed": seed, "map": score, "accuracy": 1.0})
    store.add(tasks[1], "", run | {"seed": 0, "map": 0.25, "accuracy": 0.5})
    found = Findings.read(replace(experiment, tasks=tasks, seeds=2), store)
    first, second, text = show(found)
    assert first.head == ["", "WordNet"]
    assert [row[1] for row in first.rows] == ["**0.500 ± 0.250**", "0.250", *"––––"]
    assert first.rows[0][0] == "DAP (Lampert 2009, Farhadi 2009)"
    assert "6 categories, 2 hidden at a time: MAP" in first.caption
    assert "right one of 2 names" in second.caption
    assert [row[1] for row in second.rows][:2] == ["**1.000 ± 0.000**", "0.500"]
    assert text.text == "Chance: MAP 0.200, right name 0.50."


def call(*arguments, code=0):
    done = CliRunner().invoke(main, ["reproduce", *arguments, "--jobs", "1"])
    assert done.exit_code == code, done.output
    return done


NEED_THE_NETWORK = ("conse-network", "zshash-features", "zshash")


def test_the_small_version(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = call("name-baselines", "--quick")
    assert "Report: name-baselines-quick.html" in done.stdout
    page = Path("name-baselines-quick.md").read_text()
    assert "zshash reproduce name-baselines --quick\n" in page
    for name, rule in RULES.items():
        assert (rule.title in page) == (name not in NEED_THE_NETWORK)
    files = list((tmp_path / "name-baselines-quick" / "runs").rglob("*.json"))
    assert len(files) == 6
    assert all("error" not in json.loads(path.read_text())["runs"][0] for path in files)
    assert "Not all runs" not in page


def test_a_study_of_its_own():
    for others in (["--all"], ["names"]):
        error = call("name-baselines", *others, code=2).stderr
        assert "name-baselines is a study of its own: name no other experiment with it" in error


def test_the_protocols_are_dealt_from_the_real_data(data_folder, monkeypatch):
    monkeypatch.setenv("ZSHASH_DATA", str(data_folder))
    counts = {}
    for task in STUDY.read("name-baselines").tasks:
        is_there = (data_folder / task.data).exists()  # cifar10 would be downloaded
        if is_there and (task.data, task.known_to) not in counts:
            task.rehearse(Sources())
            case = next(iter(task.cases(0, Sources())))
            counts[task.data, task.known_to] = len(case.seen) + len(case.hidden), len(case.hidden)
    if not counts:
        pytest.skip(f"no features in {data_folder}")
    assert list(counts.values()) == [(100, 10), (6, 2)]
