"""Each category of CIFAR-10 is hidden in its turn, with word vectors and with 0/1 labels."""

from collections.abc import Sequence

from zshash.evaluation.report.document import (
    Bars,
    Block,
    Plot,
    Point,
    Scatter,
    Table,
    Text,
)
from zshash.evaluation.statistics import (
    correlation,
    deviation,
    interval,
    mean,
    paired,
    rank_correlation,
    shown,
    signed,
)
from zshash.studies.claims import by_parts, is_above_zero
from zshash.studies.experiments import About, Check
from zshash.studies.findings import Findings, Missing

SIMILARITY_AND_MAP = {
    "airplane": (0.2191, 0.2791),
    "automobile": (0.1567, 0.2603),
    "bird": (0.3565, 0.3751),
    "cat": (0.3661, 0.3621),
    "deer": (0.2981, 0.2912),
    "dog": (0.3826, 0.3467),
    "frog": (0.3485, 0.2991),
    "horse": (0.3015, 0.3125),
    "ship": (0.1663, 0.2987),
    "truck": (0.3358, 0.3120),
}
"""Average cosine to the other categories, and MAP of ZSH with the category unseen, CIFAR-10."""
ZERO_ONE = ("onehot",)  # label sources where categories have 0/1 labels
INTRODUCTION = (
    "Every category is hidden once, with the label vectors of the paper and with 0/1 labels. "
    "The similarity of a category is the average cosine of its name's vector to the others'."
)
RUNS = """
title = "Each category of CIFAR-10 unseen in turn"
seeds = 5
quick_seeds = 2

[[parts]]
task = "retrieval"
data = "features/cifar10_lite0_pca256.npz"
n_train = 10_000
n_queries = 1000
k = 5000

[parts.vary]
unseen = [
    ["airplane"], ["automobile"], ["bird"], ["cat"], ["deer"], ["dog"], ["frog"], ["horse"],
    ["ship"], ["truck"],
]
labels = [["words/huang2012_50d.txt"], ["onehot"]]

[[quick]]
task = "retrieval"
data = "digits"
bits = 32
n_train = 600
n_queries = 60
k = 100

[quick.vary]
unseen = [["one"], ["two"], ["four"], ["seven"], ["nine"]]
labels = [["wordnet"], ["onehot"]]
"""


def show(found: Findings) -> list[Block]:
    """Bars and a table for each category, and MAP against the similarity of its name."""
    return [_bars(found), _table(found), *_against_similarity(found)]


def _bars(found: Findings) -> Plot:
    sources = {vectors_of(found): "word vectors", ZERO_ONE: "0/1 labels"}
    groups = [unseen[0] for unseen in found.along("unseen")]
    panels = []
    for key, title in {"map": "MAP", "precision": "precision, radius 2"}.items():
        series = [
            found.series(label, key, "unseen", labels=labels) for labels, label in sources.items()
        ]
        panels.append(Bars(title, "", groups, series))
    alt = "MAP and precision with each category unseen, word vectors beside 0/1 labels"
    return Plot(found.experiment.name, panels, alt)


def _table(found: Findings) -> Table:
    vectors, cosines = vectors_of(found), similarities(found)
    rows = []
    for unseen in found.along("unseen"):
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


def vectors_of(found: Findings) -> tuple[str, ...]:
    """The label source that is compared with 0/1 labels."""
    sources = [labels for labels in found.along("labels") if labels != ZERO_ONE]
    return tuple(sources[0])


def similarities(found: Findings) -> dict[str, float]:
    """Average cosine of each category's name to the others."""
    own = vectors_of(found)
    values = {
        unseen[0]: found.values("similarity", unseen=unseen, labels=own)
        for unseen in found.along("unseen")
    }
    return {name: mean(cosines) for name, cosines in values.items() if cosines}


def cosines_agree(found: Findings) -> tuple[str, str]:
    """Check that our similarities equal the paper's in all printed digits."""
    cosines = similarities(found)
    if not set(SIMILARITY_AND_MAP) <= set(cosines):
        raise Missing
    same = [f"{cosines[n]:.4f}" == f"{x:.4f}" for n, (x, _) in SIMILARITY_AND_MAP.items()]
    return by_parts(same), f"{sum(same)} of {len(same)} equal the paper's in all four digits."


def similar_is_better(found: Findings) -> tuple[str, str]:
    """Check that similarity and MAP correlate over categories."""
    scores, cosines = _by_category(found), similarities(found)
    ours = correlation([cosines[name] for name in scores], list(scores.values()))
    theirs = correlation(*zip(*SIMILARITY_AND_MAP.values(), strict=True))
    evidence = f"r = {interval(ours)}; the paper's own ten pairs give {interval(theirs)}."
    return by_parts([is_above_zero(ours)]), evidence


def peaks(found: Findings) -> tuple[str, str]:
    """Check which category is the best, and which is the worst."""
    scores = _by_category(found)
    order = sorted(scores, key=scores.__getitem__)
    texts = [f"{name} {scores[name]:.3f}" for name in dict.fromkeys([order[-1], order[0]])]
    others = [f"{name} {scores[name]:.3f}" for name in ("bird", "automobile") if name in scores]
    evidence = f"Highest and lowest: {', '.join(texts)}; {', '.join(others)}."
    return by_parts([order[-1] == "bird", order[0] == "automobile"]), evidence


def _by_category(found: Findings) -> dict[str, float]:
    vectors = vectors_of(found)
    return {
        unseen[0]: found.need("map", unseen=unseen, labels=vectors)
        for unseen in found.along("unseen")
    }


def vectors_win(key: str) -> Check:
    """Check that word vectors are above 0/1 labels, by the mean of each category over seeds."""

    def check(found: Findings) -> tuple[str, str]:
        both = [
            [found.need(key, unseen=unseen, labels=labels) for unseen in found.along("unseen")]
            for labels in (vectors_of(found), ZERO_ONE)
        ]
        lead = paired(*both)
        wins = sum(a > b for a, b in zip(*both, strict=True))
        evidence = f"Better for {wins} of {lead.n} categories; on average {signed(lead)}."
        return by_parts([is_above_zero(lead)]), evidence

    return check


CLAIMS: dict[str, Check] = {
    "The average cosine similarities of the ten names are those of its table.": cosines_agree,
    "MAP is positively related to a category's average cosine similarity to the others.": (
        similar_is_better
    ),
    "MAP peaks with *bird* unseen and is lowest with *automobile*.": peaks,
    "Word vectors are obviously better than 0/1 labels in MAP.": vectors_win("map"),
    "Word vectors are obviously better than 0/1 labels in precision.": vectors_win("precision"),
}


EXPERIMENT = About(
    name="unseen-category",
    runs=RUNS,
    introduction=INTRODUCTION,
    show=show,
    claims=CLAIMS,
)
