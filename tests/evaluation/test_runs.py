"""Results on disk: what is there, what is missing, and what is damaged."""

import json
import re

import pytest

from zshash.evaluation.runs import RunFolder
from zshash.studies.tasks import Retrieval

TASK = Retrieval(data="digits", unseen=("three",), method="LSH", bits=16)
OTHER = Retrieval(data="digits", unseen=("three",), method="LSH", bits=32)


def missing(results, task, seeds, checksum):
    """Seeds of which there is no finished run."""
    return [seed for seed in range(seeds) if results.find(task, seed, checksum) is None]


@pytest.fixture
def results(tmp_path):
    return RunFolder(tmp_path / "runs")


def test_nothing_is_known_at_first(results):
    assert results.read(TASK).runs == []
    assert missing(results, TASK, 3, "data") == [0, 1, 2]
    assert not results.folder.exists()


def test_runs_come_back_by_ascending_seed(results):
    for seed in (2, 0):
        results.add(TASK, "data", {"seed": seed, "map": seed / 4, "deep": {"er": seed}})
    results.add(OTHER, "data", {"seed": 1, "map": 1.0})
    found = results.read(TASK)
    assert [run["seed"] for run in found.runs] == [0, 2]
    assert all("zshash" in run["versions"] for run in found.runs)
    assert found.values("map") == [0.0, 0.5]
    assert found.values("deep", "er") == [0, 2]
    assert found.values("absent") == []
    assert missing(results, TASK, 4, "data") == [1, 3]
    assert missing(results, OTHER, 2, "data") == [0]


def test_a_run_takes_the_place_of_one_with_its_seed(results):
    for score in (0.1, 0.2):
        results.add(TASK, "data", {"seed": 0, "map": score})
    assert results.read(TASK).values("map") == [0.2]


def test_runs_on_other_data_do_not_count(results):
    results.add(TASK, "data", {"seed": 0, "map": 0.1})
    results.add(TASK, "data", {"seed": 1, "map": 0.2})
    assert missing(results, TASK, 2, "other data") == [0, 1]
    results.add(TASK, "other data", {"seed": 1, "map": 0.3})
    assert [(run["seed"], run["map"]) for run in results.read(TASK).runs] == [(1, 0.3)]
    assert missing(results, TASK, 2, "other data") == [0]


def test_a_run_that_failed_is_missing(results):
    results.add(TASK, "data", {"seed": 0, "error": "too few samples"})
    results.add(TASK, "data", {"seed": 1, "map": 0.2})
    found = results.read(TASK)
    assert missing(results, TASK, 2, "data") == [0]
    assert found.error == "too few samples"
    assert found.values("map") == [0.2]
    results.add(TASK, "data", {"seed": 0, "map": 0.1})
    assert results.read(TASK).error is None
    assert missing(results, TASK, 2, "data") == []


DAMAGE = {
    "empty": lambda _: "",
    "half": lambda text: text[: len(text) // 2],
    "list": lambda _: "[]",
    "other task": lambda text: text.replace('"bits": 16', '"bits": 32'),
    "no runs": lambda text: text.replace('"runs"', '"walks"'),
    "no seed": lambda text: text.replace('"seed"', '"need"'),
    "words for runs": lambda text: re.sub(r"\[\n.*\n\]", '["seed"]', text, flags=re.DOTALL),
    "one seed twice": lambda text: re.sub(r"\[\n(.*)\n\]", r"[\1, \1]", text, flags=re.DOTALL),
    "no number": lambda text: text.replace('"map": 0.5', '"map": NaN'),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_file_is_named_and_does_not_count(results, damage):
    results.add(TASK, "data", {"seed": 0, "map": 0.5})
    path = results.folder / TASK.path()
    path.write_text(damage(path.read_text()))
    with pytest.warns(UserWarning, match=f"{path.name}: damaged, or not a result of this task"):
        assert results.read(TASK).runs == []
    with pytest.warns(UserWarning, match="does not count"):
        results.add(TASK, "data", {"seed": 1})
    assert [run["seed"] for run in results.read(TASK).runs] == [1]


def test_bytes_that_are_no_text_are_damage(results):
    results.add(TASK, "data", {"seed": 0})
    (results.folder / TASK.path()).write_bytes(b"\xff\xfe")
    with pytest.warns(UserWarning, match="does not count"):
        assert results.read(TASK).runs == []


def test_an_interrupted_write_leaves_what_was_there(results, monkeypatch):
    results.add(TASK, "data", {"seed": 0})
    path = results.folder / TASK.path()
    before = path.read_bytes()

    def stop(_):
        beside = [file for file in path.parent.iterdir() if file != path]
        assert len(beside) == 1  # all is written, but elsewhere
        assert path.read_bytes() == before
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", stop)
    with pytest.raises(KeyboardInterrupt):
        results.add(TASK, "data", {"seed": 1})
    assert [file.read_bytes() for file in path.parent.iterdir()] == [before]
    assert [run["seed"] for run in json.loads(before)["runs"]] == [0]
