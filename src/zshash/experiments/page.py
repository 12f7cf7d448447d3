"""The demonstration as one self-contained HTML page."""

import base64
import struct
import zlib
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash.datasets import Dataset
from zshash.experiments.demo import Demo, Gallery, Retrieval
from zshash.experiments.protocol import with_deviation

__all__ = ["STYLE", "png", "render"]

STYLE = """
:root { color-scheme: light dark; --ink: #1d2330; --paper: #fbfbf9; --soft: #667; --line: #d5d7dd;
  --good: #1a8f4c; --bad: #d0342c; --curve: #2860c4; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8ee; --paper: #14171e; --soft: #9aa3b5;
  --line: #353b49; --good: #3fc57a; --bad: #ff6b61; --curve: #7fa8ff; } }
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.7rem; margin-bottom: .2rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; }
p { max-width: 46rem; } .soft { color: var(--soft); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .35rem .9rem .35rem 0; text-align: left; border-bottom: 1px solid var(--line); }
figure { margin: 0 0 1.4rem; } figcaption { font-weight: 600; margin-bottom: .4rem; }
.row { display: flex; flex-wrap: wrap; gap: .3rem; align-items: flex-end; margin: .3rem 0; }
.row img { width: 2.6rem; height: 2.6rem; display: block; image-rendering: pixelated;
  border: 3px solid var(--line); border-radius: 4px; }
.row div:first-child { margin-right: .8rem; } .row .right { border-color: var(--good); }
.row .wrong { border-color: var(--bad); border-style: dashed; }
.row small { display: block; text-align: center; color: var(--soft); font-size: .7rem; }
svg { max-width: 100%; height: auto; }
"""
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
<p>Each run hides two of the ten digits, learns {demo.n_bits}-bit codes from pictures and names of
the other eight, and searches with pictures of the hidden ones among all remaining pictures,
training pictures included. No hidden digit was ever seen in training.</p>
<h2>Scores, {f"mean ± deviation over {seeds} runs" if seeds > 1 else "one run"}</h2>
{_table(demo)}
<p class="soft">MAP@{demo.protocol.k}: are pictures of the same digit ranked first? Precision: what
share of all pictures within Hamming distance {demo.protocol.radius} of the query is right? A query
with nothing that near scores 0. Ties count at their expected value; chance is about 0.1. Raw
pixels of digits already
rank well, so LSH is a strong rival in MAP; learned codes gather a category in a small ball, which
is what look-up needs. The names of digits are near siblings in WordNet (all are <em>digit</em>),
so here they say little more than one-hot labels, and searching by name needs richer
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
    rows = "".join(
        f"<tr><td>{escape(row['name'])}</td>"
        f"<td>{with_deviation(row, 'map')}</td><td>{with_deviation(row, 'precision')}</td>"
        f"<td>{row['fit_seconds']:.2f} s</td></tr>"
        for row in demo.summary()
    )
    head = f"<th>Method</th><th>MAP@{demo.protocol.k}</th>"
    head += f"<th>Precision, radius ≤ {demo.protocol.radius}</th><th>Training</th>"
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


def png(image: NDArray[np.uint8]) -> bytes:
    """A picture, grey (height, width) or in colours (height, width, 3), as a PNG file."""
    height, width = image.shape[:2]
    colour_type = 0 if image.ndim == 2 else 2
    lines = b"".join(b"\0" + row.tobytes() for row in np.ascontiguousarray(image))
    header = struct.pack(">2I5B", width, height, 8, colour_type, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


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
