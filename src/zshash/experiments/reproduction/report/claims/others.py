"""Claims about convergence, categories, sizes, and parts of the method."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from zshash.experiments.reproduction.published import (
    FIRST_OBJECTIVE,
    RIVALS,
    SIMILARITY_AND_MAP,
)
from zshash.experiments.reproduction.report.claims.verdicts import by_parts, is_above_zero
from zshash.experiments.reproduction.report.findings import Findings, Missing
from zshash.experiments.reproduction.report.measures import (
    OURS,
    ZERO_ONE,
    at_iteration,
    share_seen,
    similarities,
    spread_of_starts,
    vectors_of,
)
from zshash.experiments.reproduction.report.statistics import (
    correlation,
    interval,
    mean,
    paired,
    signed,
)
from zshash.experiments.reproduction.tasks.alignment import ROTATIONS

__all__ = [
    "ALIGNMENT",
    "CONVERGENCE",
    "EXEMPLARS",
    "SEEN_RATIO",
    "STRUCTURE",
    "TRAINING_SIZE",
    "UNSEEN_CATEGORY",
]

Check = Callable[[Findings], tuple[str, str]]


def falls(found: Findings) -> tuple[str, str]:
    """The objective never rises."""
    curves = _curves(found)
    rises = sum(b > a for curve in curves for a, b in pairwise(curve))
    return by_parts([rises == 0]), f"{rises} rises in {len(curves)} fits."


def falls_early(found: Findings) -> tuple[str, str]:
    """Near n after the first iteration, most of the fall in ten, nothing after twenty."""
    curves = _curves(found, parameters=found.along("parameters")[0])
    first, tenth, twentieth = (mean(at_iteration(curves, step)) for step in (1, 10, 20))
    end = mean([curve[-1] for curve in curves])
    early = (first - tenth) / (first - end) if first > end else 0.0
    near = abs(first - FIRST_OBJECTIVE) < 0.1 * FIRST_OBJECTIVE
    evidence = (
        f"From the default start {first:,.0f} after the first iteration, about the squared length "
        "of as many label vectors, which codes that explain nothing leave (another start begins "
        f"elsewhere, see the table); {end:,.0f} at the end; {early:.1%} of the fall within 10 "
        "iterations."
    )
    return by_parts([near, early > 0.9, abs(twentieth - end) <= 0.01 * end]), evidence


def few_iterations(found: Findings) -> tuple[str, str]:
    """Codes repeat within ten iterations."""
    most = max(map(len, _curves(found, parameters=found.along("parameters")[0])))
    return by_parts([most < 10]), f"Codes repeat, and the fit ends, after {most} at most."


def _curves(found: Findings, **fields: Any) -> list[Any]:
    curves = found.values("objective", **fields)
    if not curves:
        raise Missing
    return curves


def cosines_agree(found: Findings) -> tuple[str, str]:
    """Our similarities are the paper's to the last digit it prints."""
    cosines = similarities(found)
    if not set(SIMILARITY_AND_MAP) <= set(cosines):
        raise Missing
    same = [f"{cosines[n]:.4f}" == f"{x:.4f}" for n, (x, _) in SIMILARITY_AND_MAP.items()]
    return by_parts(same), f"{sum(same)} of {len(same)} equal the paper's in all four digits."


def similar_is_better(found: Findings) -> tuple[str, str]:
    """Similarity and MAP correlate over categories."""
    scores, cosines = _by_category(found), similarities(found)
    ours = correlation([cosines[name] for name in scores], list(scores.values()))
    theirs = correlation(*zip(*SIMILARITY_AND_MAP.values(), strict=True))
    evidence = f"r = {interval(ours)}; the paper's own ten pairs give {interval(theirs)}."
    return by_parts([is_above_zero(ours)]), evidence


def peaks(found: Findings) -> tuple[str, str]:
    """The best and the worst category."""
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
    """Word vectors are above 0/1 labels, over categories, each by its mean over seeds."""

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


def grows(key: str) -> Check:
    """A score rises with the share of seen categories: its slope, and no step that falls."""

    def check(found: Findings) -> tuple[str, str]:
        shares = share_seen(found)
        if len(shares) < len(found.along("unseen")):
            raise Missing
        runs = [found.by_seed(key, unseen=number) for number in shares]
        seeds = sorted(set.intersection(*map(set, runs)))
        slopes = [
            float(np.polyfit(list(shares.values()), [own[seed] for own in runs], 1)[0])
            for seed in seeds
        ]
        slope = paired(slopes, [0.0] * len(slopes))
        numbers = {share: number for number, share in shares.items()}
        parts, texts = [is_above_zero(slope)], []
        for low, high in pairwise([share for share in (0.1, 0.3, 0.9) if share in numbers]):
            step = found.gain(key, {"unseen": numbers[high]}, {"unseen": numbers[low]})
            parts.append(None if step.high is None else step.high > 0)
            texts.append(f"{low} to {high} {signed(step)}")
        return by_parts(parts), f"Slope {signed(slope)}; {', '.join(texts)}."

    return check


def leaps(found: Findings) -> tuple[str, str]:
    """The first fifth of the categories brings more than all others after it."""
    numbers = {share: number for number, share in share_seen(found).items()}
    if not {0.1, 0.3, 0.9} <= set(numbers):
        raise Missing
    parts, texts = [], []
    for key, title in (("map", "MAP"), ("precision", "precision")):
        low, middle, high = (found.need(key, unseen=numbers[share]) for share in (0.1, 0.3, 0.9))
        parts.append(middle - low > high - middle > 0)
        texts.append(f"{title} {low:.3f}, {middle:.3f}, {high:.3f}")
    return by_parts(parts), f"At 0.1, 0.3 and 0.9: {'; '.join(texts)}."


def rises_to_ten_thousand(found: Findings) -> tuple[str, str]:
    """A gain up to 10,000 pictures, and a smaller one, if any, up to 50,000."""
    sizes = [{"n_train": size} for size in (1000, 10_000, 50_000)]
    early = found.gain("precision", sizes[1], sizes[0])
    late = found.gain("precision", sizes[2], sizes[1])
    less = None if late.high is None else late.high < early.mean
    evidence = f"1,000 to 10,000: {signed(early)}; 10,000 to 50,000: {signed(late)}."
    return by_parts([is_above_zero(early), less]), evidence


def most_right(found: Findings) -> tuple[str, str]:
    """Ours has the most right pictures among the first, then COSDISH."""
    means = {name: found.need("precision_at", method=name) for name in (OURS, *RIVALS)}
    order = sorted(means, key=means.__getitem__, reverse=True)
    evidence = ", ".join(f"{name} {means[name]:.3f}" for name in order)
    parts = [order[0] == OURS, order[:2] == [OURS, "COSDISH"]]
    return by_parts(parts), f"Share that is right, over all queries and seeds: {evidence}."


def rotation_helps(found: Findings) -> tuple[str, str]:
    """MAP with R is above that without it, from the same starts."""
    with_r, without = (found.values(name, "map") for name in ("procrustes", "none"))
    shares = [share for name in ROTATIONS for share in found.values(name, "same_bits")]
    if not with_r or len(with_r) != len(without):
        raise Missing
    lead = paired(with_r, without)
    evidence = (
        f"MAP with R, to without: {signed(lead)}, from the same starts; at least "
        f"{min(shares):.4%} of the bits are the same with R in closed form, by the paper's "
        "curvilinear search, and without it."
    )
    groups = [mean(group) for group in spread_of_starts(found)]
    if groups:
        evidence += f" Groups of starts differ by up to {max(groups) - min(groups):.3f}."
    return by_parts([is_above_zero(lead)]), evidence


def structure_helps(found: Findings) -> tuple[str, str]:
    """Scores with the Laplacian term are above those without it."""
    parts, texts = [], []
    for data, searched in zip(found.along("data"), found.along("searched"), strict=True):
        for key, title in (("map", "MAP"), ("precision", "precision")):
            without = {"parameters": {"graph": None}}
            lead = found.gain(key, {"parameters": {}}, without, data=data)
            parts.append(is_above_zero(lead))
            texts.append(f"{searched}, {title} {signed(lead)}")
    return by_parts(parts), f"Paired by seed: {'; '.join(texts)}."


CONVERGENCE: dict[str, Check] = {
    "The objective falls in every iteration.": falls,
    f"It starts at roughly {FIRST_OBJECTIVE:,}, falls dramatically within 10 iterations and is "
    "stable at the 20th.": falls_early,
    "The algorithm converges in less than 10 iterations.": few_iterations,
}
UNSEEN_CATEGORY: dict[str, Check] = {
    "The average cosine similarities of the ten names are those of its table.": cosines_agree,
    "MAP is positively related to a category's average cosine similarity to the others.": (
        similar_is_better
    ),
    "MAP peaks with *bird* unseen and is lowest with *automobile*.": peaks,
    "Word vectors are obviously better than 0/1 labels in MAP.": vectors_win("map"),
    "Word vectors are obviously better than 0/1 labels in precision.": vectors_win("precision"),
}
SEEN_RATIO: dict[str, Check] = {
    "MAP rises with the share of categories that is seen.": grows("map"),
    "Precision rises with the share of categories that is seen.": grows("precision"),
    "A dramatic leap from 0.1 to 0.3, then a slight rise to 0.9.": leaps,
}
TRAINING_SIZE: dict[str, Check] = {
    "Precision rises rapidly from 1,000 to 10,000 training pictures, and not noticeably "
    "beyond.": rises_to_ten_thousand,
}
EXEMPLARS: dict[str, Check] = {
    "ZSH returns the most right pictures among the first 15, followed by COSDISH.": most_right,
}
ALIGNMENT: dict[str, Check] = {
    "Rotating the embedding (R) makes the supervision fit better.": rotation_helps,
}
STRUCTURE: dict[str, Check] = {
    "Keeping local structure (the Laplacian term) makes codes better.": structure_helps,
}
