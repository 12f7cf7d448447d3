"""Codes of 4 to 64 bytes: MAP against bytes and against the time of a search, in charts."""

import math
from collections.abc import Callable, Iterator, Sequence

from zshash.evaluation.report.document import Block, Line, Lines, Plot, Point, Scatter
from zshash.evaluation.statistics import mean
from zshash.hashing.registry import PAIRWISE, UNSUPERVISED
from zshash.studies.findings import Findings
from zshash.studies.rivals2026.charts import LEADER, level, line, shared_seeds, world
from zshash.studies.rivals2026.coding import EqualBytes
from zshash.studies.rivals2026.tables import PARTS, TOLD, tables
from zshash.studies.rivals2026.timing import SearchTime

__all__ = ["show_long"]

FLOATS, QUANTISER = "floats", "OPQ, whitened"
LONG = 256  # bits from which on there are tables: the shorter codes have theirs elsewhere
Wanted = Callable[[EqualBytes], bool]
GROUPS: dict[str, Wanted] = {
    "features alone": lambda task: not task.coder and task.learns_from == UNSUPERVISED,
    "pairs": lambda task: not task.coder and task.learns_from == PAIRWISE,
    "labels or names": lambda task: (
        task.is_binary and not task.coder and task.learns_from not in (UNSUPERVISED, PAIRWISE)
    ),
    "quantisers": lambda task: bool(task.coder) or not task.is_binary,
}
TIMED = {  # coding: the coder whose MAP is drawn, its score, and its name
    "bits": (LEADER, "map_real", "MTH"),
    "bits by bits": (LEADER, "map", "MTH by bits"),
    "parts": (PARTS, "map_real", "MTH, parts"),
    "PQ": (QUANTISER, "map_real", "OPQ"),
    "floats": (FLOATS, "map_real", "floats"),
}


def show_long(found: Findings) -> list[Block]:
    """A chart for each group of coders, charts of search times, and tables of the long codes."""
    coded = [own for own in found.results if isinstance(own.task, EqualBytes)]
    timed = [own for own in found.results if isinstance(own.task, SearchTime)]
    learned = Findings(found.experiment, [own for own in coded if own.values("map_real")])
    times = Findings(found.experiment, [own for own in timed if own.values("milliseconds")])
    long = [own for own in learned.results if own.task.bits >= LONG]
    plots = [plot for pool in (False, True) for plot in _plots(learned, times, pool)]
    return [*plots, *tables(Findings(found.experiment, long))]


def _plots(learned: Findings, times: Findings, pool: bool) -> Iterator[Plot]:
    name, own = learned.experiment.name, learned.where(unlabelled=pool)
    told = "unlabelled" if pool else "inductive"
    for group, wanted in GROUPS.items():
        names = dict.fromkeys(r.task.name for r in own.results if wanted(r.task))
        lines = list(_lines(own, [label for label in names if label not in (LEADER, FLOATS)]))
        if lines:
            title = f"{world(own.results[0].task.data)}, {TOLD[pool]}: {group}"
            panel = Lines(title, "bytes", "MAP of hidden queries", lines, log_x=True)
            alt = f"MAP of hidden queries over bytes: {group}, {TOLD[pool]}"
            yield Plot(f"{name}-{told}-{group.split()[0]}", [panel], alt)
    points = list(_points(own, times))
    if points:
        title = f"{world(own.results[0].task.data)}, {TOLD[pool]}"
        axis = "log₁₀ of the milliseconds of a search of a million codes"
        over_time = Scatter(title, axis, "MAP of hidden queries", points)
        alt = f"MAP of hidden queries over the time of a search, {TOLD[pool]}"
        yield Plot(f"{name}-{told}-search", [over_time], alt)


def _lines(found: Findings, names: Sequence[str]) -> Iterator[Line]:
    """Curves of coders, of MTH, and of features, which have one size only."""
    if not names:
        return
    known, seeds = {own.task.name for own in found.results}, shared_seeds(found)
    if LEADER in known:
        yield line(found, LEADER, seeds)
    for name in [*names, *({FLOATS} & known)]:
        yield (level if name.startswith(FLOATS) else line)(found, name, seeds)


def _points(found: Findings, times: Findings) -> Iterator[Point]:
    for result in times.results:
        coding, bits = result.task.coding, result.task.bits
        name, key, told = TIMED[coding]
        score = found.mean(key, name=name, bits=bits)
        if score is not None:
            label = told if coding == "floats" else f"{told}, {bits // 8}"
            yield Point(label, math.log10(mean(result.values("milliseconds"))), score)
