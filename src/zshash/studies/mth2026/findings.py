"""Scores by cell, and differences between setups that are paired by cell."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from zshash.evaluation.statistics import error_of, mean
from zshash.evaluation.statistics import paired as difference
from zshash.studies.mth2026.splits import SOURCES

__all__ = ["Findings", "Paired", "Scores", "clustered_t", "paired"]

ROUNDING = 1e-12  # relative; differences that vary by less are the same
Scores = Mapping[tuple[int, int], float]  # by split and seed


@dataclass(frozen=True)
class Paired:
    """The difference, ours minus theirs, over the cells that both have.

    Attributes
    ----------
    n, n_splits : int
        Number of cells, and of the splits they belong to.
    theirs : float
        Mean score of the other side on these cells.
    difference : float
    error : float or None
        Standard error of the difference, as if cells were independent; None for one cell.
    lost : int
        Number of cells in which ours is smaller.
    t : float or None
        Student's t of the differences of splits. Each split's difference is its mean over seeds:
        seeds of a split share the categories of the queries, so they are not independent. None for
        fewer than two splits, and if all these differences are equal.
    """

    n: int
    n_splits: int
    theirs: float
    difference: float
    error: float | None
    lost: int
    t: float | None

    @property
    def gain(self) -> float | None:
        """The difference as a share of theirs, or None if theirs is zero."""
        return self.difference / self.theirs if self.theirs else None


def paired(ours: Scores, theirs: Scores) -> Paired | None:
    """Compare scores cell by cell; None if no cell has both.

    >>> ours, theirs = {(0, 0): 0.5, (1, 0): 0.75, (2, 0): 1.0}, {(0, 0): 0.25, (1, 0): 1.0}
    >>> found = paired(ours, theirs)
    >>> found.n, found.difference, found.lost, found.gain
    (2, 0.0, 1, 0.0)
    """
    shared = [cell for cell in ours if cell in theirs]
    if not shared:
        return None
    differences = {cell: ours[cell] - theirs[cell] for cell in shared}
    found = difference(list(differences.values()), [0.0] * len(shared))
    return Paired(
        n=found.n,
        n_splits=len({split for split, _ in shared}),
        theirs=mean([theirs[cell] for cell in shared]),
        difference=found.mean,
        error=found.error,
        lost=sum(value < 0 for value in differences.values()),
        t=clustered_t(differences),
    )


def clustered_t(differences: Scores) -> float | None:
    """Student's t of the splits' means, as in `Paired`.

    >>> clustered_t({(0, 0): 1.0, (0, 1): 3.0, (1, 0): 4.0})
    3.0
    """
    by_split: dict[int, list[float]] = {}
    for (split, _), value in differences.items():
        by_split.setdefault(split, []).append(value)
    means = [mean(values) for values in by_split.values()]
    middle, error = mean(means), error_of(means)
    if error is None or error <= ROUNDING * abs(middle):
        return None
    return middle / error


@dataclass(frozen=True)
class Findings:
    """Scores of records; names of plots start with `stem`."""

    records: Sequence[Mapping[str, Any]]
    stem: str = "transfer"

    @property
    def data(self) -> list[str]:
        """The data sets of the study in the order of appearance; folders are none of them."""
        return [data for data in self.everything if data in SOURCES]

    @property
    def everything(self) -> list[str]:
        """Data sets and kinds of folders in the order of appearance."""
        return list(dict.fromkeys(record["data"] for record in self.records))

    def bits(self, data: str, setup: str, **where: Any) -> list[int]:
        """Code lengths at which a setup was run."""
        found = {record["bits"] for record in self._where(data, setup, **where)}
        return sorted(bits for bits in found if bits is not None)

    def sizes(self, data: str, setup: str | None = None) -> list[int]:
        """Numbers of training samples, other than "all", of one setup or of any setup."""
        return sorted(
            {
                record["n_train"]
                for record in self.records
                if record["data"] == data and setup in (None, record["setup"])
            }
            - {"all"}
        )

    def name_sources(self, data: str) -> list[str]:
        """Sources of vectors in searches by name."""
        found = (r["names"] for r in self.records if r["data"] == data and "names" in r)
        return list(dict.fromkeys(found))

    def scores(
        self,
        data: str,
        setup: str,
        bits: int | None,
        key: str = "map",
        *,
        splits: Iterable[int] | None = None,
        **where: Any,
    ) -> Scores:
        """One score of all cells that have it; with `splits`, only of cells of these splits."""
        wanted = None if splits is None else set(splits)
        return {
            (record["split"], record["seed"]): record[key]
            for record in self._where(data, setup, **where)
            if record["bits"] == bits
            and key in record
            and (wanted is None or record["split"] in wanted)
        }

    def _where(
        self, data: str, setup: str, *, all_seen: bool = False, names: str | None = None
    ) -> list[Mapping[str, Any]]:
        return [
            record
            for record in self.records
            if record["data"] == data
            and record["setup"] == setup
            and (record["n_train"] == "all") == all_seen
            and record.get("names") == names
        ]
