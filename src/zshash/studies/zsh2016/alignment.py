"""The effect of the rotation of the label vectors on the codes."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from zshash import codes
from zshash.evaluation.protocol import (
    encode_split,
    fit_setup,
    score_codes,
)
from zshash.evaluation.report.document import Block, Table, Text
from zshash.evaluation.statistics import mean, paired, shown, signed
from zshash.evaluation.tasks import Record
from zshash.studies.claims import by_parts, is_above_zero
from zshash.studies.data import Sources
from zshash.studies.experiments import About, Check
from zshash.studies.findings import Findings, Missing
from zshash.studies.tasks import ZeroShot

ROTATIONS = {"procrustes": "procrustes", "cayley": "cayley", "none": None}
N_GROUPS = 4
INTRODUCTION = (
    "The paper rotates the label vectors by an orthogonal R. The objective depends on W and R "
    "only through A = WRᵀ, and the best A does not depend on R, so that from the same start of "
    "A all codes must be the same. Here one split is learned from many starts: with R in "
    "closed form, with the paper's curvilinear search (Cayley), and without R."
)
RUNS = """
title = "With and without the rotation R"
seeds = 20
quick_seeds = 4

[[parts]]
task = "alignment"
data = "features/cifar10_lite0_pca256.npz"
labels = ["words/huang2012_50d.txt"]
unseen = ["truck"]
n_train = 10_000
n_queries = 1000
k = 5000

[[quick]]
task = "alignment"
data = "digits"
labels = ["wordnet"]
unseen = ["three"]
bits = 32
n_train = 600
n_queries = 60
k = 100
"""


@dataclass(frozen=True, kw_only=True)
class Alignment(ZeroShot):
    """Fits from the same start: with R in closed form, by curvilinear search, and without R.

    The split is always the first one, so that only the start differs between seeds.
    """

    kind: ClassVar[str] = "alignment"

    def run(self, seed: int, sources: Sources) -> Record:
        """Scores with each rotation from one start, and the share of equal bits."""
        dataset = self.dataset(sources)
        protocol = self.protocol(dataset)
        split = protocol.split(dataset, 0)
        record: Record = {"seed": seed}
        first = None
        for name, rotation in ROTATIONS.items():
            own = replace(self, parameters={**self.parameters, "rotation": rotation})
            hasher, seconds = fit_setup(dataset, own.setup(), split, seed)
            found = encode_split(dataset, hasher, split)
            scores = score_codes(dataset, found, split, protocol)
            bits = codes.unpack(np.vstack(found), self.bits)
            first = bits if first is None else first
            record[name] = {
                "map": scores["map"],
                "precision": scores["precision"],
                "same_bits": float((bits == first).mean()),
                "fit_seconds": seconds,
            }
        return record


def show(found: Findings) -> list[Block]:
    """A table of the rotations from the same starts, and how much starts differ."""
    rows = [
        [
            name,
            *(shown(found.values(name, key)) for key in ("map", "precision")),
            f"{min(found.values(name, 'same_bits'), default=0):.6f}",
            shown(found.values(name, "fit_seconds"), 2),
        ]
        for name in ROTATIONS
    ]
    heads = ["R", "MAP", "precision, radius 2", "least share of equal bits", "seconds to fit"]
    return [Table(heads, rows), Text(_starts(found))]


def _starts(found: Findings) -> str:
    """Text on the differences between groups of starts, all with the same method."""
    values, groups = found.values("procrustes", "map"), spread_of_starts(found)
    if not groups:
        return "Too few starts to compare groups of them."
    size = len(values) // len(groups)
    listed = ", ".join(f"{mean(group):.3f}" for group in groups)
    return (
        f"{len(values)} starts on the same split have MAP from {min(values):.3f} to "
        f"{max(values):.3f}. Taken in groups of {size}, as papers report them, the same method has "
        f"means of {listed}: differences up to "
        f"{max(map(mean, groups)) - min(map(mean, groups)):.3f} that are nothing but the start."
    )


def spread_of_starts(found: Findings) -> list[list[float]]:
    """MAP of all starts in groups, in the order of seeds; empty if there are too few."""
    values = found.values("procrustes", "map")
    size = len(values) // N_GROUPS
    return [values[i * size : (i + 1) * size] for i in range(N_GROUPS)] if size else []


def rotation_helps(found: Findings) -> tuple[str, str]:
    """Check that MAP with R is above MAP without R, from the same starts."""
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


CLAIMS: dict[str, Check] = {
    "Rotating the embedding (R) makes the supervision fit better.": rotation_helps,
}


EXPERIMENT = About(
    name="alignment",
    runs=RUNS,
    introduction=INTRODUCTION,
    show=show,
    claims=CLAIMS,
    kinds=(Alignment,),
)
