"""Methods side by side: every one at every code length, on the same splits."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zshash._files import write_whole
from zshash.datasets import DataError, Dataset, load_features
from zshash.datasets.opening import NAMES
from zshash.experiments.protocol import Protocol, Setup, checksum, run_setup, setup_name, versions
from zshash.experiments.standard import SETTINGS, STANDARD, data_folder
from zshash.experiments.tables import Record, to_json, to_markdown
from zshash.experiments.training import find_unseen, label_names, make_targets
from zshash.hashing.registry import METHODS, SEMANTIC
from zshash.images import PictureReader

__all__ = ["Task", "compare", "compare_into", "files", "make_setups", "make_task"]

Settings = Mapping[str, Mapping[str, Any]]
SECONDS_BETWEEN_SAVES = 10


@dataclass(frozen=True)
class Task:
    """Data, how it is scored, and the methods to score; `checksum` tells other data apart."""

    name: str
    dataset: Dataset
    protocol: Protocol
    setups: Sequence[Setup]
    checksum: str


def make_task(
    data: str,
    methods: Settings,
    bits: Sequence[int],
    labels: Sequence[str],
    reader: PictureReader | None = None,
    *,
    normalize: bool = True,
    **protocol: Any,
) -> Task:
    """Methods, with their parameters, on pictures, on features or by a standard protocol.

    All but `methods` and `bits` is for data of one's own: in a standard protocol it is fixed. With
    None for ``unseen`` no category is hidden.
    """
    if data in STANDARD:
        return _standard(data, methods, bits)
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
    return Task(path.stem, dataset, Protocol(**protocol), setups, checksum(dataset, labels))


def _standard(name: str, methods: Settings, bits: Sequence[int]) -> Task:
    facts, folder = STANDARD[name], data_folder()
    if not (folder / facts.features).is_file():
        raise DataError(
            f"{name} needs {folder / facts.features}: set ZSHASH_DATA to the folder that holds it"
        )
    dataset = load_features(folder / facts.features)
    unseen = find_unseen(dataset, facts.unseen) if isinstance(facts.unseen, tuple) else facts.unseen
    protocol = Protocol(unseen, facts.n_train, facts.n_queries, facts.k)
    source = folder / facts.labels
    labels = [str(source) if source.is_file() else facts.labels]
    own = {key: {**SETTINGS.get(key, {}), **parameters} for key, parameters in methods.items()}
    return Task(name, dataset, protocol, make_setups(own, bits, labels), checksum(dataset, labels))


def make_setups(
    methods: Settings, bits: Sequence[int], labels: Sequence[str] = (), *, normalize: bool = True
) -> list[Setup]:
    """Every method at every length; `labels` are for those that learn from names' meaning."""
    setups = []
    for name, parameters in methods.items():
        method = METHODS[name]
        for n_bits in bits:
            hasher = method.estimator(n_bits=n_bits, normalize=normalize, **parameters)
            sources = tuple(labels) if method.kind == SEMANTIC else ()
            setups.append(Setup(setup_name(hasher), hasher, sources))
    return setups


def compare_into(output: Path, tasks: Sequence[Task], seeds: Sequence[int]) -> Iterator[Record]:
    """As `compare`, and keep the records in ``output.json``, their tables in ``output.md``.

    What ``output.json`` holds already is not run again, so an interrupted comparison goes on
    where it ended. Runs in it that are not asked for this time stay there, beside the others.
    """
    path, page = files(output)
    finished = _read_records(path)
    for task in tasks:
        _rehearse(task, min(seeds, default=0))
    records: list[Record] = []
    saved = time.monotonic()
    try:
        for record in compare(tasks, seeds, finished):
            records.append(record)
            if time.monotonic() - saved > SECONDS_BETWEEN_SAVES:
                _write(path, page, records, finished)
                saved = time.monotonic()
            yield record
    finally:
        if records:
            _write(path, page, records, finished)


def _rehearse(task: Task, seed: int) -> None:
    """Draw a split and look up labels, to find mistakes before the work and not after it."""
    split = task.protocol.split(task.dataset, seed)
    for setup in {setup.labels: setup for setup in task.setups if setup.labels}.values():
        make_targets(setup.hasher, task.dataset, split.train[:1], split.seen, setup.labels)


def files(output: Path) -> tuple[Path, Path]:
    """The files that are written for the name `output`: JSON and Markdown."""
    stem = output.with_suffix("") if output.suffix in (".json", ".md") else output
    return stem.with_name(f"{stem.name}.json"), stem.with_name(f"{stem.name}.md")


def _write(path: Path, page: Path, records: Sequence[Record], finished: Sequence[Record]) -> None:
    reached = set(map(_identity, records))
    others = [record for record in finished if _identity(record) not in reached]
    write_whole(path, to_json(records, others).encode())
    write_whole(page, to_markdown(records).encode())


def _read_records(path: Path) -> list[Record]:
    if not path.exists():
        return []
    try:
        content = json.loads(path.read_text())
        records: list[Record] = [*content["runs"], *content["others"]]
        if not all(map(_is_record, records)):
            raise ValueError
    except (ValueError, KeyError, TypeError):
        raise DataError(f"{path}: not a comparison; remove it or choose another name") from None
    return records


def _is_record(record: Any) -> bool:
    """Whether this looks like what a run leaves; anybody may have written it."""
    if not isinstance(record, dict) or not isinstance(record.get("parameters"), dict):
        return False
    if not isinstance(record.get("versions"), dict) or "zshash" not in record["versions"]:
        return False
    scores = [record.get(key) for key in ("map", "precision", "fit_seconds")]
    scores.append(record.get("map_asymmetric", 0))  # earlier versions did not know it
    return "error" in record or all(isinstance(score, float | int) for score in scores)


def compare(
    tasks: Sequence[Task], seeds: Sequence[int], finished: Sequence[Record] = ()
) -> Iterator[Record]:
    """Score every setup of every task on the split of every seed; a record for each.

    A record among `finished` with the same circumstances is passed on instead of run again.
    Where a method can not do what is asked of it, its record says why instead of a score.
    """
    known = {_identity(record): record for record in finished if "map" in record}
    for task in tasks:
        for seed in seeds:
            split = task.protocol.split(task.dataset, seed)
            for setup in task.setups:
                planned = _plan(task, setup, seed)
                record = known.get(_identity(planned))
                if record is None:
                    try:
                        record = run_setup(task.dataset, setup, split, task.protocol, seed)
                    except (ValueError, ArithmeticError, MemoryError) as error:
                        record = planned | {"error": " ".join(str(error).split())}
                yield record | {"data": task.name, "checksum": task.checksum}


def _plan(task: Task, setup: Setup, seed: int) -> Record:
    """What is known of a record before its run."""
    return {
        "data": task.name,
        "checksum": task.checksum,
        "name": setup.name,
        "method": type(setup.hasher).__name__,
        "parameters": setup.hasher.get_params() | {"random_state": seed},
        "labels": label_names(setup.hasher, setup.labels),
        "seed": seed,
        "protocol": task.protocol.facts(),
        "versions": versions(),
    }


def _identity(record: Record) -> str:
    """All that decides a score."""
    keys = ("data", "checksum", "method", "parameters", "labels", "seed", "protocol")
    program = record["versions"]["zshash"]
    return json.dumps([program, {key: record.get(key) for key in keys}], sort_keys=True)
