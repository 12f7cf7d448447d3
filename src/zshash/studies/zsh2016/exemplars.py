"""The first pictures that each method retrieves, to look at."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from zshash import metrics
from zshash._files import write_whole
from zshash.datasets import DataError, Dataset, Pictures
from zshash.evaluation.protocol import encode_split, fit_setup, relevance
from zshash.evaluation.report.document import Block, Gallery, GalleryRow, Picture, Table
from zshash.evaluation.report.page import png
from zshash.evaluation.statistics import shown
from zshash.evaluation.tasks import Record
from zshash.index import HammingIndex
from zshash.studies.claims import by_parts
from zshash.studies.data import Sources, open_pictures
from zshash.studies.experiments import About, Check
from zshash.studies.findings import Findings
from zshash.studies.tasks import ZeroShot
from zshash.studies.zsh2016.lengths import OURS, RIVALS

SIDE = 128  # longest side of a photograph, in pixels
INTRODUCTION = (
    "The first fifteen pictures for the same queries. A mark ✓ (a solid green frame on the "
    "page) is the query's category, ✗ (dashed, red) another one. The number below a picture on "
    "the page is its Hamming distance; within equal ones pictures come by their row."
)
RUNS = """
title = "Retrieved pictures"
seeds = 5
quick_seeds = 2

[parameters.KSH]
n_anchors = 1000

[parameters.IMH]
n_anchors = 1000

[[parts]]
task = "exemplars"
data = "features/cifar10_lite0_pca256.npz"
pictures = "cifar10"
labels = ["words/huang2012_50d.txt"]
unseen = ["truck"]
n_train = 10_000
n_queries = 1000
n_shown = 3
k = 15

[parts.vary]
method = ["ZSH", "COSDISH", "SDH", "KSH", "LFH", "IMH", "ITQ"]

[[quick]]
task = "exemplars"
data = "digits"
pictures = "digits"
labels = ["wordnet"]
unseen = ["three"]
bits = 32
n_train = 600
n_queries = 60
n_shown = 2
k = 15

[quick.vary]
method = ["ZSH", "ITQ"]
"""


@dataclass(frozen=True, kw_only=True)
class Exemplars(ZeroShot):
    """The nearest pictures of a few queries, and the share of right ones over all queries.

    Attributes
    ----------
    pictures : str
        The pictures from which the features of `data` were made, in the same order.
    n_shown : int
        Number of queries to show.
    """

    pictures: str
    n_shown: int = 3

    kind: ClassVar[str] = "exemplars"

    def rehearse(self, sources: Sources) -> str:
        """Check the data as always, and that the pictures exist and belong to the features."""
        pictures = open_pictures(self.pictures, sources)
        if not belongs(pictures, self.dataset(sources)):
            raise DataError(f"{self.pictures}: {self.data} was not made from these pictures")
        return super().rehearse(sources)

    def run(self, seed: int, sources: Sources) -> Record:
        """Row numbers of the first `k` neighbours of each query that is shown."""
        dataset = self.dataset(sources)
        split = self.protocol(dataset).split(dataset, seed)
        hasher, seconds = fit_setup(dataset, self.setup(), split, seed)
        codes = encode_split(dataset, hasher, split)
        index = HammingIndex(self.bits)
        index.add(codes[1], split.database)
        shown = np.random.RandomState(seed).permutation(len(split.queries))[: self.n_shown]
        queries = split.queries[shown]
        distances, found = index.search(codes[0][shown], k=self.k)
        assert dataset.labels is not None
        histograms = metrics.histograms(*codes, relevance(dataset, split))
        return {
            "seed": seed,
            "precision_at": metrics.precision_at(*histograms, self.k),
            "queries": queries.tolist(),
            "found": found.tolist(),
            "distances": distances.tolist(),
            "right": (dataset.labels[found] == dataset.labels[queries, None]).tolist(),
            "names": [dataset.names[label] for label in dataset.labels[queries]],
            "found_names": [[dataset.names[n] for n in row] for row in dataset.labels[found]],
            "fit_seconds": seconds,
        }

    def keep_pictures(self, runs: Sequence[Record], folder: Path, sources: Sources) -> None:
        """Write the pictures of the first seed, unless they exist already."""
        name = self.facts()["pictures"]  # by which the report looks for them
        rows = {row for run in runs[:1] for row in _rows_shown(run)}
        missing = [row for row in sorted(rows) if not picture_path(folder, name, row).exists()]
        if missing:
            pixels = _pixels(self.pictures, missing, sources)
            picture_path(folder, name, 0).parent.mkdir(parents=True, exist_ok=True)
            for row, image in zip(missing, pixels, strict=True):
                write_whole(picture_path(folder, name, row), png(image))


def _rows_shown(run: Record) -> Iterator[int]:
    yield from run.get("queries", [])
    for found in run.get("found", []):
        yield from found


def belongs(pictures: Pictures, dataset: Dataset) -> bool:
    """Whether pictures and features have the same labels in the same order."""
    if pictures.labels is None or dataset.labels is None or pictures.names != dataset.names:
        return False
    return np.array_equal(pictures.labels, dataset.labels)


def picture_path(folder: Path, data: str, row: int) -> Path:
    """Path of the picture of a row."""
    return folder / Path(data).name / f"{row}.png"


def _pixels(name: str, rows: list[int], sources: Sources) -> list[NDArray[np.uint8]]:
    pictures = open_pictures(name, sources).select(np.array(rows))
    if isinstance(pictures.sources, np.ndarray):
        return list(pictures.sources)
    return [_small(path) for path in pictures.sources]


def _small(path: Path) -> NDArray[np.uint8]:
    from zshash.images.decoding import decode

    image = decode(path, side=SIDE)
    image.thumbnail((SIDE, SIDE))
    return np.asarray(image)


def show(found: Findings) -> list[Block]:
    """The share of right pictures, and a gallery for each query of the first seed."""
    first = [(result, run) for result in found.results for run in result.runs if run["seed"] == 0]
    first = [(result, run) for result, run in first if "queries" in run]
    if not first:
        return []
    ranks = found.results[0].task.facts()["k"]
    shares = [
        [result.task.method, shown(result.values("precision_at"))] for result in found.results
    ]
    head = ["", f"right among the first {ranks}, all queries"]
    galleries: list[Block] = [Table(head, shares)]
    for place, row in enumerate(first[0][1]["queries"]):
        name = first[0][1]["names"][place]
        rows = [
            _row(result.task.method, run, place, found.pictures, result.task.facts()["pictures"])
            for result, run in first
            if run["queries"][place] == row
        ]
        galleries.append(Gallery(f"Query {place + 1}: {name}, row {row}", rows))
    return galleries


def _row(method: str, run: Record, place: int, folder: Path, data: str) -> GalleryRow:
    query = Picture(picture_path(folder, data, run["queries"][place]), run["names"][place])
    found = zip(
        run["found"][place],
        run["distances"][place],
        run["right"][place],
        run["found_names"][place],
        strict=True,
    )
    pictures = [
        Picture(picture_path(folder, data, row), name, right, str(distance))
        for row, distance, right, name in found
    ]
    return GalleryRow(method, query, pictures)


def most_right(found: Findings) -> tuple[str, str]:
    """Check that ZSH has the most right pictures among the first, then COSDISH."""
    means = {name: found.need("precision_at", method=name) for name in (OURS, *RIVALS)}
    order = sorted(means, key=means.__getitem__, reverse=True)
    evidence = ", ".join(f"{name} {means[name]:.3f}" for name in order)
    parts = [order[0] == OURS, order[:2] == [OURS, "COSDISH"]]
    return by_parts(parts), f"Share that is right, over all queries and seeds: {evidence}."


CLAIMS: dict[str, Check] = {
    "ZSH returns the most right pictures among the first 15, followed by COSDISH.": most_right,
}


EXPERIMENT = About(
    name="exemplars",
    runs=RUNS,
    introduction=INTRODUCTION,
    show=show,
    claims=CLAIMS,
    kinds=(Exemplars,),
    shows_kind=True,
)
