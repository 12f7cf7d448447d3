"""Charts: MAP against bytes, and against the time that a fit takes."""

import math
from collections.abc import Collection
from pathlib import Path

from zshash.evaluation.report.document import Block, Line, Lines, Plot, Point, Scatter
from zshash.evaluation.runs import Result
from zshash.evaluation.statistics import error_of, mean
from zshash.studies.findings import Findings

__all__ = ["LEADER", "charts", "level", "line", "shared_seeds", "world"]

LEADER, FLOATS = "MTH best", "floats"
CHART_BITS = 64
MOST_LINES = 8  # more can not be told apart
LEAST_SECONDS = 0.01  # faster fits are not told apart


def charts(found: Findings) -> list[Block]:
    """A panel for each world: the best coders by bytes, and all coders by seconds."""
    name = found.experiment.name
    blocks: list[Block] = []
    lengths = [panel for data in found.along("data") for panel in _by_bytes(found, data)]
    if lengths:
        alt = "MAP of hidden queries over the bytes of a code, a panel for each world"
        blocks.append(Plot(f"{name}-bytes", lengths, alt))
    for data in found.along("data"):
        alt = f"MAP of hidden queries at {CHART_BITS // 8} bytes over the seconds of the fit"
        panels = _by_time(found, data)
        blocks += [Plot(f"{name}-time-{Path(data).stem}", panels, alt)] if panels else []
    return blocks


def _by_bytes(found: Findings, data: str) -> list[Lines]:
    """MAP over bytes of MTH and the best others, with unlabelled pictures where these were run."""
    own = found.where(data=data, unlabelled=True in found.along("unlabelled"))
    seeds = shared_seeds(own)
    drawn = [(level if name.startswith(FLOATS) else line)(own, name, seeds) for name in _best(own)]
    lines = [own for own in drawn if own.x]
    title = f"{world(data)}: hidden queries"
    if not lines or max(len(own.x) for own in lines) < 2:
        return []
    return [Lines(title, "bytes", "MAP, real-valued queries", lines, log_x=True)]


def shared_seeds(found: Findings) -> set[int]:
    """Seeds that MTH has at every length: other seeds hide other categories."""
    known = [own for own in found.results if own.values("map_real")]
    leaders = [own for own in known if own.task.name == LEADER]
    seeds = [set(own.values("seed")) for own in leaders or known]
    return set.intersection(*seeds) if seeds else set()


def _best(found: Findings) -> list[str]:
    """Names of the coders with the best means, the best first."""
    scores: dict[str, list[float]] = {}
    for result in found.results:
        scores.setdefault(result.task.name, []).extend(result.values("map_real"))
    known = {name: mean(values) for name, values in scores.items() if values}
    return sorted(known, key=lambda name: -known[name])[:MOST_LINES]


def line(found: Findings, name: str, seeds: Collection[int]) -> Line:
    """Mean scores of a coder over its bytes, with standard errors, where it has these seeds."""
    by_size = {}
    for result in found.where(name=name).results:
        scores = _scores(result, seeds)
        if scores and len(scores) == len(seeds):
            by_size[mean(result.values("bytes"))] = scores
    sizes = sorted(by_size)
    means = [mean(by_size[size]) for size in sizes]
    errors = [error_of(by_size[size]) for size in sizes]
    return Line(name, sizes, means, errors, name.startswith("MTH"))


def level(found: Findings, name: str, seeds: Collection[int]) -> Line:
    """Mean score of features, which have one size, as a level line."""
    sizes = sorted({result.task.bits / 8 for result in found.results})
    own = next(own for own in found.where(name=name).results if own.values("map_real"))
    told = f"{name}, {mean(own.values('bytes')):,g} bytes"
    score = mean(_scores(own, seeds) or own.values("map_real"))
    return Line(told, sizes, [score] * len(sizes))


def _scores(result: Result, seeds: Collection[int]) -> list[float]:
    runs = [run for run in result.runs if run["seed"] in seeds]
    return [run["map_real"] for run in runs if "map_real" in run]


def _by_time(found: Findings, data: str) -> list[Scatter]:
    """MAP of each inductive coder over the time of its fit."""
    own = found.where(data=data, bits=CHART_BITS, unlabelled=False)
    points = [_point(result) for result in own.results if result.values("fit_seconds")]
    title = f"{world(data)}: {CHART_BITS // 8} bytes, inductive"
    return [Scatter(title, "log₁₀ of the seconds of a fit", "MAP", points)] if points else []


def _point(result: Result) -> Point:
    seconds, score = (mean(result.values(key)) for key in ("fit_seconds", "map_real"))
    return Point(result.task.name, math.log10(max(seconds, LEAST_SECONDS)), score)


def world(data: str) -> str:
    """A text for a data set.

    >>> world("features/tiny100_lite0_pca256.npz")
    'tiny100, Lite0'
    """
    name, *network = Path(data).stem.split("_")
    return ", ".join([name, *(part.title() for part in network[:1])])
