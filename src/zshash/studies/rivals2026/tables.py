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

__all__ = ["KINDS", "show"]

KINDS = {"": "hidden", "_alone": "hidden alone", "_seen": "seen"}
TOLD = {False: "inductive", True: "with unlabelled pictures"}
HEAD = ["", "learns from", "bytes", "codes", *KINDS.values(), "hidden, by bits"]
HEAD += ["MTH − it", "lost", "fit, s"]
Scores = Mapping[int, float]  # by seed


def show(found: Findings) -> list[Block]:
    """Where MTH is not the best, charts, and all tables."""
    groups = list(_groups(found))
    if not groups:
        return []
    behind = [line for group in groups for line in _behind(*group)]
    best = Text("MTH is ahead of every rival in every cell of these tables.")
    head = ["cell", "queries", "rivals ahead", "by how much MAP"]
    caption = "Cells in which rivals of the same number of bytes have a higher mean than MTH"
    losses = Table(head, behind, caption, numbers_from=4)
    tables = [_table(*group) for group in groups]
    return [losses if behind else best, *charts(found), *tables]


def _groups(found: Findings) -> Iterator[tuple[str, list[Result]]]:
    """Results that belong into one table, under its caption."""
    for data, bits, pool in product(*map(found.along, ("data", "bits", "unlabelled"))):
        own = found.where(data=data, bits=bits, unlabelled=pool)
        known = [result for result in own.results if result.values("map_real")]
        if known:
            n = max(len(result.values("seed")) for result in known)
            seeds = f"{n} seeds" if n > 1 else "one seed"
            yield f"{world(data)}, {bits // 8} bytes, {TOLD[pool]}; {seeds}", known


def _table(caption: str, results: Sequence[Result]) -> Table:
    """A row for each coder, the best first."""
    leader = _leader(results)
    ranked = sorted(results, key=lambda result: -mean(result.values("map_real")))
    rows = [_row(result, leader) for result in ranked]
    return Table(HEAD, rows, caption, numbers_from=2)


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
    pair = paired([ours[seed] for seed in seeds], [theirs[seed] for seed in seeds])
    text = with_error(f"{pair.mean:+.3f}".replace("-", "−"), pair.error, 3)
    return text, f"{sum(ours[seed] < theirs[seed] for seed in seeds)} of {len(seeds)}"


def by_seed(result: Result, key: str) -> Scores:
    """Scores of a coder by seed."""
    return {run["seed"]: run[key] for run in result.runs if key in run}


def _behind(caption: str, results: Sequence[Result]) -> list[list[str]]:
    """A row for each kind of queries with rivals of no more bytes whose mean is above MTH's."""
    leader, cell = _leader(results), caption.partition(";")[0]
    rows = []
    for suffix, kind in KINDS.items():
        key = f"map_real{suffix}"
        ahead = {own.task.name: _ahead(own, leader, key) for own in results if _is_rival(own)}
        names = sorted((name for name in ahead if ahead[name] > 0), key=lambda name: -ahead[name])
        if names:
            told = ", ".join(f"{name} {ahead[name]:.3f}" for name in names)
            rows.append([cell, kind, str(len(names)), told])
    return rows


def _is_rival(result: Result) -> bool:
    is_ours = result.task.name.startswith("MTH")
    return not is_ours and mean(result.values("bytes")) <= result.task.bits / 8


def _ahead(result: Result, leader: Result, key: str) -> float:
    """How far a coder is ahead of the leader, over the seeds that both have."""
    ours, theirs = by_seed(leader, key), by_seed(result, key)
    shared: list[Any] = sorted(ours.keys() & theirs.keys())
    return mean([theirs[seed] - ours[seed] for seed in shared]) if shared else 0.0
