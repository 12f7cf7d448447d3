"""The result of a selection: all runs, a summary of each candidate, and the best one."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash.evaluation.report.markdown import table
from zshash.evaluation.statistics import error_of, mean, with_error
from zshash.evaluation.tasks import Record
from zshash.hashing.hasher import Hasher

__all__ = ["Selection", "described", "summarize_candidates"]

Parameters = dict[str, Any]

OTHERS = {"mean_alone": "held out, alone", "mean_seen": "seen queries"}
"""Means of the other kinds of queries, and the titles of their columns."""


@dataclass(frozen=True)
class Selection:
    """Parameters chosen by categories that were held out.

    Attributes
    ----------
    best : dict
        The parameters with the best mean score; of several equal ones, the first.
    hasher : estimator
        An estimator with these parameters, not fitted: fit it on all training data.
    simplest : dict or None
        The candidate that changes fewer parameters of the hasher than `best` does, with a mean
        score at most one standard error of the difference below it; None if there is none.
    candidates : list of dict
        For each candidate, in the order of the grid: "parameters", the "mean" of its scores with
        its "standard_error", the mean "difference" to the best candidate, paired by fold, with its
        "difference_error", the mean of the other kinds of queries as "mean_alone" and "mean_seen"
        where there are any, and the mean "seconds" of a fit; or the "error" of a fit that failed.
        Standard errors are None if there is only one fold.
    table : list of dict
        One record for each run, sorted by candidate and fold: "candidate" (its number),
        "parameters", "fold", "score", "score_alone", "score_seen" and "seconds", or "error".
    folds : list of dict
        For each fold, the categories that were held out, and the numbers of samples.
    facts : dict
        Method, score and sizes.
    """

    best: Parameters
    hasher: Hasher
    simplest: Parameters | None
    candidates: list[Record]
    table: list[Record]
    folds: list[Record]
    facts: Record

    def report(self) -> str:
        """A page of Markdown without the single runs, the best candidate first."""
        parts = [self._circumstances(), self._table(), f"Best: {described(self.best)}."]
        if self.simplest is not None:
            parts.append(
                "Within one standard error of it, and with fewer parameters changed: "
                f"{described(self.simplest)}."
            )
        failed = [row for row in self.candidates if "error" in row]
        if failed:
            reasons = (f"- {described(row['parameters'])}: {row['error']}" for row in failed)
            parts.append("Failed:\n\n" + "\n".join(reasons))
        return "\n\n".join(parts) + "\n"

    def to_json(self) -> str:
        """Everything but the hasher as JSON; seconds, which vary from run to run, come last."""
        scores: list[list[float | None]] = [[] for _ in self.candidates]
        for run in self.table:
            scores[run["candidate"]].append(run.get("score"))
        candidates = [
            {key: value for key, value in row.items() if key != "seconds"} | {"scores": own}
            for row, own in zip(self.candidates, scores, strict=True)
        ]
        content = {
            **self.facts,
            "best": self.best,
            "simplest": self.simplest,
            "candidates": candidates,
            "folds": self.folds,
            "seconds": [run.get("seconds") for run in self.table],
        }
        return json.dumps(content, indent=2, ensure_ascii=False, default=_plain) + "\n"

    def _circumstances(self) -> str:
        folds, first = self.folds, self.folds[0]
        held = "; ".join(", ".join(fold["unseen"]) for fold in folds)
        return (
            f"{self.facts['method']}, {_number(len(self.candidates), 'candidate')}, "
            f"{_number(len(folds), 'fold')}. Held out, one fold after the other: {held}. In the "
            f"first one {first['n_train']} training samples, {first['n_queries']} queries, "
            f"{first['n_database']} samples in the database."
        )

    def _table(self) -> str:
        names = list(dict.fromkeys(name for row in self.candidates for name in row["parameters"]))
        good = [row for row in self.candidates if "error" not in row]
        good.sort(key=lambda row: -row["mean"])  # stable: the best comes first among its equals
        lines = []
        for row in good:
            own = [str(row["parameters"].get(name, "")) for name in names]
            mean = with_error(f"{row['mean']:.4f}", row["standard_error"], 4)
            behind = with_error(f"{row['difference']:+.4f}", row["difference_error"], 4)
            is_best = row["parameters"] is self.best
            others = [f"{row[key]:.4f}" for key in OTHERS if key in row]
            last = f"{row['seconds']:.2f}"
            lines.append([*own, mean, "best" if is_best else behind, *others, last])
        others = [title for key, title in OTHERS.items() if key in good[0]]
        return table([*names, self.facts["title"], "to the best", *others, "seconds"], lines)


def summarize_candidates(
    candidates: Sequence[Parameters], table: Sequence[Record], own: Mapping[str, Any]
) -> tuple[list[Record], int, int | None]:
    """A summary of each candidate, and the numbers of the best and the simplest candidate.

    Parameters
    ----------
    candidates : list of dict
    table : list of dict
        The runs.
    own : mapping
        Parameters of the hasher; a candidate that changes few of them is simple.

    Raises
    ------
    ValueError
        If every candidate failed.
    """
    rows: list[Record] = [{"parameters": parameters} for parameters in candidates]
    for run in table:
        if "error" in run:
            rows[run["candidate"]].setdefault("error", run["error"])
    good = [number for number, row in enumerate(rows) if "error" not in row]
    if not good:
        first = rows[0]
        raise ValueError(
            f"every candidate failed, {described(first['parameters'])} because: {first['error']}"
        )
    scores, seconds = (_by_candidate(table, good, key) for key in ("score", "seconds"))
    best = int(scores.mean(axis=1).argmax())
    differences = scores - scores[best]
    for place, number in enumerate(good):
        rows[number] |= {
            **_mean("mean", "standard_error", scores[place]),
            **_mean("difference", "difference_error", differences[place]),
            **_other_means([run for run in table if run["candidate"] == number]),
            "seconds": float(seconds[place].mean()),
        }
    return rows, good[best], _simplest(rows, good, good[best], own)


def _by_candidate(table: Sequence[Record], good: Sequence[int], key: str) -> NDArray[np.float64]:
    """One value of the runs of some candidates: a row per candidate, a column per fold."""
    return np.array([[run[key] for run in table if run["candidate"] == number] for number in good])


def _other_means(runs: Sequence[Record]) -> Record:
    """Means of the other kinds of queries, over the folds that have them."""
    found: Record = {}
    for key in OTHERS:
        name = key.replace("mean", "score")
        values = [run[name] for run in runs if name in run]
        found |= {key: mean(values)} if values else {}
    return found


def _mean(name: str, error: str, values: NDArray[np.float64]) -> Record:
    own = values.tolist()
    return {name: mean(own), error: error_of(own)}


def _simplest(
    rows: Sequence[Record], good: Sequence[int], best: int, own: Mapping[str, Any]
) -> int | None:
    """The candidate with the fewest changes, of those about as good as the best; or None."""
    changes = {number: _changes(rows[number]["parameters"], own) for number in good}
    near = [
        number
        for number in good
        if -rows[number]["difference"] <= (rows[number]["difference_error"] or 0.0)
    ]
    simplest = min(near, key=lambda number: changes[number])
    return simplest if changes[simplest] < changes[best] else None


def _changes(parameters: Mapping[str, Any], own: Mapping[str, Any]) -> int:
    """Number of parameters whose values differ from those of the hasher.

    >>> _changes({"alpha": 1, "init": "agh"}, {"alpha": 1.0, "init": "rotated"})
    1
    """
    return sum(not np.array_equal(value, own[name]) for name, value in parameters.items())


def described(parameters: Mapping[str, Any]) -> str:
    """Parameters as a text for a person.

    >>> described({"nu": 1e-05, "loss": "hinge"})
    'nu=1e-05, loss=hinge'
    """
    return ", ".join(f"{name}={value}" for name, value in parameters.items())


def _number(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


def _plain(value: Any) -> Any:
    """A NumPy value as a plain number or list; anything else as text."""
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else str(value)
