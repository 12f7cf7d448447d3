"""Draw each kind of panel into its axes."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from zshash._extras import needs
from zshash.evaluation.report.document import (
    Bars,
    Line,
    Lines,
    Panel,
    Scatter,
)
from zshash.evaluation.report.naming import FONT_SIZE, has_names, make_room

with needs("plot"):
    from matplotlib.axes import Axes
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

__all__ = ["FONT_SIZE", "INK", "draw_panel", "styles"]

INK, SOFT = "#333333", "#777777"
# Okabe and Ito's colours, which colour-blind readers tell apart, less the yellow that is too pale
# for a line. The numbers of colours and of markers have no common divisor: pairs repeat late.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "h")
DASHES = ("-", "--", ":")
HATCHES = ("", "///", "...")
MOST_TICKS = 12
Style = dict[str, str]


def styles(panels: Sequence[Panel]) -> dict[str, Style]:
    """A style for each label, the same in all panels of a plot."""
    labels = dict.fromkeys(label for panel in panels for label in _labels(panel))
    return {
        label: {
            "color": COLOURS[number % len(COLOURS)],
            "marker": MARKERS[number % len(MARKERS)],
            "linestyle": DASHES[number // len(COLOURS) % len(DASHES)],
            "hatch": HATCHES[number // len(COLOURS) % len(HATCHES)],
        }
        for number, label in enumerate(labels)
    }


def _labels(panel: Panel) -> Iterator[str]:
    if isinstance(panel, Lines):
        yield from (line.label for line in panel.lines)
    elif isinstance(panel, Bars):
        yield from (series.label for series in panel.series)


def draw_panel(axes: Axes, panel: Panel, look: Mapping[str, Style], width: float) -> dict[str, Any]:
    """Draw a panel into axes about `width` inches wide; returns the legend's handles by label."""
    axes.set_title(panel.title, loc="left")
    axes.set_ylabel(panel.y_label)
    match panel:
        case Lines():
            return _lines(axes, panel, look, width)
        case Bars():
            return _bars(axes, panel, look, width)
        case Scatter():
            _scatter(axes, panel)
            return {}
        case _:
            assert_never(panel)


def _lines(axes: Axes, panel: Lines, look: Mapping[str, Style], width: float) -> dict[str, Any]:
    handles = {line.label: _line(axes, line, look[line.label], panel.log_y) for line in panel.lines}
    axes.set_xlabel(panel.x_label)
    if panel.log_x:
        axes.set_xscale("log")
    if panel.log_y:
        axes.set_yscale("log", nonpositive="clip")
        _log_ticks(axes.yaxis, *axes.get_ylim())
    if has_names(panel, width):
        make_room(axes, panel, width)
    own = {float(x) for line in panel.lines for x in line.x}
    values = sorted(x for x in own if x > 0 or not panel.log_x)
    if 0 < len(values) <= MOST_TICKS:
        axes.set_xticks(values, labels=_thinned(values, panel.log_x, width))
        axes.xaxis.set_minor_locator(NullLocator())
    elif panel.log_x:
        _log_ticks(axes.xaxis, *axes.get_xlim())
    return handles


def _line(axes: Axes, line: Line, style: Style, logarithmic: bool) -> Any:
    heights = _numbers(line.y)
    if logarithmic:
        heights[heights <= 0] = math.nan  # a logarithmic axis has no place for them
    drawn = axes.errorbar(
        line.x,
        heights,
        yerr=_spread(line.y, line.deviation),
        color=style["color"],
        marker=style["marker"],
        linestyle=style["linestyle"],
        linewidth=2.6 if line.emphasis else 1.2,
        markersize=6.5 if line.emphasis else 4.5,
        elinewidth=0.8,
        capsize=2,
        zorder=4 if line.emphasis else 3,
    )
    curve, caps, bars = drawn.lines
    for part in (*caps, *bars):
        part.set_alpha(0.6)  # keep the curves behind them visible
    return curve


def _numbers(values: Sequence[float | None]) -> NDArray[np.float64]:
    return np.array([math.nan if value is None else value for value in values], dtype=np.float64)


def _spread(
    values: Sequence[float | None], deviations: Sequence[float | None] | None
) -> NDArray[np.float64] | None:
    """Lengths of error bars (2, n), below and above the values; None if there are none."""
    return None if deviations is None else _reach(_numbers(values), _numbers(deviations))


def _reach(values: NDArray[np.float64], spread: NDArray[np.float64]) -> NDArray[np.float64]:
    """Lengths of error bars (2, n); those of values above zero end there.

    >>> _reach(np.array([0.25, 0.5, -1]), np.array([0.5, 0.25, 0.5])).tolist()
    [[0.25, 0.25, 0.5], [0.5, 0.25, 0.5]]
    """
    below = np.where(values >= 0, np.minimum(spread, values), spread)
    return np.stack([below, spread])


def _log_ticks(axis: Any, low: float, high: float) -> None:
    """Ticks at powers of ten, with more between them on a short axis; labels are plain numbers."""
    decades = math.log10(high / low) if 0 < low < high else 0.0  # 0 where nothing is drawn
    subdivisions = (1.0,) if decades > 2.5 else (1.0, 2.0, 5.0)
    few = MaxNLocator(5, steps=[1, 2, 5, 10])
    axis.set_major_locator(LogLocator(subs=subdivisions) if decades > 1 else few)
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())


def _thinned(values: Sequence[float], logarithmic: bool, width: float) -> list[str]:
    """Labels of ticks; a label that would touch its right neighbour is empty.

    >>> _thinned([8, 16, 24, 128], False, 2.0)
    ['8', '', '24', '128']
    """
    places = np.log(values) if logarithmic else np.asarray(values, dtype=np.float64)
    # The axis itself takes about seven tenths of the width.
    points = (places - places[0]) / (np.ptp(places) or 1.0) * width * 0.7 * 72
    labels, end = [f"{value:g}" for value in values], math.inf
    for i in reversed(range(len(values))):
        half = len(labels[i]) * 0.6 * FONT_SIZE / 2
        if points[i] + half > end:
            labels[i] = ""
        else:
            end = points[i] - half - 2
    return labels


def _bars(axes: Axes, panel: Bars, look: Mapping[str, Style], width: float) -> dict[str, Any]:
    share, handles = 0.8 / max(len(panel.series), 1), {}
    places = np.arange(len(panel.groups))
    for number, series in enumerate(panel.series):
        handles[series.label] = axes.bar(
            places + (number - (len(panel.series) - 1) / 2) * share,
            _numbers(series.values),
            share,
            yerr=_spread(series.values, series.deviations),
            color=look[series.label]["color"],
            hatch=look[series.label]["hatch"],
            edgecolor="white",
            linewidth=0.5,
            error_kw={"ecolor": INK, "elinewidth": 0.8, "capsize": 2},
        )
    axes.set_xticks(places, labels=panel.groups)
    axes.grid(False, axis="x")
    room = width * 0.8 * 72 / max(len(panel.groups), 1)
    if max(map(len, panel.groups), default=0) * 0.6 * FONT_SIZE > room:
        axes.tick_params(axis="x", labelrotation=35)
        for label in axes.get_xticklabels():
            label.set(horizontalalignment="right", rotation_mode="anchor")
    return handles


def _scatter(axes: Axes, panel: Scatter) -> None:
    x, y = _numbers([p.x for p in panel.points]), _numbers([p.y for p in panel.points])
    spread = _numbers([point.deviation for point in panel.points])
    look: dict[str, Any] = {"color": COLOURS[0], "elinewidth": 0.8, "capsize": 2, "zorder": 3}
    axes.errorbar(x, y, yerr=_reach(y, spread), fmt="o", markersize=5, **look)
    axes.set_xlabel(panel.x_label)
    axes.margins(0.12)
    known = np.isfinite(x) & np.isfinite(y)
    if panel.fit and len(set(x[known])) > 1:
        slope, height = np.polyfit(x[known], y[known], 1)
        ends = np.array([x[known].min(), x[known].max()])
        axes.plot(ends, slope * ends + height, color=SOFT, linestyle="--", linewidth=1.2, zorder=2)
