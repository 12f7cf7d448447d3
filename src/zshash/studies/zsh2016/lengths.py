"""Methods at several code lengths: plots, tables, and checks of the paper's claims."""

from collections.abc import Mapping, Sequence

from zshash.evaluation.report.document import (
    Block,
    Line,
    Lines,
    Plot,
    Table,
    Text,
)
from zshash.evaluation.statistics import signed
from zshash.evaluation.tables import size
from zshash.studies.claims import by_majority, by_parts, is_above_zero
from zshash.studies.experiments import Check
from zshash.studies.findings import Findings

LENGTHS = (16, 32, 64, 96, 128)
"""Code lengths that the paper compares, in bits."""

RIVALS = ("COSDISH", "SDH", "KSH", "LFH", "IMH")
"""The methods that the paper compares ZSH with."""

SUPERVISED = RIVALS[:4]
"""The rivals that the paper compares ZSH with on ImageNet."""

OURS = "ZSH"
IN_PAPER = (OURS, *RIVALS)
MOST_PRECISION = "ZSH has the best precision in most cases."
SATURATION = "MAP rises rapidly from 16 to 64 bits for all methods, and slowly from 64 to 128."
DETERIORATION = "Precision falls significantly when codes are longer than 64 bits."
RISE_AND_FALL = "Precision rises from 16 to 64 bits and falls from 64 to 128."
Published = Mapping[str, Mapping[int, float]]
"""Numbers of ZSH in the paper: score → bits → value."""


def retrieval(found: Findings, published: Published | None = None) -> list[Block]:
    """MAP and precision of every method at every length."""
    task = found.results[0].task.facts()
    titles = {"map": f"MAP@{task['k']}", "precision": ball(task["radius"])}
    return scores(found, titles, published or {})


def scores(found: Findings, titles: dict[str, str], published: Published) -> list[Block]:
    """A plot of all scores, a table of each score, and text on methods beyond the paper."""
    heads = ["", *map(size, found.along("bits"))]
    panels = [Lines(text, "bits", "", _lines(found, key)) for key, text in titles.items()]
    methods = found.along("method")
    alt = f"{' and '.join(titles.values())} of {', '.join(methods)} by code length"
    blocks: list[Block] = [Plot(found.experiment.name, panels, alt)]
    for key, text in titles.items():
        table = found.table(key, "method", "bits", heads)
        blocks.append(Table(table.head, [*table.rows, *_theirs(found, published.get(key))], text))
    return [*blocks, *(Text(_newcomers(found, key, text)) for key, text in titles.items())]


def ball(radius: int) -> str:
    """The title of a precision."""
    return f"precision, radius {radius}"


def _theirs(found: Findings, published: Mapping[int, float] | None) -> list[list[str]]:
    """A row with the numbers of the paper; a small version has none."""
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
    """Text on the methods beyond the paper, at the length nearest to 64 bits."""
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


def best(key: str, rivals: Sequence[str], *, in_most: bool = False) -> Check:
    """Check that ZSH has a higher mean than the paper's rivals: at all lengths, or at most."""

    def check(found: Findings) -> tuple[str, str]:
        wins, texts = [], []
        for bits in LENGTHS:
            means = {name: found.need(key, method=name, bits=bits) for name in rivals}
            name = max(means, key=means.__getitem__)
            lead = found.gain(key, {"method": OURS}, {"method": name}, bits=bits)
            wins.append(lead.mean > 0)
            texts.append(f"{bits} bits: {signed(lead)} to {name}")
        verdict = by_majority(wins) if in_most else by_parts(wins)
        count = f"Ahead of {', '.join(rivals)} at {sum(wins)} of {len(wins)} lengths"
        return verdict, f"{count}. {'; '.join(texts)}."

    return check


def saturation(methods: Sequence[str]) -> Check:
    """Check that MAP gains more from 16 to 64 bits than from 64 to 128, and does not fall."""

    def check(found: Findings) -> tuple[str, str]:
        parts, texts = [], []
        for name in methods:
            low, middle, high = (found.need("map", method=name, bits=n) for n in (16, 64, 128))
            parts.append(middle - low > high - middle >= 0)
            texts.append(f"{name} {middle - low:+.3f} then {high - middle:+.3f}")
        return by_parts(parts), "; ".join(texts).replace("-", "−") + "."

    return check


def deterioration(methods: Sequence[str]) -> Check:
    """Check that precision falls from 64 bits to 128, by more than its interval."""

    def check(found: Findings) -> tuple[str, str]:
        falls = {
            name: found.gain("precision", {"bits": 64}, {"bits": 128}, method=name)
            for name in methods
        }
        texts = [f"{name} {signed(fall)}" for name, fall in falls.items()]
        parts = [is_above_zero(fall) for fall in falls.values()]
        return by_parts(parts), f"At 64 bits, to 128: {'; '.join(texts)}."

    return check


def rise_and_fall(methods: Sequence[str]) -> Check:
    """Check that precision is higher at 64 bits than at 16 and at 128."""

    def check(found: Findings) -> tuple[str, str]:
        parts, texts = [], []
        for name in methods:
            own = [found.need("precision", method=name, bits=bits) for bits in (16, 64, 128)]
            parts.append(own[0] < own[1] > own[2])
            texts.append(f"{name} {', '.join(f'{value:.3f}' for value in own)}")
        return by_parts(parts), f"At 16, 64 and 128 bits: {'; '.join(texts)}."

    return check
