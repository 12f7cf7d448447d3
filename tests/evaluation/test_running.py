"""Runs: in one process or several, with gaps in the data, and after a sudden end."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from zshash.evaluation.running import run_jobs
from zshash.evaluation.runs import RunFolder
from zshash.studies.data import Sources
from zshash.studies.experiments import Changes, Experiment
from zshash.studies.planning import make_plan
from zshash.studies.tasks import Retrieval
from zshash.studies.zsh2016 import STUDY

SMALL = {"data": "digits", "unseen": ("three",), "n_train": 200, "n_queries": 20, "k": 50}
TASKS = (
    Retrieval(method="LSH", bits=16, **SMALL),
    Retrieval(method="ZSH", bits=16, parameters={"n_anchors": 300, "max_iter": 3}, **SMALL),
)


@dataclass(frozen=True, kw_only=True)
class Fatal(Retrieval):
    """A task that the machine has not enough memory for."""

    def run(self, *_):
        os.kill(os.getpid(), signal.SIGKILL)


def experiment(*tasks, name="mine", seeds=2):
    return Experiment(name, name, tasks, seeds)


def plan_of(experiments, results):
    return make_plan({own.name: own.jobs() for own in experiments}, results, Sources())


def run_all(experiments, folder, n_processes=1):
    """Run what is missing; how many runs these were."""
    results, sources = RunFolder(folder), Sources()
    plan = plan_of(experiments, results)
    done = [job for job, _ in run_jobs(plan.jobs, results, sources, n_processes)]
    assert sorted(map(repr, done)) == sorted(map(repr, plan.jobs))
    return len(done)


def records(folder):
    """All runs by file and seed, without what a clock tells."""
    found = {}
    for path in sorted(folder.rglob("*.json")):
        content = json.loads(path.read_text())
        for run in content["runs"]:
            run.pop("fit_seconds", None)
            found[path.relative_to(folder), run["seed"]] = content["checksum"], run
    return found


def test_two_processes_find_what_one_finds(tmp_path):
    assert run_all([experiment(*TASKS)], tmp_path / "one") == 4
    assert run_all([experiment(*TASKS)], tmp_path / "two", n_processes=2) == 4
    found = records(tmp_path / "one")
    assert len(found) == 4
    assert records(tmp_path / "two") == found
    _, run = found[TASKS[1].path(), 0]
    (note,) = run["notes"]  # what was warned of
    assert "using 200 anchors" in note


def test_only_what_is_missing_is_run(tmp_path):
    lsh, zsh = TASKS
    both = [experiment(lsh), experiment(lsh, name="again")]
    assert run_all(both, tmp_path) == 2  # a run that two experiments share is run once
    assert run_all(both, tmp_path) == 0
    assert run_all([experiment(lsh, seeds=3)], tmp_path) == 1
    plan = plan_of([experiment(lsh, zsh, seeds=3)], RunFolder(tmp_path))
    assert plan.n_finished == 3
    assert [(job.task, job.seed) for job in plan.jobs] == [(zsh, 0), (zsh, 1), (zsh, 2)]


def test_what_can_not_be_run_does_not_keep_others_from_it(tmp_path):
    absent = Retrieval(data="absent.npz", unseen=1)
    strange = Retrieval(data="digits", unseen=("segway",))
    words = Retrieval(data="digits", unseen=1, labels=("absent.txt",))
    too_many = Retrieval(data="digits", unseen=20)
    wrong = Retrieval(data="digits", unseen=1, parameters={"max_iter": -1})
    tasks = {"a": absent, "b": strange, "c": words, "d": too_many, "e": wrong}
    experiments = [experiment(TASKS[0], task, name=name) for name, task in tasks.items()]
    plan = plan_of([*experiments, experiment(TASKS[0])], RunFolder(tmp_path))
    assert [job.task for job in plan.jobs] == [TASKS[0]] * 2
    assert plan.impossible.keys() == tasks.keys()
    assert "there is no absent.npz, neither here nor in the data folder" in plan.impossible["a"]
    assert "no category 'segway'" in plan.impossible["b"]
    assert "no label source 'absent.txt'" in plan.impossible["c"]
    assert "20 of 10 categories can not be unseen" in plan.impossible["d"]
    assert "max_iter" in plan.impossible["e"]


def test_files_of_one_name_do_not_share_a_result(tmp_path):
    rng, tasks = np.random.RandomState(0), []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        own = {"X": rng.randn(60, 8), "y": np.arange(60) % 3, "names": ["cat", "dog", "truck"]}
        np.savez(tmp_path / folder / "f.npz", **own)
        tasks.append(Retrieval(data=str(tmp_path / folder / "f.npz"), unseen=1, method="LSH"))
    plan = plan_of([experiment(*tasks, name="both")], RunFolder(tmp_path))
    assert "two files called f.npz" in plan.impossible["both"]
    one_by_one = [experiment(task, name=name) for name, task in zip("ab", tasks, strict=True)]
    plan = plan_of(one_by_one, RunFolder(tmp_path))
    assert list(plan.impossible) == ["b"]


def test_a_run_that_fails_is_told_and_tried_again(tmp_path):
    wide = Retrieval(method="ITQ", bits=96, **SMALL)
    assert run_all([experiment(wide, TASKS[0], seeds=1)], tmp_path) == 2
    found = RunFolder(tmp_path).read(wide)
    assert "n_bits=96 is more than the dimension of X" in found.error
    assert RunFolder(tmp_path).read(TASKS[0]).error is None
    assert run_all([experiment(wide, TASKS[0], seeds=1)], tmp_path) == 1


@pytest.mark.crash
def test_a_process_that_is_killed(tmp_path):
    fatal = Fatal(method="LSH", bits=24, **SMALL)
    with pytest.raises(ChildProcessError, match=r"perhaps for want of memory.* fewer processes"):
        run_all([experiment(fatal)], tmp_path, n_processes=2)


QUICK = ("cifar10", "labels")


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("uninterrupted")
    run_all([STUDY.read(name, Changes(quick=True)) for name in QUICK], folder)
    return records(folder)


def begin(folder):
    """The command, in a session of its own, so that its processes can be told from others."""
    command = [sys.executable, "-m", "zshash.cli", "reproduce", *QUICK, "--quick", "--jobs", "2"]
    return subprocess.Popen(
        [*command, "-o", "again"],
        cwd=folder,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def wait_for(condition, seconds):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def alive(session):
    """Processes of a session that have not ended."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            state, _, _, own = (process / "stat").read_text().rpartition(")")[2].split()[:4]
        except (FileNotFoundError, ProcessLookupError):  # it ended while we looked
            continue
        if int(own) == session and state != "Z":
            found.append(int(process.name))
    return found


@pytest.mark.crash
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals")
def test_going_on_after_a_sudden_end(tmp_path, uninterrupted):
    runs = tmp_path / "again" / "runs"
    with begin(tmp_path) as process:
        wait_for(lambda: len(list(runs.rglob("*.json"))) >= 2, 60)
        has_list = Path("/proc/self/stat").exists()
        assert not has_list or len(alive(process.pid)) >= 3  # itself and two that work
        process.kill()
    assert process.returncode == -signal.SIGKILL
    if has_list:
        try:
            wait_for(lambda: not alive(process.pid), 10)
        finally:
            for left in alive(process.pid):
                os.kill(left, signal.SIGKILL)
    kept = records(runs)  # every file is whole
    assert 2 <= len(kept) < len(uninterrupted)
    files = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in runs.rglob("*.json")}
    with begin(tmp_path) as process:
        _, errors = process.communicate(timeout=120)
    assert (process.returncode, errors) == (0, b"")
    assert records(runs) == uninterrupted
    for path, (changed, before) in files.items():
        own = json.loads(before)["runs"]
        if len(own) == 2:
            assert (path.stat().st_mtime_ns, path.read_bytes()) == (changed, before)
        else:  # the other seed is new; this one is as it was, to the clock
            assert own[0] in json.loads(path.read_text())["runs"]
    assert (tmp_path / "again.html").is_file()
