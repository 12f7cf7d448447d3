"""Run what is missing, in several processes, and keep each result as soon as it is there."""

import multiprocessing
import os
import signal
import threading
import warnings
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from typing import NamedTuple

from threadpoolctl import threadpool_limits

from zshash._extras import MissingExtra
from zshash.datasets import DataError
from zshash.experiments.reproduction.configuration import Experiment
from zshash.experiments.reproduction.data import Sources
from zshash.experiments.reproduction.results import Results
from zshash.experiments.reproduction.tasks import Record, Task

__all__ = ["Job", "Plan", "available_cores", "make_plan", "run_jobs"]


class Job(NamedTuple):
    """One run that is missing."""

    task: Task
    seed: int
    checksum: str


@dataclass(frozen=True)
class Plan:
    """What is to be run, how much is there already, and which experiments can not be run."""

    jobs: Sequence[Job]
    n_finished: int
    impossible: dict[str, str]


def make_plan(
    experiments: Sequence[Experiment], results: Results, sources: Sources, fresh: bool = False
) -> Plan:
    """Look at data, labels and results before the work: mistakes are found now and not later.

    With `fresh`, what has been run counts as missing; it stays until it has been run again.

    An experiment whose data is not there, or does not fit it, does not keep others from being run.
    """
    jobs: dict[tuple[str, int], Job] = {}
    finished: set[tuple[str, int]] = set()
    impossible = {}
    checksums: dict[str, str] = {}
    for experiment in experiments:
        try:
            planned = list(_missing(experiment, results, sources, fresh))
            _refuse_clashes(planned, checksums)
        except (ValueError, MissingExtra, OSError) as error:
            impossible[experiment.name] = str(error)
            continue
        for job, is_missing in planned:
            key = (str(job.task.path()), job.seed)
            if is_missing:
                jobs[key] = job
            else:
                finished.add(key)
    return Plan(list(jobs.values()), len(finished), impossible)


def _refuse_clashes(planned: Sequence[tuple[Job, bool]], checksums: dict[str, str]) -> None:
    """Files are known by their names: two of the same name would share a result."""
    for job, _ in planned:
        path = str(job.task.path())
        if checksums.setdefault(path, job.checksum) != job.checksum:
            raise DataError(
                f"two files called {job.task.searched}, or two label sources of one name, have "
                "different contents: rename one"
            )


def _missing(
    experiment: Experiment, results: Results, sources: Sources, fresh: bool
) -> Iterator[tuple[Job, bool]]:
    """All runs of an experiment, and whether each is missing."""
    for task in experiment.tasks:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            checksum = task.rehearse(sources)
        missing = results.read(task).missing(experiment.seeds, checksum)
        for seed in range(experiment.seeds):
            yield Job(task, seed, checksum), fresh or seed in missing


def run_jobs(
    jobs: Sequence[Job], results: Results, sources: Sources, n_processes: int
) -> Iterator[Job]:
    """Run jobs and keep their results; yields each job when its result is on disk."""
    quiet = replace(sources, progress=False)
    n_processes = min(n_processes, len(jobs))
    runs = _in_turn(jobs, quiet) if n_processes < 2 else _at_once(jobs, quiet, n_processes)
    for job, record in runs:
        results.add(job.task, job.checksum, record)
        yield job


def _in_turn(jobs: Iterable[Job], sources: Sources) -> Iterator[tuple[Job, Record]]:
    for job in jobs:
        yield job, run_job(job, sources)


def _at_once(
    jobs: Sequence[Job], sources: Sources, n_processes: int
) -> Iterator[tuple[Job, Record]]:
    """Results as they come; a few jobs wait in the queue, so that an interruption is quick."""
    threads = max(1, available_cores() // n_processes)
    pool = ProcessPoolExecutor(
        n_processes,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_begin,
        initargs=(threads,),
    )
    waiting = iter(jobs)
    running = {}
    try:
        while True:
            for job in waiting:
                running[pool.submit(run_job, job, sources)] = job
                if len(running) > n_processes:
                    break
            if not running:
                return
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield running.pop(future), future.result()
    except BrokenProcessPool:
        raise ChildProcessError(
            "a process ended before its run did, perhaps for want of memory: the same command goes "
            "on from what has been run; give it fewer --jobs"
        ) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _begin(threads: int) -> None:
    """In each process: its share of the cores, and an end when the one that started it ends."""
    threadpool_limits(threads)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one that started it says what to do
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: multiprocessing.process.BaseProcess) -> None:
    parent.join()
    os._exit(1)


def run_job(job: Job, sources: Sources) -> Record:
    """The record of a run, with what was warned of; or why there is none."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            record = job.task.run(job.seed, sources)
        except (ValueError, ArithmeticError, MemoryError) as error:
            return {"seed": job.seed, "error": " ".join(str(error).split())}
    notes = sorted({" ".join(str(warning.message).split()) for warning in caught})
    return record | ({"notes": notes} if notes else {})


def available_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
