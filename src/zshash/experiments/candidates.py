"""Candidates: which there are, what they are tried on, and the runs of all of them.

grid → candidates; categories held out → folds; every candidate on every fold → records
"""

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from joblib import Parallel, cpu_count, delayed, effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid, ParameterSampler
from sklearn.utils import check_random_state
from threadpoolctl import ThreadpoolController
from tqdm import tqdm

from zshash._threads import all_cores
from zshash.codes import check_integer
from zshash.datasets import Dataset, PseudoUnseenSplit, Split
from zshash.experiments.protocol import Protocol
from zshash.experiments.scorer import SCORES, TITLES, check_score
from zshash.experiments.selected import Record
from zshash.hashing import methods

__all__ = ["Fold", "Grid", "Plan", "Targets", "make_candidates", "make_folds", "run_all"]

Grid = Mapping[str, Any] | Sequence[Mapping[str, Any]]
# What a method learns from, given the samples to train on and the categories of these.
Targets = Callable[[NDArray[np.int64], NDArray[np.int64]], Any]


@dataclass(frozen=True)
class Plan:
    """How candidates are drawn, run and scored; `select` says what each of it is."""

    n_candidates: int | None = None
    n_splits: int = 3
    n_unseen: int | None = None
    n_train: int | None = None
    n_queries: int | None = None
    score: str = "map"
    k: int = 5000
    radius: int = 2
    n_jobs: int | None = None
    random_state: Any = 0
    progress: bool = False

    def __post_init__(self) -> None:
        check_score(self.score)
        for name, least in (("n_train", 2), ("n_candidates", 1), ("k", 1), ("radius", 0)):
            if getattr(self, name) is not None:
                check_integer(name, getattr(self, name), least)

    @property
    def protocol(self) -> Protocol:
        """What `SCORES` look at."""
        return Protocol(None, k=self.k, radius=self.radius)

    def splitter(self) -> PseudoUnseenSplit:
        """What holds out categories."""
        return PseudoUnseenSplit(
            self.n_splits, self.n_unseen, n_queries=self.n_queries, random_state=self.random_state
        )

    def facts(self) -> Record:
        """All that the scores depend on, ready for JSON."""
        apart = ("n_jobs", "progress")
        facts = {key: value for key, value in asdict(self).items() if key not in apart}
        return facts | {"title": TITLES[self.score].format(k=self.k, radius=self.radius)}


@dataclass(frozen=True)
class Fold:
    """Which samples have which role, what is learned from, and the seed of every candidate."""

    split: Split
    targets: Any
    seed: int


def make_candidates(hasher: Any, grid: Grid | None, plan: Plan) -> list[dict[str, Any]]:
    """Combinations of the grid in its order, or some of them drawn at random."""
    if grid is None:
        name = type(hasher).__name__
        grid = methods()[name].grid if name in methods() else {}
    given = [grid] if isinstance(grid, Mapping) else list(grid)
    _check_grids(hasher, given)
    try:
        if plan.n_candidates is None or plan.n_candidates >= len(ParameterGrid(given)):
            return list(ParameterGrid(given))
    except TypeError:  # a distribution has no length
        if plan.n_candidates is None:
            raise
    drawn = ParameterSampler(given, plan.n_candidates, random_state=plan.random_state)
    return [dict(sorted(parameters.items())) for parameters in drawn]


def _check_grids(hasher: Any, grids: Sequence[Mapping[str, Any]]) -> None:
    name, known = type(hasher).__name__, hasher.get_params()
    if not any(grids):
        raise ValueError(
            f"{name} has no grid of its own: say which values of which parameters to try, of "
            f"{', '.join(known)}"
        )
    for parameter, values in (pair for grid in grids for pair in grid.items()):
        if parameter not in known:
            raise ValueError(
                f"{name} has no parameter {parameter!r} to try: it has {', '.join(known)}"
            )
        if isinstance(values, str):
            raise ValueError(f"{parameter}: write a list of values, such as [{values!r}]")


def make_folds(dataset: Dataset, targets: Targets, groups: Any, plan: Plan) -> Iterator[Fold]:
    """The folds in their order; all candidates get the same."""
    assert dataset.labels is not None
    splits = plan.splitter().folds(dataset.labels, groups, n_train=plan.n_train)
    rng = check_random_state(plan.random_state)
    for split in splits:
        seed = int(rng.randint(np.iinfo(np.int32).max))
        yield Fold(split, targets(split.train, split.seen), seed)


def run_all(
    hasher: Any,
    dataset: Dataset,
    folds: Sequence[Fold],
    candidates: Sequence[dict[str, Any]],
    plan: Plan,
) -> list[Record]:
    """The records of all runs, candidate by candidate; what was warned of is said once."""
    runs = [
        ({"candidate": number, "parameters": parameters, "fold": place}, fold)
        for number, parameters in enumerate(candidates)
        for place, fold in enumerate(folds)
    ]
    n_jobs = min(effective_n_jobs(plan.n_jobs), cpu_count(), len(runs))
    parallel = Parallel(n_jobs=n_jobs, return_as="generator")
    results = parallel(
        delayed(_run)(hasher, dataset, fold, head["parameters"], plan) for head, fold in runs
    )
    bar = tqdm(results, total=len(runs), desc="candidates", disable=None if plan.progress else True)
    found: list[Record] = []
    told: dict[tuple[type[Warning], str], None] = {}
    for (head, _), (result, said) in zip(runs, bar, strict=True):
        found.append(head | result)
        told |= dict.fromkeys(said)
    for category, message in told:
        warnings.warn(message, category, stacklevel=4)
    return found


def _run(
    hasher: Any, dataset: Dataset, fold: Fold, parameters: Mapping[str, Any], plan: Plan
) -> tuple[Record, list[tuple[type[Warning], str]]]:
    """Score and seconds of a candidate on a fold, or why there are none; and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with _same_bits():
                result = _fit_and_score(hasher, dataset, fold, parameters, plan)
        except (ValueError, ArithmeticError, MemoryError) as error:
            result = {"error": " ".join(str(error).split()) or type(error).__name__}
    return result, [(warning.category, str(warning.message)) for warning in caught]


def _fit_and_score(
    hasher: Any, dataset: Dataset, fold: Fold, parameters: Mapping[str, Any], plan: Plan
) -> Record:
    seed = {"random_state": fold.seed} if "random_state" in hasher.get_params() else {}
    candidate = clone(hasher).set_params(**seed | dict(parameters))
    start = time.perf_counter()
    candidate.fit(dataset.X[fold.split.train], fold.targets)
    seconds = round(time.perf_counter() - start, 3)
    value = SCORES[plan.score](dataset, candidate, fold.split, plan.protocol)
    return {"score": value, "seconds": seconds}


@contextmanager
def _same_bits() -> Iterator[None]:
    """Whatever cores a process has: sums of BLAS and OpenMP are added up by one thread each.

    Blocks still go to all cores, in an order that does not matter.
    """
    with all_cores(), ThreadpoolController().select(user_api="openmp").limit(limits=1):
        yield
