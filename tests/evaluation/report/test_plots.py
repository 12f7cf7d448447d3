import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import pytest
from matplotlib.figure import Figure

from zshash.evaluation.report.document import (
    Bars,
    Line,
    Lines,
    Plot,
    Point,
    Scatter,
    Series,
)
from zshash.evaluation.report.panels import draw_panel
from zshash.evaluation.report.panels import styles as panel_styles
from zshash.evaluation.report.plots import draw

SVG = "{http://www.w3.org/2000/svg}"
NAMES = '<b>"& $a$ a_b'


def texts(svg):
    return [text.text for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def styles(svg):
    """The styles of all paths."""
    return [path.get("style", "") for path in ElementTree.fromstring(svg).iter(f"{SVG}path")]


def first_path(svg, style):
    """The steps (letter, x, y) of the first path whose style matches."""
    found = ElementTree.fromstring(svg).iter(f"{SVG}path")
    path = next(path for path in found if re.search(style, path.get("style", "")))
    return [(s, float(x), float(y)) for s, x, y in re.findall(r"([ML]) (\S+) (\S+)", path.get("d"))]


def every_kind():
    points = [Point(f"p{i}", i, i * i, 0.5) for i in range(5)]
    series = [Series("seen", [1.0, None], [0.1, None]), Series("unseen", [0.5, 0.6])]
    line = Line("ZSH", [16, 32, 64], [0.1, None, 0.3], [0.1, 0.1, None])
    return Plot(
        "all",
        [
            Lines("lines", "bits", "MAP", [line]),
            Lines("log", "n", "s", [line], log_x=True, log_y=True),
            Bars("bars", "MAP", ["a", "b"], series),
            Scatter("points", "x", "y", points, fit=True),
        ],
        "every kind",
    )


def test_the_same_bytes_in_every_process():
    code = "import sys, matplotlib; matplotlib.rcParams['axes.linewidth'] = 5\n"
    code += f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
    code += "from test_plots import draw, every_kind\n"
    code += "sys.stdout.buffer.write(draw(every_kind()).encode())\n"
    code += "assert 'matplotlib.pyplot' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    before = dict(matplotlib.rcParams)
    assert draw(every_kind()).encode() == done.stdout
    assert draw(every_kind()).encode() == done.stdout
    assert dict(matplotlib.rcParams) == before
    assert b"<metadata" not in done.stdout


def test_names_are_written_as_they_are():
    line = Line(NAMES, [16, 32, 128], [0.1, 0.2, 0.3])
    svg = draw(Plot("a", [Lines(NAMES, NAMES, NAMES, [line])], ""))
    assert texts(svg).count(NAMES) == 4
    assert {"16", "32", "128"} <= set(texts(svg))
    points = [Point(NAMES, 0, 0), Point("other", 1, 1)]
    assert NAMES in texts(draw(Plot("a", [Scatter("", "", "", points)], "")))


def test_an_unknown_value_leaves_a_gap():
    line = Line("ZSH", [1, 2, 3, 4, 5], [0.1, 0.2, None, 0.3, 0.4])
    steps = first_path(draw(Plot("a", [Lines("", "", "", [line])], "")), "stroke-width: 1.2")
    assert "".join(letter for letter, _, _ in steps) == "MLML"


def test_emphasised_lines_are_thick_and_on_top():
    lines = [Line(name, [1, 2], [0.1, 0.2], emphasis=name == "ZSH") for name in ("ZSH", "LSH")]
    svg = draw(Plot("a", [Lines("", "", "", lines)], ""))
    assert svg.index("stroke-width: 2.6") > svg.index("stroke-width: 1.2")


def test_a_label_looks_the_same_in_every_panel_and_like_no_other():
    names = [f"method {i}" for i in range(10)]
    lines = [Line(name, [1, 2], [i, i]) for i, name in enumerate(names)]
    panels = [Lines("", "", "", lines), Lines("", "", "", lines[::-1])]
    svg = draw(Plot("a", panels, ""))
    looks = [style for style in styles(svg) if "stroke-width: 1.2" in style]
    assert (len(looks), len(set(looks))) == (20, 10)  # two panels
    assert [texts(svg).count(name) for name in names] == [2] * 10  # at the lines


def test_names_at_lines_do_not_overlap():
    lines = [Line(f"method {i}", [1, 2], [0.5, 0.5 + i / 1000]) for i in range(8)]
    svg = draw(Plot("a", [Lines("", "", "", lines)], ""))
    assert "legend" not in svg
    found = re.findall(r'<text[^>]* y="([\d.]+)"[^>]*>method', svg)
    heights = sorted(map(float, found))
    assert len(heights) == 8
    assert min(b - a for a, b in pairwise(heights)) > 7


def test_names_that_are_too_long_are_in_a_legend():
    lines = [Line("a name that takes all of the room " * 3, [1, 2], [1, 2])]
    assert "legend" in draw(Plot("a", [Lines("", "", "", lines)], ""))


def test_no_error_bar_goes_below_zero():
    for panel in (
        Lines("", "", "", [Line("a", [1, 2], [0.1, 0.2], [0.5, 0.1])]),
        Bars("", "", ["x", "y"], [Series("a", [0.1, 0.2], [0.5, 0.1])]),
    ):
        axes = Figure().subplots()
        draw_panel(axes, panel, panel_styles([panel]), 8)
        ends = [point for bars in axes.collections for path in bars.get_paths()
                for point in path.vertices[:, 1]]  # fmt: skip
        assert min(ends) == pytest.approx(0)
        assert max(ends) == pytest.approx(0.6)


def test_the_fit_goes_through_points_on_a_line():
    points = [Point(str(x), x, 2 * x + 1) for x in (0, 1, 5)]
    svg = draw(Plot("a", [Scatter("", "", "", points, fit=True)], ""))
    ends = [step[1:] for step in first_path(svg, "stroke-dasharray.*stroke: #777777")]
    marks = [
        (float(use.get("x")), float(use.get("y")))
        for use in ElementTree.fromstring(svg).iter(f"{SVG}use")
        if "#0072b2" in use.get("style")
    ]
    assert marks[0] == pytest.approx(ends[0], abs=1e-3)
    assert marks[-1] == pytest.approx(ends[-1], abs=1e-3)


def test_names_of_near_points_stand_apart():
    points = [Point("one", 0, 0), Point("two", 0.01, 0.01), Point("far", 1, 1)]
    svg = draw(Plot("a", [Scatter("", "", "", points)], ""))
    places = {
        text.text: (float(text.get("x")), float(text.get("y")))
        for text in ElementTree.fromstring(svg).iter(f"{SVG}text")
        if text.text in ("one", "two")
    }
    across, down = (abs(a - b) for a, b in zip(places["one"], places["two"], strict=True))
    assert across > 10 or down > 8


@pytest.mark.parametrize(
    "panel",
    [
        Lines("", "", "", [], log_y=True),
        Lines("", "", "", [Line("a", [0, 1], [0.0, None], [None, None])], log_y=True, log_x=True),
        Lines("卡车", "", "", [Line("a", [64], [0.5])]),
        Bars("", "", ["a"], [Series("b", [None], [None])]),
        Scatter("", "", "", [], fit=True),
        Scatter("", "", "", [Point("a", 1, 1), Point("b", 1, 2)], fit=True),
    ],
)
def test_little_or_odd_data_is_drawn_without_a_word(panel):
    ElementTree.fromstring(draw(Plot("a", [panel], "")))


def test_a_plot_without_panels_is_refused():
    with pytest.raises(ValueError, match="the plot map has no panel"):
        draw(Plot("map", [], ""))
