"""Each category unseen in turn, with word vectors and with 0/1 labels."""

from collections.abc import Sequence

from zshash.experiments.reproduction.published import SIMILARITY_AND_MAP
from zshash.experiments.reproduction.report.document import (
    Bars,
    Block,
    Plot,
    Point,
    Scatter,
    Series,
    Table,
    Text,
)
from zshash.experiments.reproduction.report.findings import Findings
from zshash.experiments.reproduction.report.measures import (
    ZERO_ONE,
    similarities,
    vectors_of,
)
from zshash.experiments.reproduction.report.statistics import (
    correlation,
    deviation,
    interval,
    mean,
    rank_correlation,
    shown,
)

__all__ = ["unseen_category"]


def unseen_category(found: Findings) -> list[Block]:
    """Bars for each category, and MAP against the similarity of its name."""
    return [_bars(found), _table(found), *_against_similarity(found)]


def _all(found: Findings) -> list[tuple[str, ...]]:
    return found.along("unseen")


def _bars(found: Findings) -> Plot:
    sources = {vectors_of(found): "word vectors", ZERO_ONE: "0/1 labels"}
    groups = [unseen[0] for unseen in _all(found)]
    panels = []
    for key, title in {"map": "MAP", "precision": "precision, radius 2"}.items():
        series = []
        for labels, label in sources.items():
            values = [found.values(key, unseen=unseen, labels=labels) for unseen in _all(found)]
            means = [mean(own) if own else None for own in values]
            series.append(Series(label, means, [deviation(own) for own in values]))
        panels.append(Bars(title, "", groups, series))
    alt = "MAP and precision with each category unseen, word vectors beside 0/1 labels"
    return Plot(found.experiment.name, panels, alt)


def _table(found: Findings) -> Table:
    vectors, cosines = vectors_of(found), similarities(found)
    rows = []
    for unseen in _all(found):
        name = unseen[0]
        theirs = SIMILARITY_AND_MAP.get(name)
        scores = [
            shown(found.values(key, unseen=unseen, labels=labels))
            for key in ("map", "precision")
            for labels in (vectors, ZERO_ONE)
        ]
        cosine = f"{cosines[name]:.4f}" if name in cosines else "–"
        rows.append([name, cosine, *(f"{x:.4f}" for x in theirs or ()), *scores])
        if theirs is None:
            rows[-1][2:2] = ["–", "–"]
    heads = ["unseen", "similarity", "the paper's", "the paper's MAP", "MAP, vectors"]
    heads += ["MAP, 0/1", "precision, vectors", "precision, 0/1"]
    return Table(heads, rows)


def _against_similarity(found: Findings) -> list[Block]:
    cosines, vectors = similarities(found), vectors_of(found)
    scores = {name: found.values("map", unseen=(name,), labels=vectors) for name in cosines}
    points = [
        Point(name, cosines[name], mean(own), deviation(own)) for name, own in scores.items() if own
    ]
    panels = [Scatter("ours", "average cosine similarity", "MAP", points, fit=True)]
    lines = [_sentence("Here", [p.x for p in points], [p.y for p in points])]
    theirs = {name: SIMILARITY_AND_MAP[name] for name in cosines if name in SIMILARITY_AND_MAP}
    if theirs:
        own = [Point(name, x, y) for name, (x, y) in theirs.items()]
        panels.append(Scatter("the paper's", "average cosine similarity", "MAP", own, fit=True))
        lines.append(_sentence("In the paper's table", [p.x for p in own], [p.y for p in own]))
    alt = "MAP of each unseen category against the average cosine of its name to the others"
    return [Plot(f"{found.experiment.name}-similarity", panels, alt), Text(" ".join(lines))]


def _sentence(where: str, x: Sequence[float], y: Sequence[float]) -> str:
    pearson, spearman = correlation(x, y), rank_correlation(x, y)
    return (
        f"{where}, similarity and MAP correlate with r = {interval(pearson)} over "
        f"{pearson.n} categories (ranks: {interval(spearman)})."
    )
