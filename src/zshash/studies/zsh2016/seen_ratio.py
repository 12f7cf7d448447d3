"""The share of the categories that must be seen."""

from itertools import pairwise

import numpy as np

from zshash.evaluation.report.document import Block
from zshash.evaluation.statistics import paired, signed
from zshash.studies.claims import by_parts, is_above_zero
from zshash.studies.experiments import About, Check
from zshash.studies.findings import Findings, Missing
from zshash.studies.zsh2016.training_size import curve

INTRODUCTION = (
    "Each seed draws which categories are hidden; queries come from all hidden ones. With one "
    "category seen, all of its pictures are trained on, as in the paper."
)
RUNS = """
title = "Share of the categories that is seen"
seeds = 20
quick_seeds = 2

[[parts]]
task = "retrieval"
data = "features/cifar10_lite0_pca256.npz"
labels = ["words/huang2012_50d.txt"]
n_train = 10_000
n_queries = 1000
k = 5000

[parts.vary]
unseen = [9, 8, 7, 6, 5, 4, 3, 2, 1]

[[quick]]
task = "retrieval"
data = "digits"
labels = ["wordnet"]
bits = 32
n_train = 600
n_queries = 60
k = 100

[quick.vary]
unseen = [8, 5, 1]
"""


def show(found: Findings) -> list[Block]:
    """MAP and precision by the share of the categories that is seen."""
    shares = share_seen(found)
    known = [result for result in found.results if result.task.facts()["unseen"] in shares]
    part = Findings(found.experiment, known)
    return curve(part, "unseen", "share of the categories that is seen", shares)


def share_seen(found: Findings) -> dict[int, float]:
    """The share of the categories that is seen, by the number of unseen ones that were run."""
    totals = {
        number: found.values("n_categories", unseen=number) for number in found.along("unseen")
    }
    return {number: round(1 - number / own[0], 2) for number, own in totals.items() if own}


def grows(key: str) -> Check:
    """Check that a score rises with the share of seen categories: by its slope and its steps."""

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
    """Check that the step from 0.1 to 0.3 brings more than the step from 0.3 to 0.9."""
    numbers = {share: number for number, share in share_seen(found).items()}
    if not {0.1, 0.3, 0.9} <= set(numbers):
        raise Missing
    parts, texts = [], []
    for key, title in (("map", "MAP"), ("precision", "precision")):
        low, middle, high = (found.need(key, unseen=numbers[share]) for share in (0.1, 0.3, 0.9))
        parts.append(middle - low > high - middle > 0)
        texts.append(f"{title} {low:.3f}, {middle:.3f}, {high:.3f}")
    return by_parts(parts), f"At 0.1, 0.3 and 0.9: {'; '.join(texts)}."


CLAIMS: dict[str, Check] = {
    "MAP rises with the share of categories that is seen.": grows("map"),
    "Precision rises with the share of categories that is seen.": grows("precision"),
    "A dramatic leap from 0.1 to 0.3, then a slight rise to 0.9.": leaps,
}


EXPERIMENT = About(
    name="seen-ratio",
    runs=RUNS,
    introduction=INTRODUCTION,
    show=show,
    claims=CLAIMS,
)
