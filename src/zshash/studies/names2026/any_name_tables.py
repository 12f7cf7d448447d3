"""Tables of searches by any name: a row for each number of bits and of labelled pictures."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from zshash.evaluation.report.document import Block, Table, Text
from zshash.evaluation.tasks import Record
from zshash.studies.findings import Findings
from zshash.studies.names2026.tables import over_splits

__all__ = ["show"]

HEADS = {"": "codes", "_decoded": "decoded", "_features": "features"}
SCORES = {"map": "hidden", "accuracy": "right name", "map_known": "known"}
MANY = 10  # hidden names that a rank correlation needs
Runs = Sequence[Record]


def show(found: Findings) -> list[Block]:
    """A table for each data set, the hidden names of small ones, and the check of forecasts."""
    blocks: list[Block] = []
    for data in found.along("data"):
        blocks += _of_data(found.where(data=data))
    return blocks


def _of_data(own: Findings) -> list[Block]:
    found = [(result.task, _finished(result.runs)) for result in own.results]
    found = sorted(((task, runs) for task, runs in found if runs), key=lambda pair: _size(pair[0]))
    if not found:
        return []
    title = Path(found[0][0].data).stem
    # of one hidden name, every picture gets the right one
    scores = [key for key in SCORES if any(run[key] < 1 for _, runs in found for run in runs)]
    heads = [f"{SCORES[key]}, {head}" for key in scores for head in HEADS.values()]
    rows = [
        [_what(task), *_cells(runs, scores), _paired(task, runs, found)] for task, runs in found
    ]
    caption = f"{title}: MAP of names, and the right one of the hidden"
    table = Table([title, *heads, "same hidden names, no label"], rows, caption)
    return [table, *_by_name(found), Text(_forecasts(found))]


def _finished(runs: Runs) -> list[Record]:
    return [run for run in runs if "error" not in run]


def _cells(runs: Runs, scores: Sequence[str]) -> list[str]:
    return [over_splits([run[key + end] for run in runs]) for key in scores for end in HEADS]


def _paired(task: Any, runs: Runs, found: Sequence[tuple[Any, Runs]]) -> str:
    """MAP of the hidden names of some runs with labels, in the runs without labels."""
    plain = [own for other, own in found if not other.n_labelled and other.bits == task.bits]
    if not task.n_labelled or not plain:
        return "–"
    without = {run["seed"]: run["found"] for run in plain[0]}
    pairs = [(run["found"], without[run["seed"]]) for run in runs if run["seed"] in without]
    pairs = [(own, other) for own, other in pairs if set(own) <= set(other)]
    return over_splits([float(np.mean([other[name] for name in own])) for own, other in pairs])


def _size(task: Any) -> tuple[int, int, int]:
    return task.bits, task.n_labelled, -1 if task.pool is None else task.pool


def _what(task: Any) -> str:
    labelled = f"{task.n_labelled:,} labelled" if task.n_labelled else "no label"
    alone = " alone" if task.pool == 0 else ""
    return f"{task.bits} bits, {labelled}{alone}"


def _forecasts(found: Sequence[tuple[Any, Runs]]) -> str:
    """Rank correlations of forecast and average precision over the hidden names of each run."""
    parts = []
    for task, runs in found:
        pairs = [(list(run["forecast"].values()), list(run["found"].values())) for run in runs]
        own = [float(spearmanr(*pair)[0]) for pair in pairs if len(pair[0]) >= MANY]
        parts += [f"{_what(task)} {over_splits(own)}"] if own else []
    told = "Rank correlation of forecast and average precision, hidden names: "
    return told + ("; ".join(parts) or "too few names") + "."


def _by_name(found: Sequence[tuple[Any, Runs]]) -> list[Block]:
    """A row for each hidden name, where there are few."""
    names = sorted({name for _, runs in found for run in runs for name in run["found"]})
    if len(names) > MANY:
        return []
    rows = []
    for name in names:
        values = [[run["found"][name] for run in runs if name in run["found"]] for _, runs in found]
        rows.append([name, *map(over_splits, values)])
    heads = ["hidden name", *(_what(task) for task, _ in found)]
    return [Table(heads, rows, "Each name, codes: MAP")]
