"""Methods side by side: every one at every code length, on the same splits."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zshash._files import write_whole
from zshash._warnings import warn_user
from zshash.datasets import DataError, Dataset
from zshash.datasets.opening import NAMES
from zshash.evaluation.protocol import Protocol, Setup, checksum, run_setup, setup_name, versions
from zshash.evaluation.running import run_jobs
from zshash.evaluation.runs import OTHERS, RUNS, RunFile, named
from zshash.evaluation.standard import SETTINGS, STANDARD, label_paths, load_standard
from zshash.evaluation.tables import to_json, to_markdown
from zshash.evaluation.tasks import Job, Record, Task
from zshash.hashing.registry import METHODS, SEMANTIC, recorded_parameters
from zshash.images import PictureReader
from zshash.learning.categories import find_unseen
from zshash.learning.targets import label_names, make_targets

__all__ = [
    "Contest",
    "Scoring",
    "compare",
    "compare_into",
    "files",
    "make_contest",
    "make_setups",
    "open_runs",
]

Settings = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Contest:
    """A data set, its protocol, and the methods to score; `checksum` identifies the data."""

    name: str
    dataset: Dataset
    protocol: Protocol
    setups: Sequence[Setup]
    checksum: str

    def tasks(self) -> list["Scoring"]:
        """A task for each method and length."""
        return [
            Scoring(self.name, self.dataset, self.protocol, setup, self.checksum)
            for setup in self.setups
        ]


@dataclass(frozen=True)
class Scoring(Task):
    """One setup on the data of a contest."""

    data: str
    dataset: Dataset
    protocol: Protocol
    setup: Setup
    checksum: str

    @property
    def label(self) -> str:
        """Method and bits."""
        return self.setup.name

    def rehearse(self, context: None) -> str:  # noqa: ARG002
        """Draw a split and look up the labels; the data is in memory already."""
        split = self.protocol.split(self.dataset, 0)
        if self.setup.labels:
            rows, seen = split.train[:1], split.seen
            make_targets(self.setup.hasher, self.dataset, rows, seen, self.setup.labels)
        return self.checksum

    def planned(self, seed: int) -> Record:
        """The record without scores and sizes."""
        hasher = self.setup.hasher
        return {
            "data": self.data,
            "checksum": self.checksum,
            "name": self.setup.name,
            "method": type(hasher).__name__,
            "parameters": recorded_parameters(hasher) | {"random_state": seed},
            "labels": label_names(hasher, self.setup.labels),
            "seed": seed,
            "protocol": self.protocol.facts(),
            "versions": versions(),
        }

    def run(self, seed: int, context: None) -> Record:  # noqa: ARG002
        """Scores of the split of one seed."""
        split = self.protocol.split(self.dataset, seed)
        record = run_setup(self.dataset, self.setup, split, self.protocol, seed)
        return record | {"data": self.data, "checksum": self.checksum}


def make_contest(
    data: str,
    methods: Settings,
    bits: Sequence[int],
    labels: Sequence[str],
    reader: PictureReader | None = None,
    *,
    normalize: bool = True,
    **protocol: Any,
) -> Contest:
    """A contest of methods, on pictures, on features or by a standard protocol.

    A standard protocol fixes everything but `methods`, `bits` and ``unlabelled``; the other
    parameters are for data of one's own. With None for ``unseen`` no category is hidden.
    """
    if data in STANDARD:
        return _standard(data, methods, bits, protocol.get("unlabelled", False))
    path, reader = Path(data), reader or PictureReader()
    if not path.exists() and data not in NAMES:
        choices = ", ".join(STANDARD)
        raise DataError(
            f"{data} is neither a folder or file of data nor a standard protocol ({choices})"
        )
    dataset = reader.read(data)
    if protocol["unseen"] is not None:
        protocol["unseen"] = find_unseen(dataset, protocol["unseen"])
    setups = make_setups(methods, bits, labels, normalize=normalize)
    return Contest(path.stem, dataset, Protocol(**protocol), setups, checksum(dataset, labels))


def _standard(name: str, methods: Settings, bits: Sequence[int], unlabelled: bool) -> Contest:
    facts, dataset = STANDARD[name], load_standard(name)
    unseen = find_unseen(dataset, facts.unseen) if isinstance(facts.unseen, tuple) else facts.unseen
    protocol = Protocol(
        unseen,
        facts.n_train,
        facts.n_queries,
        facts.k,
        n_seen_queries=facts.n_seen_queries,
        unlabelled=unlabelled,
    )
    labels = label_paths([facts.labels])
    own = {key: {**SETTINGS.get(key, {}), **parameters} for key, parameters in methods.items()}
    return Contest(
        name, dataset, protocol, make_setups(own, bits, labels), checksum(dataset, labels)
    )


def make_setups(
    methods: Settings, bits: Sequence[int], labels: Sequence[str] = (), *, normalize: bool = True
) -> list[Setup]:
    """Every method at every length; only methods that learn from meanings use `labels`."""
    setups = []
    for name, parameters in methods.items():
        method = METHODS[name]
        for n_bits in bits:
            hasher = method.estimator(n_bits=n_bits, normalize=normalize, **parameters)
            sources = tuple(labels) if method.kind == SEMANTIC else ()
            setups.append(Setup(setup_name(hasher), hasher, sources))
    return setups


def compare_into(
    output: Path, contests: Sequence[Contest], seeds: Sequence[int]
) -> Iterator[Record]:
    """Compare as `compare` does, with records in ``output.json`` and tables in ``output.md``.

    Runs that are in ``output.json`` are not run again, so an interrupted comparison goes on where
    it stopped. Runs that this comparison does not ask for stay in the file.
    """
    store = open_runs(output)
    for contest in contests:  # mistakes are found before the work and not after it
        for task in {task.setup.labels: task for task in contest.tasks()}.values():
            task.rehearse(None)
    try:
        for record in compare(contests, seeds, store):
            store.ask(record)
            yield record
    finally:
        if store.asked:
            store.write(files(output)[0])


def open_runs(output: Path) -> "_ComparisonFile":
    """The stored runs of a comparison named `output`; its files need not exist yet."""
    return _ComparisonFile(*files(output))


def files(output: Path) -> tuple[Path, Path]:
    """The files of a comparison named `output`: JSON and Markdown."""
    return named(output, ".json"), named(output, ".md")


class _ComparisonFile(RunFile):
    """Records of comparisons, and a page of the records that this comparison asked for."""

    parts = (RUNS, OTHERS)

    def __init__(self, path: Path, page: Path) -> None:
        super().__init__(path, _identity, _is_record, "comparison")
        self.page = page
        self.asked: dict[str, Record] = {}

    def ask(self, record: Record) -> None:
        """Show this record on the page."""
        self.asked[_identity(record)] = record

    def add(self, task: Task, checksum: str, run: Record) -> None:
        """Keep a new run, and show it on the page."""
        self.ask(run)
        super().add(task, checksum, run)

    def write(self, path: Path) -> None:
        """Write the file (summary, records asked for, other records) and the page."""
        asked = list(self.asked.values())
        others = [record for record in self if _identity(record) not in self.asked]
        write_whole(path, to_json(asked, others).encode())
        write_whole(self.page, to_markdown(asked).encode())


def _is_record(record: Record) -> bool:
    """Whether a record looks like the record of a run; anybody may have written the file."""
    if not isinstance(record.get("parameters"), dict):
        return False
    if not isinstance(record.get("versions"), dict) or "zshash" not in record["versions"]:
        return False
    scores = [record.get(key) for key in ("map", "precision", "fit_seconds")]
    scores.append(record.get("map_real", 0))  # earlier versions did not have this score
    return "error" in record or all(isinstance(score, float | int) for score in scores)


def compare(
    contests: Sequence[Contest], seeds: Sequence[int], store: RunFile | None = None
) -> Iterator[Record]:
    """Score every setup of every contest on the split of every seed; a record for each.

    A finished run in `store` is not run again: its record is returned. Where a method fails, its
    record has an "error" instead of scores. Warnings of a run are in its "notes"; each is given
    once.
    """
    store = RunFile(None, _identity, _is_record) if store is None else store  # it may be empty
    jobs = [
        Job(task, seed, contest.checksum)
        for contest in contests
        for seed in seeds
        for task in contest.tasks()
    ]
    known = [store.find(*job) for job in jobs]
    missing = [job for job, record in zip(jobs, known, strict=True) if record is None]
    runs = run_jobs(missing, store, None)
    said: set[str] = set()
    for found in known:
        record = found or next(runs)[1]
        for note in set(record.get("notes", ())) - said if found is None else ():
            warn_user(note)
            said.add(note)
        yield record


def _identity(record: Record) -> str:
    """Key of a record: all that decides the scores."""
    keys = ("data", "checksum", "method", "parameters", "labels", "seed", "protocol")
    program = record["versions"]["zshash"]
    return json.dumps([program, {key: record.get(key) for key in keys}], sort_keys=True)
