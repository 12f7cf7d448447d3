"""Parts of the method, one at a time: label sources, names, the rotation, local structure."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from zshash.experiments.reproduction.report.document import (
    Bars,
    Block,
    Plot,
    Series,
    Table,
    Text,
)
from zshash.experiments.reproduction.report.findings import Findings, Missing
from zshash.experiments.reproduction.report.measures import spread_of_starts
from zshash.experiments.reproduction.report.statistics import (
    deviation,
    mean,
    shown,
    signed,
)
from zshash.experiments.reproduction.tasks.alignment import ROTATIONS

__all__ = ["alignment", "labels", "names", "structure"]

SCORES = {
    "map": "MAP",
    "precision": "precision, radius 2",
    "map_related": "MAP_related",
    "precision_related": "precision_related",
}
WAYS = {"centred": "b·A(y − ȳ)", "cosine": "cosine of bA and y", "hamming": "Hamming distance"}
WIDTHS = (
    "The width of ZSH's random start was chosen with word vectors, so here are others, for 0/1 "
    "labels, too:"
)
GRAPHS = {"knn": "neighbours (default)", "anchor": "through anchors", None: "no Laplacian term"}


def labels(found: Findings) -> list[Block]:
    """Every label source on every data set."""
    blocks: list[Block] = []
    for data in found.along("data"):
        own = found.where(data=data)
        keys = [key for key in SCORES if own.values(key)]
        heads = [Path(data).stem, *(SCORES[key] for key in keys)]
        blocks.append(Table(heads, _by_source(own, {}, keys)))
        widths = [parameters for parameters in own.along("parameters") if parameters]
        rows = [row for parameters in widths for row in _by_source(own, parameters, keys)]
        blocks += [Text(WIDTHS), Table(heads, rows)] if rows else []
    return blocks


def _by_source(
    own: Findings, parameters: Mapping[str, Any], keys: Sequence[str]
) -> list[list[str]]:
    """A row for each label source that was run with these parameters."""
    part = own.where(parameters=parameters)
    varied = "".join(f", {name} {value}" for name, value in parameters.items())
    return [
        [_source(labels) + varied, *(shown(part.values(key, labels=labels)) for key in keys)]
        for labels in part.along("labels")
    ]


def _source(labels: Sequence[str]) -> str:
    return " + ".join(Path(spec).name for spec in labels) or "the method's own"


def names(found: Findings) -> list[Block]:
    """MAP and accuracy of unseen names, by label source and way of ranking."""
    blocks: list[Block] = []
    for data in found.along("data"):
        own = found.where(data=data)
        hidden = len(own.runs[0]["unseen"]) if own.runs else 1
        rows = []
        for labels in own.along("labels"):
            cells = [shown(own.values(f"map_{way}", labels=labels)) for way in WAYS]
            told = shown(own.values("accuracy_cosine", labels=labels))
            rows.append([_source(labels), *cells, *([told] if hidden > 1 else [])])
        heads = [Path(data).stem, *(f"MAP, {text}" for text in WAYS.values())]
        heads += ["right one of the unseen names, by cosine"] if hidden > 1 else []
        blocks += [Table(heads, rows), Text(_chance(own, hidden))]
    return [*blocks, *_names_by_category(found)]


def _chance(own: Findings, hidden: int) -> str:
    chance = own.mean("chance")
    if chance is None:
        return "There are no results."
    right = f", right name {1 / hidden:.2f}" if hidden > 1 else ""
    over = "" if hidden > 1 else " Deviations are over categories and seeds."
    return f"Chance: MAP {chance:.3f}{right}.{over}"


def _names_by_category(found: Findings) -> list[Block]:
    """Where categories are hidden one by one: a bar for each of them and each source."""
    own = [result for result in found.results if isinstance(result.task.facts()["unseen"], list)]
    if not own:
        return []
    part = Findings(found.experiment, own)
    groups = part.along("unseen")
    series = []
    for labels in part.along("labels"):
        values = [part.values("map_centred", unseen=unseen, labels=labels) for unseen in groups]
        means = [mean(scores) if scores else None for scores in values]
        series.append(Series(_source(labels), means, [deviation(scores) for scores in values]))
    panel = Bars("MAP of a search by name", "", [", ".join(unseen) for unseen in groups], series)
    return [Plot(found.experiment.name, [panel], "MAP of searching each unseen category by name")]


def alignment(found: Findings) -> list[Block]:
    """The same start with each rotation, and how much starts differ."""
    rows = [
        [
            name,
            *(shown(found.values(name, key)) for key in ("map", "precision")),
            f"{min(found.values(name, 'same_bits'), default=0):.6f}",
            shown(found.values(name, "fit_seconds"), 2),
        ]
        for name in ROTATIONS
    ]
    heads = ["R", "MAP", "precision, radius 2", "least share of equal bits", "seconds to fit"]
    return [Table(heads, rows), Text(_starts(found))]


def _starts(found: Findings) -> str:
    """What a comparison of few starts with R against few others without it would find."""
    values, groups = found.values("procrustes", "map"), spread_of_starts(found)
    if not groups:
        return "Too few starts to compare groups of them."
    size = len(values) // len(groups)
    listed = ", ".join(f"{mean(group):.3f}" for group in groups)
    return (
        f"{len(values)} starts on the same split have MAP from {min(values):.3f} to "
        f"{max(values):.3f}. Taken in groups of {size}, as papers report them, the same method has "
        f"means of {listed}: differences up to "
        f"{max(map(mean, groups)) - min(map(mean, groups)):.3f} that are nothing but the start."
    )


def structure(found: Findings) -> list[Block]:
    """Graphs side by side, and paired differences to none."""
    blocks: list[Block] = []
    for data in found.along("data"):
        own = found.where(data=data)
        rows = []
        for parameters in own.along("parameters"):
            graph = parameters.get("graph", "knn")
            rows.append([GRAPHS[graph], *_compared(own, parameters)])
        heads = [Path(data).stem, "MAP", "to no term", "precision, radius 2", "to no term"]
        blocks.append(Table(heads, rows))
    return blocks


def _compared(own: Findings, parameters: Any) -> list[str]:
    """Both scores, each with its difference to those without the term."""
    cells = []
    for key in ("map", "precision"):
        cells.append(shown(own.values(key, parameters=parameters)))
        try:
            lead = own.gain(key, {"parameters": parameters}, {"parameters": {"graph": None}})
            cells.append("" if parameters == {"graph": None} else signed(lead))
        except Missing:
            cells.append("–")
    return cells
