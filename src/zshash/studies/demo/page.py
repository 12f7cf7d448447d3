"""The demonstration as one self-contained HTML page."""

import base64
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash.datasets import Dataset
from zshash.evaluation.protocol import with_deviation
from zshash.evaluation.report.page import STYLE, png
from zshash.studies.demo import Demo, Gallery, Retrieval

__all__ = ["render"]

CURVE_STYLE = """
svg text { fill: var(--soft); font-size: 12px; }
svg .axis { stroke: var(--line); fill: none; }
svg .curve { stroke: var(--curve); fill: none; stroke-width: 2; }
svg circle { fill: var(--curve); }
"""


def render(demo: Demo) -> str:
    """The page as text."""
    split = demo.split()
    names = [demo.dataset.names[number] for number in split.unseen]
    galleries = demo.galleries()
    curve = next(gallery for gallery in galleries if gallery.objective.size)
    seeds = len({record["seed"] for record in demo.records})
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>zshash: digits nobody labelled</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>{STYLE}{CURVE_STYLE}</style></head>
<body>
<h1>Finding digits that nobody labelled</h1>
<p>Each run hides the labels of two of the ten digits, learns {demo.n_bits}-bit codes, and searches
with pictures of the hidden digits among all remaining pictures, training pictures included. MTH
learns from all pictures but the queries, whether anybody labelled them or not; ZSH learns from
pictures and names of the other eight digits alone. LSH learns nothing.</p>
<h2>Scores, {f"mean ± deviation over {seeds} runs" if seeds > 1 else "one run"}</h2>
{_table(demo)}
<p class="soft">MAP@{demo.protocol.k}: are pictures of the same digit ranked first? For queries of
hidden digits, of hidden digits where only these are searched, and of the other digits. Precision:
what share of all pictures within Hamming distance {demo.protocol.radius} of a hidden query is
right? A query with nothing that near scores 0. Ties count at their expected value; chance is about
0.1. ZSH gathers a category in a small ball, which is what look-up needs, and MTH ranks. The names
of digits are near siblings in WordNet (all are <em>digit</em>), so searching by name needs richer
categories.</p>
<h2>Retrieved pictures, <em>{escape(names[0])}</em> and <em>{escape(names[1])}</em> hidden</h2>
<p class="soft">Query on the left, then its nearest pictures with their Hamming distances. A solid
green frame is the same digit, a dashed red frame another one.</p>
{"".join(_figure(demo.dataset, gallery) for gallery in galleries)}
<h2>Convergence of {escape(curve.name)}</h2>
<p class="soft">Objective after each iteration, on a logarithmic scale. It never rises.</p>
{_curve(curve.objective)}
</body></html>
"""


def _table(demo: Demo) -> str:
    columns = {
        "map": f"MAP@{demo.protocol.k}, hidden",
        "map_alone": "hidden alone",
        "map_seen": "seen",
        "precision": f"Precision, radius ≤ {demo.protocol.radius}",
    }
    rows = "".join(
        f"<tr><td>{escape(row['name'])}</td>"
        + "".join(f"<td>{with_deviation(row, key)}</td>" for key in columns)
        + f"<td>{row['fit_seconds']:.2f} s</td></tr>"
        for row in demo.summary()
    )
    titles = ("Method", *columns.values(), "Training")
    head = "".join(f"<th>{title}</th>" for title in titles)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _figure(dataset: Dataset, gallery: Gallery) -> str:
    rows = "".join(_row(dataset, retrieval) for retrieval in gallery.retrievals)
    return f"<figure><figcaption>{escape(gallery.name)}</figcaption>{rows}</figure>"


def _row(dataset: Dataset, retrieval: Retrieval) -> str:
    assert dataset.labels is not None
    own = dataset.labels[retrieval.query]
    cells = [_picture(dataset, retrieval.query, "query", "query")]
    for neighbor, distance in zip(retrieval.neighbors, retrieval.distances, strict=True):
        verdict = "right" if dataset.labels[neighbor] == own else "wrong"
        cells.append(_picture(dataset, int(neighbor), verdict, str(distance)))
    return f'<div class="row">{"".join(cells)}</div>'


def _picture(dataset: Dataset, row: int, role: str, caption: str) -> str:
    assert dataset.labels is not None
    assert dataset.images is not None
    name = dataset.names[dataset.labels[row]]
    source = base64.b64encode(png(dataset.images[row])).decode()
    image = f'<img class="{role}" alt="{role}: {escape(name)}" title="{escape(name)}"'
    return f'<div>{image} src="data:image/png;base64,{source}"><small>{caption}</small></div>'


def _curve(values: NDArray[np.float64]) -> str:
    """Objective against iteration as an SVG picture, powers of ten marked."""
    width, height, left, right, top, bottom = 640, 260, 60, 20, 15, 40
    low, high = np.floor(np.log10(values.min())), np.ceil(np.log10(values.max()))
    high = max(high, low + 1)
    xs = np.linspace(left, width - right, max(len(values), 2))[: len(values)]

    def place(level: Any) -> Any:
        return top + (high - level) / (high - low) * (height - top - bottom)

    marks = "".join(
        f'<line class="axis" x1="{left}" x2="{width - right}" y1="{place(e):.1f}" '
        f'y2="{place(e):.1f}"/><text x="{left - 8}" y="{place(e) + 4:.1f}" text-anchor="end">'
        f"{10**e:g}</text>"
        for e in np.arange(low, high + 1)
    )
    points = list(zip(xs, place(np.log10(values)), strict=True))
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" role="img" '
        f'aria-label="Objective from {values[0]:.4g} to {values[-1]:.4g} in {len(values)} '
        f'iterations">{marks}<polyline class="curve" points="{_points(points)}"/>'
        + "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>' for x, y in points)
        + "".join(
            f'<text x="{x:.1f}" y="{height - 18}" text-anchor="middle">{i}</text>'
            for i, (x, _) in enumerate(points, start=1)
        )
        + f'<text x="{(left + width - right) / 2}" y="{height - 2}" text-anchor="middle">'
        "iteration</text></svg>"
    )


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
