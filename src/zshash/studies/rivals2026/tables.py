"""Tables: a row for each coder, for every world, number of bytes and kind of training."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from zshash.evaluation.report.document import Block, Table, Text
from zshash.evaluation.runs import Result
from zshash.evaluation.statistics import mean, over_seeds, paired, with_error
from zshash.evaluation.tables import LEARNS_FROM
from zshash.studies.findings import Findings
from zshash.studies.rivals2026.charts import charts, world

__all__ = ["KINDS", "TOLD", "caption", "gain", "show", "tables"]

KINDS = {"": "hidden", "_alone": "hidden alone", "_seen": "seen"}
TOLD = {False: "inductive", True: "with unlabelled pictures"}
HEAD = ["", "learns from", "bytes", "codes", *KINDS.values(), "hidden, by bits"]
HEAD += ["MTH − it", "lost", "fit, s"]
PARTS = "MTH pq"
Scores = Mapping[int, float]  # by seed


def show(found: Findings) -> list[Block]:
    """Where MTH is not the best, charts, and all tables."""
    groups = list(_groups(found))
    if not groups:
        return []
    behind = [line for group in groups for line in _behind(*group)]
    best = Text("MTH is ahead of every rival in every cell of these tables.")
    head = ["cell", "queries", "of", "rivals ahead", "by how much MAP"]
    told = "Cells in which rivals of the same number of bytes have a higher mean than MTH"
    losses = Table(head, behind, told, numbers_from=5)
    return [losses if behind else best, *charts(found), *tables(found)]


def tables(found: Findings) -> list[Block]:
    """A table for each world, number of bytes and kind of training."""
    return [_table(*group) for group in _groups(found)]


def _groups(found: Findings) -> Iterator[tuple[str, list[Result]]]:
    """Results that belong into one table, under its caption."""
    for data, bits, pool in product(*map(found.along, ("data", "bits", "unlabelled"))):
        own = found.where(data=data, bits=bits, unlabelled=pool)
        known = [result for result in own.results if result.values("map_real")]
        if known:
            yield caption(known), known


def caption(results: Sequence[Result]) -> str:
    """World, bytes, kind of training and number of seeds of results that belong together."""
    task, n = results[0].task, max(len(result.values("seed")) for result in results)
    told = f"{world(task.data)}, {task.bits // 8} bytes, {TOLD[task.unlabelled]}"
    return f"{told}; {_seeds(n)}"


def _seeds(n: int) -> str:
    return f"{n} seeds" if n > 1 else "one seed"


def _table(told: str, results: Sequence[Result]) -> Table:
    """A row for each coder, the best first."""
    leader = _leader(results)
    ranked = sorted(results, key=lambda result: -mean(result.values("map_real")))
    rows = [_row(result, leader) for result in ranked]
    counts = [len(result.values("seed")) for result in ranked]
    for row, n in zip(rows, counts, strict=True):
        row[0] += f" ({_seeds(n)})" if n < max(counts) else ""
    return Table(HEAD, rows, told, numbers_from=2)


def _leader(results: Sequence[Result]) -> Result:
    return next((own for own in results if own.task.name.startswith("MTH")), results[0])


def _row(result: Result, leader: Result) -> list[str]:
    task = result.task
    kinds = [over_seeds(result.values(f"map_real{suffix}")) for suffix in KINDS]
    difference = _against(result, leader, "map_real")
    return [
        task.name,
        LEARNS_FROM[task.learns_from],
        f"{mean(result.values('bytes')):g}",
        "binary" if task.is_binary else "other",
        *kinds,
        over_seeds(result.values("map")),
        *(difference if result is not leader else ("–", "–")),
        f"{mean(result.values('fit_seconds')):.1f}",
    ]


def _against(result: Result, leader: Result, key: str) -> tuple[str, str]:
    """The leader's score minus this one's, paired by seed, and how often it is lower."""
    ours, theirs = by_seed(leader, key), by_seed(result, key)
    seeds = sorted(ours.keys() & theirs.keys())
    if not seeds:
        return "–", "–"
    text = gain([ours[seed] for seed in seeds], [theirs[seed] for seed in seeds])
    return text, f"{sum(ours[seed] < theirs[seed] for seed in seeds)} of {len(seeds)}"


def gain(ours: Sequence[float], theirs: Sequence[float]) -> str:
    """Mean difference and standard error of paired scores.

    >>> gain([0.5, 0.7], [0.4, 0.4]), gain([0.25], [0.5])
    ('+0.200 ± 0.100', '−0.250')
    """
    pair = paired(ours, theirs)
    return with_error(f"{pair.mean:+.3f}".replace("-", "−"), pair.error, 3)


def by_seed(result: Result, key: str) -> Scores:
    """Scores of a coder by seed."""
    return {run["seed"]: run[key] for run in result.runs if key in run}


def _behind(told: str, results: Sequence[Result]) -> list[list[str]]:
    """Rows for MTH with bits and with parts, for each kind of queries with rivals ahead of it."""
    cell, names = told.partition(";")[0], (_leader(results).task.name, PARTS)
    ours = [own for own in results if own.task.name in names]
    return [row for suffix in KINDS for own in ours for row in _losses(cell, suffix, own, results)]


def _losses(
    cell: str, suffix: str, leader: Result, results: Sequence[Result]
) -> Iterator[list[str]]:
    """A row, if rivals of no more bytes have a mean above that of the leader."""
    key = f"map_real{suffix}"
    ahead = {own.task.name: _ahead(own, leader, key) for own in results if _is_rival(own)}
    names = sorted((name for name in ahead if ahead[name] > 0), key=lambda name: -ahead[name])
    if names:
        told = ", ".join(f"{name} {ahead[name]:.3f}" for name in names)
        yield [cell, KINDS[suffix], leader.task.name, str(len(names)), told]


def _is_rival(result: Result) -> bool:
    is_ours = result.task.name.startswith("MTH")
    return not is_ours and mean(result.values("bytes")) <= result.task.bits / 8


def _ahead(result: Result, leader: Result, key: str) -> float:
    """How far a coder is ahead of the leader, over the seeds that both have."""
    ours, theirs = by_seed(leader, key), by_seed(result, key)
    shared: list[Any] = sorted(ours.keys() & theirs.keys())
    return mean([theirs[seed] - ours[seed] for seed in shared]) if shared else 0.0
