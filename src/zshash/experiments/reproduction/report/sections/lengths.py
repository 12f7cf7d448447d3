"""Methods at several code lengths: CIFAR-10, ImageNet, related categories, several labels."""

from collections.abc import Mapping

from zshash.experiments.reproduction.published import MIRFLICKR_MAP, PRECISION_RELATED, RIVALS
from zshash.experiments.reproduction.report.document import (
    Block,
    Line,
    Lines,
    Plot,
    Table,
    Text,
)
from zshash.experiments.reproduction.report.findings import Findings
from zshash.experiments.reproduction.report.measures import OURS

__all__ = ["related", "retrieval", "several_labels"]


Published = Mapping[str, Mapping[int, float]]
"""What the paper states of our method, by score and bits."""


def retrieval(found: Findings, published: Published | None = None) -> list[Block]:
    """MAP and precision of every method at every length."""
    task = found.results[0].task.facts()
    titles = {"map": f"MAP@{task['k']}", "precision": _ball(task["radius"])}
    return _scores(found, titles, published or {})


def several_labels(found: Findings) -> list[Block]:
    """The same with what a random order would score."""
    chance = found.mean("chance")
    seen = found.runs[0]["seen"] if found.runs else []
    note = "" if chance is None else f" A random order has a MAP of {chance:.3f}."
    return [
        Text(f"Learned from {', '.join(seen)}.{note}"),
        *retrieval(found, {"map": MIRFLICKR_MAP}),
    ]


def related(found: Findings) -> list[Block]:
    """Scores of related categories."""
    task = found.results[0].task.facts()
    ranks = task.get("related_k", task["k"])
    ball = _ball(task["radius"])
    titles = {"map_related": f"MAP_related@{ranks}", "precision_related": f"related {ball}"}
    return _scores(found, titles, {"precision_related": PRECISION_RELATED})


def _ball(radius: int) -> str:
    return f"precision, radius {radius}"


def _scores(found: Findings, titles: dict[str, str], published: Published) -> list[Block]:
    """A plot of all scores, a table of each, and who else did well."""
    heads = ["", *(f"{bits} bits" for bits in found.along("bits"))]
    panels = [Lines(text, "bits", "", _lines(found, key)) for key, text in titles.items()]
    methods = found.along("method")
    alt = f"{' and '.join(titles.values())} of {', '.join(methods)} by code length"
    blocks: list[Block] = [Plot(found.experiment.name, panels, alt)]
    for key, text in titles.items():
        table = found.table(key, "method", "bits", heads)
        blocks.append(Table(table.head, [*table.rows, *_theirs(found, published.get(key))], text))
    return [*blocks, *(Text(_newcomers(found, key, text)) for key, text in titles.items())]


def _theirs(found: Findings, published: Mapping[int, float] | None) -> list[list[str]]:
    """A row of what the paper states, on its own data; a small version has none."""
    lengths = found.along("bits")
    if not published or found.experiment.quick or not set(published) & set(lengths):
        return []
    cells = [f"{published[bits]:.4f}" if bits in published else "–" for bits in lengths]
    return [[f"*{OURS} in the paper, on its data*", *cells]]


def _lines(found: Findings, key: str) -> list[Line]:
    return [
        found.line(method, key, "bits", emphasis=method == OURS, method=method)
        for method in found.along("method")
    ]


def _newcomers(found: Findings, key: str, title: str) -> str:
    """How methods beyond the paper stand to ours, at the length nearest to 64 bits."""
    bits = min(found.along("bits"), key=lambda number: abs(number - 64))
    ours = found.mean(key, method=OURS, bits=bits)
    others = {
        method: score
        for method in found.along("method")
        if method not in (OURS, *RIVALS)
        and (score := found.mean(key, method=method, bits=bits)) is not None
    }
    if ours is None or not others:
        return f"{title}: no other method was run."
    ranked = sorted(others.items(), key=lambda item: -item[1])
    listed = ", ".join(f"{name} {score:.3f}" for name, score in ranked)
    return f"Methods beyond the paper, {title} at {bits} bits: {listed}; {OURS} has {ours:.3f}."
