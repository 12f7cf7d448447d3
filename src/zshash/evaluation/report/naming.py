"""Names in plots: beside points, and at the ends of lines."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from zshash._extras import needs
from zshash.evaluation.report.document import Line, Lines, Point

with needs("plot"):
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation
    from matplotlib.transforms import Bbox

__all__ = ["FONT_SIZE", "has_names", "make_room", "name_lines", "name_points"]

FONT_SIZE = 9.5
SMALL = FONT_SIZE - 2  # of names at lines
LETTER, HEIGHT = 0.6 * SMALL, 1.15 * SMALL  # points that a letter and a name take
AWAY = 14  # points between the end of a line and its name
MOST_NAMES, MOST_SHARE = 14, 0.45  # names at lines, and part of the width of a panel for them
# Sides of a point where its name may stand: right (1) or left, above (1) or below.
PLACES = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1))


def has_names(panel: Lines, width: float) -> bool:
    """Whether a panel about `width` inches wide has room for names at its lines."""
    named = [line for line in panel.lines if line.label and _end(line, panel)]
    share = _share(panel, width)
    return len(named) == len(panel.lines) <= MOST_NAMES and share <= MOST_SHARE


def _share(panel: Lines, width: float) -> float:
    """Part of the width of the axes that the names take; axes take seven tenths of a panel."""
    longest = max((len(line.label) for line in panel.lines), default=0)
    return (LETTER * longest + AWAY) / (0.7 * 72 * width)


def _end(line: Line, panel: Lines) -> tuple[float, float] | None:
    """The last point of a line that is drawn, or None."""
    points = [
        (float(x), float(y))
        for x, y in zip(line.x, line.y, strict=True)
        if y is not None
        and math.isfinite(y)
        and (x > 0 or not panel.log_x)
        and (y > 0 or not panel.log_y)
    ]
    return max(points, default=None)


def make_room(axes: Axes, panel: Lines, width: float) -> None:
    """Make the axes longer at the right, so that the names stand inside."""
    share = _share(panel, width)
    low, high = axes.get_xlim()
    if panel.log_x:
        axes.set_xlim(low, high * (high / low) ** (share / (1 - share)))
    else:
        axes.set_xlim(low, high + (high - low) * share / (1 - share))


def name_lines(axes: Axes, panel: Lines, look: Mapping[str, Mapping[str, str]]) -> None:
    """Write each name at the end of its line, with a stroke to it; names do not overlap."""
    ends = {line.label: end for line in panel.lines if (end := _end(line, panel)) is not None}
    if not ends:
        return
    labels, points = list(ends), np.array(list(ends.values()))
    pixels = axes.transData.transform(points)
    scale = axes.figure.dpi / 72
    heights = _apart(pixels[:, 1], HEIGHT * scale, *axes.bbox.intervaly)
    right = float(pixels[:, 0].max()) + AWAY * scale
    for label, point, pixel, height in zip(labels, points, pixels, heights, strict=True):
        offset = ((right - pixel[0]) / scale, (height - pixel[1]) / scale)
        axes.annotate(
            label,
            tuple(point),
            offset,
            textcoords="offset points",
            fontsize=SMALL,
            verticalalignment="center",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": look[label]["color"],
                "linewidth": 0.8,
                "shrinkA": 0,
                "shrinkB": 3,
                "relpos": (0, 0.5),
            },
        )


def _apart(
    heights: NDArray[np.float64], least: float, low: float, high: float
) -> NDArray[np.float64]:
    """Heights as near as possible to the given ones, in their order, `least` apart.

    They stay between `low` and `high` where there is room for all.

    >>> _apart(np.array([5.0, 1.0, 1.5]), 2, 0, 10).tolist()
    [5.0, 1.0, 3.0]
    >>> _apart(np.array([9.0, 9.5]), 2, 0, 10).tolist()
    [8.0, 10.0]
    """
    order = np.argsort(heights, kind="stable")
    placed = heights[order].copy()
    for i in range(1, len(placed)):
        placed[i] = max(placed[i], placed[i - 1] + least)
    placed[-1] = min(placed[-1], high)
    for i in reversed(range(len(placed) - 1)):
        placed[i] = min(placed[i], placed[i + 1] - least)
    placed += max(0.0, low - placed[0])
    found = np.empty_like(placed)
    found[order] = placed
    return found


def name_points(axes: Axes, points: Sequence[Point]) -> None:
    """Write names beside points, each at the place where it covers least."""
    known = [point for point in points if math.isfinite(point.x) and math.isfinite(point.y)]
    taken = [_box(axes, point) for point in known]
    size = FONT_SIZE - (1 if len(known) <= 20 else 3)
    for point in known:
        text = axes.annotate(
            point.label, (point.x, point.y), (0, 0), textcoords="offset points", fontsize=size
        )
        # The first of equally good places is taken.
        best = min(PLACES, key=lambda place: _cost(axes, _put(text, place), taken))
        taken.append(_put(text, best))


def _box(axes: Axes, point: Point) -> Bbox:
    """The box of a point and its error bar, in pixels."""
    spread = point.deviation or 0.0
    ends = axes.transData.transform([(point.x, point.y - spread), (point.x, point.y + spread)])
    return Bbox(ends).padded(4)


def _put(text: Annotation, place: tuple[int, int]) -> Bbox:
    """Move a name to one side of its point; returns the box of the name, in pixels."""
    right, up = place
    gap = 6 if 0 in place else 4
    text.set_position((right * gap, up * gap))
    text.set(
        horizontalalignment={1: "left", 0: "center", -1: "right"}[right],
        verticalalignment={1: "bottom", 0: "center", -1: "top"}[up],
    )
    return text.get_window_extent()


def _cost(axes: Axes, box: Bbox, taken: Sequence[Bbox]) -> float:
    """Area of a box that is covered already or lies outside the axes."""
    overlaps = (Bbox.intersection(box, other) for other in taken)
    covered = sum(area.width * area.height for area in overlaps if area is not None)
    inside = Bbox.intersection(box, axes.bbox)
    outside = box.width * box.height - (inside.width * inside.height if inside else 0.0)
    return round(covered + outside, 3)
