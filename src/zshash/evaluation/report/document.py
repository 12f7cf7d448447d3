"""The parts of a report, independent of the format it is written in.

Paragraphs, items, cells, captions, claims and titles of sections may have the markup of running
text (see `inline`). Names and labels in plots and galleries are taken literally.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "NOT",
    "NOT_RUN",
    "PARTLY",
    "REPRODUCED",
    "UNDECIDED",
    "VERDICTS",
    "Bars",
    "Block",
    "Claim",
    "Claims",
    "Code",
    "Document",
    "Gallery",
    "GalleryRow",
    "Items",
    "Line",
    "Lines",
    "Panel",
    "Picture",
    "Plot",
    "Point",
    "Scatter",
    "Section",
    "Series",
    "Table",
    "Text",
]

REPRODUCED, PARTLY, NOT = "reproduced", "partly", "not reproduced"
UNDECIDED, NOT_RUN = "undecided", "not run"
VERDICTS = (REPRODUCED, PARTLY, NOT, UNDECIDED, NOT_RUN)


@dataclass(frozen=True)
class Text:
    """One paragraph."""

    text: str


@dataclass(frozen=True)
class Items:
    """A bullet list."""

    items: Sequence[str]


@dataclass(frozen=True)
class Code:
    """A block with a command or its output."""

    text: str


@dataclass(frozen=True)
class Table:
    """A table of rows under a head; columns from `numbers_from` on are right-aligned."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    numbers_from: int = 1

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.head):
                raise ValueError(f"{len(row)} cells under a head of {len(self.head)}: {list(row)}")


@dataclass(frozen=True)
class Line:
    """A curve with error bars; a `y` of None leaves a gap."""

    label: str
    x: Sequence[float]
    y: Sequence[float | None]
    deviation: Sequence[float | None] | None = None
    emphasis: bool = False


@dataclass(frozen=True)
class Lines:
    """Curves over a common axis."""

    title: str
    x_label: str
    y_label: str
    lines: Sequence[Line]
    log_y: bool = False
    log_x: bool = False


@dataclass(frozen=True)
class Series:
    """Bars of one colour, one for each group; None leaves its place empty."""

    label: str
    values: Sequence[float | None]
    deviations: Sequence[float | None] | None = None


@dataclass(frozen=True)
class Bars:
    """Groups of bars."""

    title: str
    y_label: str
    groups: Sequence[str]
    series: Sequence[Series]


@dataclass(frozen=True)
class Point:
    """A point with its name and the deviation of `y`."""

    label: str
    x: float
    y: float
    deviation: float | None = None


@dataclass(frozen=True)
class Scatter:
    """Named points, with their least-squares line if `fit` is set."""

    title: str
    x_label: str
    y_label: str
    points: Sequence[Point]
    fit: bool = False


Panel = Lines | Bars | Scatter


@dataclass(frozen=True)
class Plot:
    """Panels side by side in one figure, written as the file `name`.svg."""

    name: str
    panels: Sequence[Panel]
    alt: str
    caption: str = ""

    def __post_init__(self) -> None:
        _check_name(self.name)


@dataclass(frozen=True)
class Picture:
    """A picture of the data set; `right` says whether it is a right answer, or None."""

    path: Path | None
    label: str
    right: bool | None = None
    caption: str = ""

    @property
    def mark(self) -> str:
        """✓ for a right picture, ✗ for a wrong one, else a dot."""
        return {True: "✓", False: "✗", None: "·"}[self.right]


@dataclass(frozen=True)
class GalleryRow:
    """A query and the pictures found for it, nearest first."""

    name: str
    query: Picture
    found: Sequence[Picture]

    @property
    def score(self) -> str:
        """Number of right pictures, as text.

        >>> found = [Picture(None, "cat", right) for right in (True, False, True)]
        >>> GalleryRow("ZSH", Picture(None, "cat"), found).score
        '2 of 3'
        """
        return f"{sum(picture.right is True for picture in self.found)} of {len(self.found)}"


@dataclass(frozen=True)
class Gallery:
    """Retrieved pictures."""

    title: str
    rows: Sequence[GalleryRow]


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, the verdict on it, and the evidence."""

    statement: str
    verdict: str
    evidence: str

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(f"no such verdict: {self.verdict}")


@dataclass(frozen=True)
class Claims:
    """A block of claims."""

    claims: Sequence[Claim]


Block = Text | Items | Code | Table | Plot | Gallery | Claims


@dataclass(frozen=True)
class Section:
    """Blocks under a title; `name` is the anchor that links lead to."""

    title: str
    blocks: Sequence[Block]
    name: str

    def __post_init__(self) -> None:
        _check_name(self.name)


@dataclass(frozen=True)
class Document:
    """A report: blocks before the first section, then the sections."""

    title: str
    blocks: Sequence[Block]
    sections: Sequence[Section]


def _check_name(name: str) -> None:
    """Refuse a name that can not be the name of a file and of an anchor."""
    if not re.fullmatch(r"[A-Za-z0-9_-]+", name):
        raise ValueError(f"not a name of letters, digits, - and _: {name!r}")
