"""The part of the page on digits: scores of three methods, and pictures that one of them finds."""

import base64
from html import escape

from zshash.datasets import Dataset
from zshash.evaluation.protocol import with_deviation
from zshash.evaluation.report.page import png
from zshash.studies.demo.digits import Digits, Retrieval

__all__ = ["digits_part"]


def digits_part(digits: Digits, summary: str = "") -> str:
    """Heading, what is done, a table of scores, and rows of pictures.

    The `summary` of the page is given where this is its first part.
    """
    level = "h1" if summary else "h2"
    names = [escape(digits.dataset.names[number]) for number in digits.split().unseen]
    rows = "".join(_row(digits.dataset, retrieval) for retrieval in digits.retrievals())
    return f"""<{level} id="digits">The method itself, on digits</{level}>
<p>Two of ten handwritten digits lose their labels. Codes of {digits.n_bits} bits are learned from
the rest, and pictures of the two hidden digits search among all pictures. MTH, the method of
zshash, also learns from the pictures without a label. ZSH (Yang et al., 2016) learns from the
pictures and names of the other eight digits. LSH learns nothing: it is the yardstick.</p>
{summary}{_table(digits)}
<p class="soft small">MAP@{digits.protocol.k}: are pictures of the same digit ranked first? 1 is
perfect, 0.1 is chance. Precision: the share of right pictures among those whose codes differ in at
most {digits.protocol.radius} bits, which is what a look-up by code needs; a query with no such
picture counts 0. {_runs(digits)}</p>
<p class="soft small">What MTH finds where <em>{names[0]}</em> and <em>{names[1]}</em> are hidden:
the query, then its nearest pictures with the number of bits that differ. A solid green frame is the
same digit, a dashed red frame another one.</p>
{rows}"""


def _runs(digits: Digits) -> str:
    """What the numbers in the table are."""
    n = len({record["seed"] for record in digits.records})
    return "One run." if n == 1 else f"Mean ± deviation over {n} runs, each with other digits."


def _table(digits: Digits) -> str:
    columns = {
        "map": f"MAP@{digits.protocol.k}, hidden digits",
        "map_seen": "other digits",
        "precision": "precision, hidden digits",
    }
    rows = "".join(
        f"<tr><td>{escape(row['name'])}</td>"
        + "".join(f"<td>{with_deviation(row, key)}</td>" for key in columns)
        + "</tr>"
        for row in digits.summary()
    )
    head = "".join(f"<th>{title}</th>" for title in ("method", *columns.values()))
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f'<div class="scroll" role="region" tabindex="0" aria-label="Scores">{table}</div>'


def _row(dataset: Dataset, retrieval: Retrieval) -> str:
    """A query and its neighbours, framed as right or wrong."""
    assert dataset.labels is not None
    own = dataset.labels[retrieval.query]
    tiles = [_tile(dataset, retrieval.query, "query", "query")]
    for neighbor, distance in zip(retrieval.neighbors, retrieval.distances, strict=True):
        verdict = "right" if dataset.labels[neighbor] == own else "wrong"
        tiles.append(_tile(dataset, int(neighbor), verdict, str(distance)))
    return f'<ul class="tiles digits">{"".join(tiles)}</ul>\n'


def _tile(dataset: Dataset, row: int, role: str, caption: str) -> str:
    """A digit with its caption."""
    assert dataset.labels is not None
    assert dataset.images is not None
    name = escape(dataset.names[dataset.labels[row]])
    source = base64.b64encode(png(dataset.images[row])).decode()
    image = f'<img class="tile {role}" alt="{role}: {name}" title="{name}"'
    return f'<li>{image} src="data:image/png;base64,{source}"><small>{caption}</small></li>'
