"""Fits with and without the Laplacian term, which keeps local structure."""

from pathlib import Path
from typing import Any

from zshash.evaluation.report.document import Block, Table
from zshash.evaluation.statistics import shown, signed
from zshash.studies.claims import by_parts, is_above_zero
from zshash.studies.experiments import About, Check
from zshash.studies.findings import Findings, Missing

GRAPHS = {"knn": "neighbours (default)", "anchor": "through anchors", None: "no Laplacian term"}
INTRODUCTION = (
    "The paper keeps local structure by a Laplacian term. Here with the graph of nearest "
    "neighbours, with neighbours through anchors, and without the term, from the same starts."
)
RUNS = """
title = "With and without the Laplacian term"
seeds = 5
quick_seeds = 2

[[parts]]
task = "retrieval"
data = "features/cifar10_lite0_pca256.npz"
labels = ["words/huang2012_50d.txt"]
unseen = ["truck"]
n_train = 10_000
n_queries = 1000
k = 5000

[parts.vary]
parameters = [{}, { graph = "anchor" }, { graph = "none" }]

[[parts]]
task = "retrieval"
data = "features/tiny100_lite0_pca256.npz"
categories = 100
known_to = ["wordnet"]
labels = ["wordnet"]
unseen = 10
n_train = 10_000
n_queries = 500
k = 1000
related_hops = 5
related_k = 5000

[parts.vary]
parameters = [{}, { graph = "anchor" }, { graph = "none" }]

[[quick]]
task = "retrieval"
data = "digits"
labels = ["wordnet"]
unseen = ["three"]
bits = 32
n_train = 600
n_queries = 60
k = 100

[quick.vary]
parameters = [{}, { graph = "anchor" }, { graph = "none" }]
"""


def show(found: Findings) -> list[Block]:
    """Tables of the graphs side by side, with paired differences to no graph."""
    blocks: list[Block] = []
    for data in found.along("data"):
        own = found.where(data=data)
        rows = []
        for parameters in own.along("parameters"):
            graph = parameters.get("graph", "knn")
            rows.append([GRAPHS[graph], *_compared(own, parameters)])
        heads = [Path(data).stem, "MAP", "to no term", "precision, radius 2", "to no term"]
        blocks.append(Table(heads, rows))
    return blocks


def _compared(own: Findings, parameters: Any) -> list[str]:
    """MAP and precision, each with its difference to the score without the term."""
    cells = []
    for key in ("map", "precision"):
        cells.append(shown(own.values(key, parameters=parameters)))
        try:
            lead = own.gain(key, {"parameters": parameters}, {"parameters": {"graph": None}})
            cells.append("" if parameters == {"graph": None} else signed(lead))
        except Missing:
            cells.append("–")
    return cells


def structure_helps(found: Findings) -> tuple[str, str]:
    """Check that scores with the Laplacian term are above scores without it."""
    parts, texts = [], []
    for data, searched in zip(found.along("data"), found.along("searched"), strict=True):
        for key, title in (("map", "MAP"), ("precision", "precision")):
            without = {"parameters": {"graph": None}}
            lead = found.gain(key, {"parameters": {}}, without, data=data)
            parts.append(is_above_zero(lead))
            texts.append(f"{searched}, {title} {signed(lead)}")
    return by_parts(parts), f"Paired by seed: {'; '.join(texts)}."


CLAIMS: dict[str, Check] = {
    "Keeping local structure (the Laplacian term) makes codes better.": structure_helps,
}


EXPERIMENT = About(
    name="structure",
    runs=RUNS,
    introduction=INTRODUCTION,
    show=show,
    claims=CLAIMS,
)
