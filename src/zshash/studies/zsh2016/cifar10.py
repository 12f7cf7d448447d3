"""CIFAR-10: one category is hidden, and ZSH is compared with its rivals at all lengths."""

from zshash.studies.claims import by_parts
from zshash.studies.experiments import About, Check
from zshash.studies.findings import Findings
from zshash.studies.zsh2016.lengths import (
    DETERIORATION,
    IN_PAPER,
    LENGTHS,
    MOST_PRECISION,
    RISE_AND_FALL,
    RIVALS,
    SATURATION,
    best,
    deterioration,
    retrieval,
    rise_and_fall,
    saturation,
)

INTRODUCTION = (
    "One category is hidden, all methods learn from pictures of the others, and pictures of "
    "the hidden one are searched for among all that remain. The paper's plots come without "
    "numbers; its text says how the methods are ordered. KSH and IMH have 1,000 anchors, as "
    "all anchor-based methods in the paper; AGH, which is not in it, has its own 300."
)
RUNS = """
title = "CIFAR-10: truck unseen"
seeds = 5
quick_seeds = 2

[parameters.KSH]
n_anchors = 1000

[parameters.IMH]
n_anchors = 1000

[[parts]]
task = "retrieval"
data = "features/cifar10_lite0_pca256.npz"
labels = ["words/huang2012_50d.txt"]
unseen = ["truck"]
n_train = 10_000
n_queries = 1000
k = 5000

[parts.vary]
method = ["ZSH", "COSDISH", "SDH", "KSH", "LFH", "IMH", "AGH", "ITQ", "SpectralHashing", "LSH"]
bits = [16, 32, 64, 96, 128]

[[quick]]
task = "retrieval"
data = "digits"
labels = ["wordnet"]
unseen = ["three"]
n_train = 600
n_queries = 60
k = 100

[quick.vary]
method = ["ZSH", "SDH", "ITQ", "LSH"]
bits = [16, 32]
"""


def imh(found: Findings) -> tuple[str, str]:
    """Check that IMH is above KSH, and above SDH, at most lengths."""
    verdicts, texts = [], []
    for name in ("KSH", "SDH"):
        above = [
            bits
            for bits in LENGTHS
            if found.need("precision", method="IMH", bits=bits)
            > found.need("precision", method=name, bits=bits)
        ]
        verdicts.append(len(above) > len(LENGTHS) / 2)
        texts.append(f"above {name} at {', '.join(map(str, above)) or 'no'} bits")
    return by_parts(verdicts), "; ".join(texts) + "."


CLAIMS: dict[str, Check] = {
    "ZSH has the best MAP at all code lengths.": best("map", RIVALS),
    MOST_PRECISION: best("precision", RIVALS, in_most=True),
    "IMH, which sees no labels, has a precision that rivals or exceeds that of KSH and SDH.": imh,
    SATURATION: saturation(IN_PAPER),
    DETERIORATION: deterioration(IN_PAPER),
    RISE_AND_FALL: rise_and_fall(IN_PAPER),
}


EXPERIMENT = About(
    name="cifar10",
    runs=RUNS,
    introduction=INTRODUCTION,
    show=retrieval,
    claims=CLAIMS,
    at_all_lengths=True,
)
