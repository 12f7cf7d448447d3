"""The plan of a study: which runs are missing, and which experiments can not be run."""

import warnings
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from zshash._extras import MissingExtra
from zshash.datasets import DataError
from zshash.evaluation.runs import Store
from zshash.evaluation.tasks import Job

__all__ = ["Plan", "make_plan"]


@dataclass(frozen=True)
class Plan:
    """Work to do.

    Attributes
    ----------
    jobs : sequence of Job
        Runs that are missing.
    n_finished : int
        Number of runs that the store has already.
    impossible : dict
        Experiments that can not be run, each with the reason.
    """

    jobs: Sequence[Job]
    n_finished: int
    impossible: dict[str, str]


def make_plan(
    jobs: Mapping[str, Sequence[Job]], store: Store, context: Any, fresh: bool = False
) -> Plan:
    """Check data and labels, and compare with the store: mistakes show up before the work starts.

    An experiment whose data is missing, or does not fit, does not stop the others.

    Parameters
    ----------
    jobs : mapping of str to sequence of Job
        All runs of each experiment. A run of several experiments is run once.
    store : Store
    context : object
        The object that `Task.rehearse` gets.
    fresh : bool
        Run everything again; stored runs stay until then.
    """
    missing: dict[Hashable, Job] = {}
    finished: set[Hashable] = set()
    impossible = {}
    checksums: dict[Hashable, str] = {}
    for name, own in jobs.items():
        try:
            planned = [(store.key(job.task, job.seed), job) for job in _rehearsed(own, context)]
            _refuse_clashes(planned, checksums)
        except (ValueError, MissingExtra, OSError) as error:
            impossible[name] = str(error)
            continue
        for key, job in planned:
            if fresh or store.find(*job) is None:
                missing[key] = job
            else:
                finished.add(key)
    # Two tasks of one run may want different scores: the run is finished if it has both.
    return Plan(list(missing.values()), len(finished - missing.keys()), impossible)


def _rehearsed(jobs: Sequence[Job], context: Any) -> Iterator[Job]:
    """The jobs with the checksums of their data; each task is rehearsed once."""
    checksums: dict[int, str] = {}
    for job in jobs:
        if id(job.task) not in checksums:  # tasks need not be hashable
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                checksums[id(job.task)] = job.task.rehearse(context)
        yield job._replace(checksum=checksums[id(job.task)])


def _refuse_clashes(
    planned: Sequence[tuple[Hashable, Job]], checksums: dict[Hashable, str]
) -> None:
    """Refuse two files of the same name and different contents: they would share a result."""
    for key, job in planned:
        if checksums.setdefault(key, job.checksum) != job.checksum:
            searched = getattr(job.task, "searched", "")
            raise DataError(
                f"two files called {searched}, or two label sources of one name, have different "
                "contents: rename one"
            )
