"""Run jobs in one process or several, and store each run as soon as it is finished."""

import multiprocessing
import os
import signal
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from threadpoolctl import threadpool_limits

from zshash.evaluation.runs import Store
from zshash.evaluation.tasks import Job, Record

__all__ = ["Job", "attempt", "available_cores", "run_job", "run_jobs"]

Said = list[tuple[type[Warning], str]]  # categories and texts of warnings


def run_jobs(
    jobs: Sequence[Job], store: Store, context: Any, n_processes: int = 1
) -> Iterator[tuple[Job, Record]]:
    """Run jobs; yields each with its record once the store has it. An interruption loses none.

    Parameters
    ----------
    jobs : sequence of Job
    store : Store
    context : object
        The object that `Task.run` gets; every process has a copy.
    n_processes : int
        1 runs all jobs in this process.
    """
    n_processes = min(n_processes, len(jobs))
    several = n_processes > 1
    runs = _at_once(jobs, context, n_processes) if several else _in_turn(jobs, context)
    try:
        for job, record in runs:
            store.add(job.task, job.checksum, record)
            yield job, record
    finally:
        store.save()


def run_job(job: Job, context: Any) -> Record:
    """The record of a run, with its warnings as "notes", or with an "error"."""
    record, said = attempt(lambda: job.task.run(job.seed, context))
    if "error" in record:
        return job.task.planned(job.seed) | record
    notes = sorted({" ".join(text.split()) for _, text in said})
    return record | ({"notes": notes} if notes else {})


def attempt(run: Callable[[], Record]) -> tuple[Record, Said]:
    """The record of a run, or a record with its "error"; and the warnings of the run."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            record = run()
        except (ValueError, ArithmeticError, MemoryError) as error:
            record = {"error": " ".join(str(error).split()) or type(error).__name__}
    return record, [(warning.category, str(warning.message)) for warning in caught]


def _in_turn(jobs: Iterable[Job], context: Any) -> Iterator[tuple[Job, Record]]:
    for job in jobs:
        yield job, run_job(job, context)


def _at_once(jobs: Sequence[Job], context: Any, n_processes: int) -> Iterator[tuple[Job, Record]]:
    """Records in the order they finish; the queue is short, so that an interruption is quick."""
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
                running[pool.submit(run_job, job, context)] = job
                if len(running) > n_processes:
                    break
            if not running:
                return
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield running.pop(future), future.result()
    except BrokenProcessPool:
        raise ChildProcessError(
            "a process ended before its run did, perhaps for want of memory: what has been run is "
            "kept, and fewer processes at a time need less"
        ) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _begin(threads: int) -> None:
    """Prepare a new process: limit its threads, and let it end when its parent ends."""
    threadpool_limits(threads)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles interruptions
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: multiprocessing.process.BaseProcess) -> None:
    parent.join()
    os._exit(1)


def available_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
