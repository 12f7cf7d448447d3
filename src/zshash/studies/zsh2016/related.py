"""Related categories: how often pictures of these are found."""

from zshash.evaluation.report.document import Block
from zshash.evaluation.statistics import signed
from zshash.studies.claims import by_parts, is_above_zero
from zshash.studies.experiments import About, Check
from zshash.studies.findings import Findings
from zshash.studies.zsh2016.lengths import OURS, SUPERVISED, ball, best, scores

PRECISION_RELATED = {32: 0.3262, 64: 0.2636, 96: 0.2129}
"""Precision in related categories of ZSH on ImageNet, by bits."""
INTRODUCTION = (
    "Retrieving a related category counts: another one than the query's, at most five hops "
    "away in WordNet, up to a common ancestor and down again. As the paper defines them, "
    "MAP_related is the mean over ranks 1 to K of the share of related pictures up to that "
    "rank, and precision_related their share within the radius. Where the label vectors come "
    "from WordNet, the measure and the method share their source: the section on label "
    "sources has the figures of others."
)
STAND_IN = (
    "The data is that of the section before. 27 of its 100 categories have no other one within "
    "five hops, so that their queries score nothing whatever is found; the paper's figures "
    "are of other categories. Paths that go up and down more than once would relate ten more "
    "of the 4,950 pairs."
)
RUNS = """
title = "Related categories"
like = "imagenet"
"""


def show(found: Findings) -> list[Block]:
    """Scores of related categories."""
    task = found.results[0].task.facts()
    ranks = task.get("related_k", task["k"])
    titles = {
        "map_related": f"MAP_related@{ranks}",
        "precision_related": f"related {ball(task['radius'])}",
    }
    return scores(found, titles, {"precision_related": PRECISION_RELATED})


def far_above(found: Findings) -> tuple[str, str]:
    """Check that ZSH is above the second best in precision, by more than the interval."""
    parts, texts = [], []
    for bits in PRECISION_RELATED:
        means = {n: found.need("precision_related", method=n, bits=bits) for n in SUPERVISED}
        name = max(means, key=means.__getitem__)
        ours = found.need("precision_related", method=OURS, bits=bits)
        lead = found.gain("precision_related", {"method": OURS}, {"method": name}, bits=bits)
        parts.append(is_above_zero(lead))
        texts.append(f"{bits} bits: {ours:.4f}, to {name} {signed(lead)}")
    return by_parts(parts), f"Other data: only the order can be compared. {'; '.join(texts)}."


CLAIMS: dict[str, Check] = {
    "ZSH has the best MAP_related at every code length.": best("map_related", SUPERVISED),
    "Precision_related of ZSH is "
    + ", ".join(f"{value} at {bits} bits" for bits, value in PRECISION_RELATED.items())
    + ", significantly above the second best method.": far_above,
}


EXPERIMENT = About(
    name="related",
    runs=RUNS,
    introduction=INTRODUCTION,
    stand_in=STAND_IN,
    show=show,
    claims=CLAIMS,
    at_all_lengths=True,
)
