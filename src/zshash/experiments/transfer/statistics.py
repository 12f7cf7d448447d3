"""Scores by cell, their means, and what is left of a difference when cells are paired."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

__all__ = ["Findings", "Paired", "Scores", "clustered_t", "error_of", "paired"]

ROUNDING = 1e-12  # relative; differences that vary by less are the same
Scores = Mapping[tuple[int, int], float]  # by split and seed


@dataclass(frozen=True)
class Paired:
    """Ours less theirs over the cells that both have.

    Attributes
    ----------
    n, n_splits : int
        Cells, and the splits they are of.
    theirs : float
        Mean of the other side on these cells.
    difference : float
    error : float or None
        Standard error of the difference, taking cells for independent; None for one cell.
    lost : int
        Cells in which ours is smaller.
    t : float or None
        Of the differences of splits, averaged over seeds first: seeds of a split share queries'
        categories, so that they are no evidence of their own. None for fewer than two splits, and
        where all of these differences are the same.
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
        """The difference as a share of theirs."""
        return self.difference / self.theirs if self.theirs else None


def error_of(values: Sequence[float]) -> float | None:
    """Standard error of a mean, None for one value.

    >>> error_of([1.0, 3.0])
    1.0
    """
    return stdev(values) / math.sqrt(len(values)) if len(values) > 1 else None


def paired(ours: Scores, theirs: Scores) -> Paired | None:
    """Compare cell by cell; None where no cell has both.

    >>> ours, theirs = {(0, 0): 0.5, (1, 0): 0.75, (2, 0): 1.0}, {(0, 0): 0.25, (1, 0): 1.0}
    >>> found = paired(ours, theirs)
    >>> found.n, found.difference, found.lost, found.gain
    (2, 0.0, 1, 0.0)
    """
    shared = [cell for cell in ours if cell in theirs]
    if not shared:
        return None
    differences = {cell: ours[cell] - theirs[cell] for cell in shared}
    values = list(differences.values())
    return Paired(
        n=len(shared),
        n_splits=len({split for split, _ in shared}),
        theirs=fmean(theirs[cell] for cell in shared),
        difference=fmean(values),
        error=error_of(values),
        lost=sum(value < 0 for value in values),
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
    means = [fmean(values) for values in by_split.values()]
    middle, error = fmean(means), error_of(means)
    if error is None or error <= ROUNDING * abs(middle):
        return None
    return middle / error


@dataclass(frozen=True)
class Findings:
    """Records, asked for scores."""

    records: Sequence[Mapping[str, Any]]

    @property
    def data(self) -> list[str]:
        """The data sets in the order of appearance."""
        return list(dict.fromkeys(record["data"] for record in self.records))

    def bits(self, data: str, setup: str, **where: Any) -> list[int]:
        """Lengths of codes at which a setup was run."""
        found = {record["bits"] for record in self._where(data, setup, **where)}
        return sorted(bits for bits in found if bits is not None)

    def sizes(self, data: str, setup: str | None = None) -> list[int]:
        """How many training samples there were where not all were used, of a setup or of any."""
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
        """A score of all cells that have it, of some splits only where these are given."""
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
