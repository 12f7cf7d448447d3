"""Plots as SVG; the same plot gives the same bytes in every process."""

import math
import warnings
from collections.abc import Mapping
from io import StringIO
from typing import Any

from zshash._extras import needs
from zshash.evaluation.report.document import Lines, Panel, Plot, Scatter
from zshash.evaluation.report.naming import has_names, name_lines, name_points
from zshash.evaluation.report.panels import FONT_SIZE, INK, draw_panel, styles

with needs("plot"):
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

__all__ = ["draw"]

WIDTH = 8.4  # inches, about 800 pixels on a screen
LOOK: dict[Any, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#888888",
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": FONT_SIZE + 0.5,
    "font.family": "sans-serif",
    "font.sans-serif": [
        "DejaVu Sans"
    ],  # comes with matplotlib, so text has the same size everywhere
    "font.size": FONT_SIZE,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "zshash",
    "text.color": INK,
    "text.parse_math": False,  # names are taken literally, dollar signs too
    "xtick.color": INK,
    "ytick.color": INK,
}
NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))


def draw(plot: Plot) -> str:
    """The plot as the text of an SVG file.

    >>> from zshash.evaluation.report.document import Line, Lines
    >>> lines = Lines("CIFAR-10", "bits", "MAP", [Line("ZSH", [16, 32], [0.3, 0.4])])
    >>> "CIFAR-10" in draw(Plot("map", [lines], "MAP by bits"))
    True
    """
    if not plot.panels:
        raise ValueError(f"the plot {plot.name} has no panel")
    text = StringIO()
    with matplotlib.rc_context(), warnings.catch_warnings():
        # Letters that the measuring font lacks are drawn by the viewer's own fonts.
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font")
        matplotlib.rcdefaults()  # ignore a user's own settings
        matplotlib.rcParams.update(LOOK)
        _figure(plot).savefig(text, format="svg", metadata=NO_METADATA)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


def _figure(plot: Plot) -> Figure:
    columns = _columns(len(plot.panels))
    rows = math.ceil(len(plot.panels) / columns)
    figure = Figure(figsize=(WIDTH, rows * (3.7 if columns == 1 else 2.9)), layout="constrained")
    FigureCanvasSVG(figure)
    places = figure.subplots(rows, columns, squeeze=False).ravel()
    look = styles(plot.panels)
    handles: dict[str, Any] = {}
    for axes, panel in zip(places, plot.panels, strict=False):
        handles |= draw_panel(axes, panel, look, WIDTH / columns)
    for axes in places[len(plot.panels) :]:
        axes.set_visible(False)
    named = [
        isinstance(panel, Lines) and has_names(panel, WIDTH / columns) for panel in plot.panels
    ]
    if not all(named):
        _legend(figure, handles, columns)
    figure.draw_without_rendering()  # names need the final layout
    figure.set_layout_engine("none")
    for axes, panel in zip(places, plot.panels, strict=False):
        if isinstance(panel, Scatter):
            name_points(axes, panel.points)
        elif isinstance(panel, Lines) and _has_names(panel, columns):
            name_lines(axes, panel, look)
    return figure


def _has_names(panel: Panel, columns: int) -> bool:
    """Whether the names of a panel stand at its lines."""
    return isinstance(panel, Lines) and has_names(panel, WIDTH / columns)


def _columns(n_panels: int) -> int:
    """Panels side by side: three at most, and four as two and two.

    >>> [_columns(n) for n in (1, 2, 3, 4, 5)]
    [1, 2, 3, 2, 3]
    """
    return 2 if n_panels == 4 else min(n_panels, 3)


def _legend(figure: Figure, handles: Mapping[str, Any], columns: int) -> None:
    """One legend for all panels, at the right of a single one and below several."""
    named = {label: handle for label, handle in handles.items() if label}
    if not named:
        return
    if columns == 1:
        figure.legend(list(named.values()), list(named), loc="outside right upper")
        return
    # A letter is about 0.6 of the font's size wide; a sign and the gaps take some 50 points.
    entry = max(map(len, named)) * 0.6 * FONT_SIZE + 50
    n_columns = max(1, min(len(named), int(WIDTH * 72 / entry)))
    figure.set_figheight(figure.get_figheight() + 0.2 * math.ceil(len(named) / n_columns))
    figure.legend(list(named.values()), list(named), loc="outside lower center", ncols=n_columns)
