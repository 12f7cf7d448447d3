"""Small folders: some hundred pictures with all features of the network.

A folder has pictures of twelve categories, three of them hidden: nobody labelled them. MTH gets
statistics of the network's features over the pictures of all other categories.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash import metrics
from zshash.datasets import digits
from zshash.evaluation.report.document import Table
from zshash.evaluation.standard import data_folder
from zshash.evaluation.tasks import Record, Task
from zshash.hashing import ITQ, MTH
from zshash.hashing.hasher import Hasher
from zshash.hashing.steps.rows import unit_rows
from zshash.hashing.steps.statistics import Statistics
from zshash.studies.mth2026.cells import QUICK, Cells, Part, Size, Work
from zshash.studies.mth2026.findings import Findings, Scores, paired
from zshash.studies.mth2026.rows import mean_of, percent

FEATURES = "features/tiny100_lite0_1280.npz"
N_CATEGORIES, N_HIDDEN, N_QUERIES, FIRST = 12, 3, 15, 10
COSINE, ALONE = "cosine in a folder", "MTH in a folder, no labels"
SETUPS = (COSINE, "ITQ in a folder", ALONE, "MTH in a folder, nine categories labelled")
KINDS = ("hidden", "seen")


@dataclass(frozen=True)
class Folder:
    """A folder that was drawn: features and categories of its pictures and of queries."""

    database: NDArray[np.float32]
    queries: NDArray[np.float32]
    categories: NDArray[np.int64]
    asked: NDArray[np.int64]
    hidden: NDArray[np.int64]
    statistics: Statistics

    @property
    def same(self) -> NDArray[np.bool_]:
        """Whether a query and a picture are of the same category."""
        return np.asarray(self.asked[:, None] == self.categories)

    @property
    def labels(self) -> NDArray[np.int64]:
        """Labels of the pictures, −1 for those of hidden categories."""
        return np.where(np.isin(self.categories, self.hidden), -1, self.categories)


@dataclass(frozen=True)
class FolderCell(Task):
    """A setup in one folder."""

    setup: str
    each: int
    draw: int
    bits: int
    small: bool

    @property
    def label(self) -> str:
        """Setup and size."""
        return f"{self.setup}, {self.each} pictures of each category"

    def rehearse(self, context: Work) -> str:  # noqa: ARG002
        """Read the features."""
        _load(self.small)
        return ""

    def planned(self, seed: int) -> Record:
        """The record without scores."""
        return {
            "data": f"folders of {self.each} each",
            "split": self.draw,
            "seed": seed,
            "n_train": self.each,
            "setup": self.setup,
            "method": None if self.setup == COSINE else self.setup.split()[0],
            "parameters": {},
            "bits": None if self.setup == COSINE else self.bits,
        }

    def run(self, seed: int, context: Work) -> Record:
        """Precision of the first ten, and MAP."""
        folder = draw_folder(*_load(self.small), self.each, self.draw)
        if self.setup == COSINE:
            near = folder.queries @ folder.database.T
            found = _score(folder, *metrics.real_histograms(near, folder.same), "")
            return self.planned(seed) | found
        hasher = self._fitted(folder, seed, dict(context.size.smaller))
        codes = hasher.encode(folder.database)
        signs = 2.0 * hasher.transform(folder.database) - 1
        by_bits = metrics.histograms(hasher.encode(folder.queries), codes, folder.same)
        by_values = metrics.real_histograms(hasher.project(folder.queries) @ signs.T, folder.same)
        scores = _score(folder, *by_bits, "") | _score(folder, *by_values, "_real")
        return self.planned(seed) | scores

    def _fitted(self, folder: Folder, seed: int, smaller: dict[str, Any]) -> Hasher:
        if self.setup.startswith("ITQ"):
            return ITQ(self.bits, random_state=seed, normalize=True).fit(folder.database)
        hasher = MTH(self.bits, prior=folder.statistics, random_state=seed, **smaller)
        labels = None if self.setup == ALONE else folder.labels
        return hasher.fit(folder.database, labels)


def _score(
    folder: Folder, relevant: NDArray[np.int64], total: NDArray[np.int64], suffix: str
) -> dict[str, float]:
    """Precision of the first ten for both kinds of queries, and MAP of the hidden ones."""
    is_hidden = np.isin(folder.asked, folder.hidden)
    found = {}
    for kind, chosen in zip(KINDS, (is_hidden, ~is_hidden), strict=True):
        precision = metrics.precision_at(relevant[chosen], total[chosen], FIRST)
        found[f"first_{kind}{suffix}"] = round(precision, 6)
    mean = metrics.mean_average_precision(relevant[is_hidden], total[is_hidden])
    return found | {f"map{suffix}": round(mean, 6)}


def draw_folder(X: NDArray[np.float32], y: NDArray[np.int64], each: int, draw: int) -> Folder:
    """A folder with `each` pictures of some categories."""
    rng = np.random.RandomState(draw)
    known = np.unique(y)
    chosen = rng.permutation(known)[: min(N_CATEGORIES, len(known) - 2)]
    members = [rng.permutation(np.flatnonzero(y == category)) for category in chosen]
    rows = np.concatenate([own[:each] for own in members])
    queries = np.concatenate([own[each : each + N_QUERIES] for own in members])
    others = ~np.isin(y, chosen)
    return Folder(
        X[rows], X[queries], y[rows], y[queries], chosen[:N_HIDDEN], Statistics.of(X[others])
    )


@lru_cache(maxsize=1)
def _load(small: bool) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    if small:
        data = digits()
        assert data.labels is not None
        return unit_rows(data.X.astype(np.float32)), data.labels.astype(np.int64)
    with np.load(data_folder() / FEATURES) as file:
        return unit_rows(file["X"].astype(np.float32)), file["y"].astype(np.int64)


def cells(size: Size) -> Cells:
    """Every setup in every folder."""
    for each in size.folders:
        for draw in range(size.draws):
            for setup in SETUPS:
                yield FolderCell(setup, each, draw, size.main, size is QUICK)


def show(found: Findings) -> list[Table]:
    """A table of the precision of the first ten, for each size."""
    tables = []
    for data in found.everything:
        rows = [_row(found, data, name) for name in SETUPS if _scores(found, data, name, "hidden")]
        head = ["", "folders"]
        for title in ("hidden", "seen", "hidden, real-valued", "seen, real-valued"):
            head += [title, "to the cosine"]
        caption = (
            f"{data.capitalize()}: precision of the first ten, by bits and with real-valued "
            "queries, and the difference to the float cosine."
        )
        tables += [Table(head, rows, caption)] if rows else []
    return tables


def _row(found: Findings, data: str, name: str) -> list[str]:
    row = [name, str(len(_scores(found, data, name, "hidden")))]
    for suffix in ("", "_real"):
        for kind in KINDS:
            own = _scores(found, data, name, kind + suffix)
            pair = paired(own, _scores(found, data, COSINE, kind))
            row += [mean_of(own)[1], percent(pair.gain if pair and name != COSINE else None)]
    return row


def _scores(found: Findings, data: str, name: str, kind: str) -> Scores:
    own = {record["bits"] for record in found.records if record["setup"] == name}
    return {
        cell: value
        for bits in own
        for cell, value in found.scores(data, name, bits, f"first_{kind}").items()
    }


PART = Part("folders", cells, 1, {"folders": ("Small folders", show)})
