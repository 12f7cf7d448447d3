"""Candidates of a selection: make them from a grid, hold out categories, run every candidate.

grid → candidates; categories held out → folds; every candidate on every fold → records
"""

import time
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
from zshash._warnings import warn_user
from zshash.codes import check_integer
from zshash.datasets import Dataset, PseudoUnseenSplit, Split
from zshash.evaluation.protocol import Protocol, learned_from
from zshash.evaluation.running import Said, attempt
from zshash.evaluation.scorer import TITLES, check_score, score_by
from zshash.evaluation.tasks import Record
from zshash.hashing import methods
from zshash.hashing.hasher import Hasher

__all__ = ["Fold", "Grid", "Options", "Targets", "make_candidates", "make_folds", "run_all"]

Grid = Mapping[str, Any] | Sequence[Mapping[str, Any]]
# (data with the known labels, training rows, their categories) → what a method learns from.
Targets = Callable[[Dataset, NDArray[np.int64], NDArray[np.int64]], Any]


@dataclass(frozen=True)
class Options:
    """How candidates are drawn, run and scored; `select` explains each option."""

    n_candidates: int | None = None
    n_splits: int = 3
    n_unseen: int | None = None
    n_train: int | None = None
    n_queries: int | None = None
    unlabelled: bool = False
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
        """The protocol that scores need."""
        return Protocol(None, k=self.k, radius=self.radius)

    def splitter(self) -> PseudoUnseenSplit:
        """The splitter that holds out categories."""
        return PseudoUnseenSplit(
            self.n_splits, self.n_unseen, n_queries=self.n_queries, random_state=self.random_state
        )

    def facts(self) -> Record:
        """All options that the scores depend on, ready for JSON."""
        apart = ("n_jobs", "progress")
        facts = {key: value for key, value in asdict(self).items() if key not in apart}
        return facts | {"title": TITLES[self.score].format(k=self.k, radius=self.radius)}


@dataclass(frozen=True)
class Fold:
    """The split of one fold, the training rows with their targets, and the candidates' seed."""

    split: Split
    rows: NDArray[np.int64]
    targets: Any
    seed: int


def make_candidates(hasher: Hasher, grid: Grid | None, options: Options) -> list[dict[str, Any]]:
    """All combinations of the grid, in its order, or a random sample of them."""
    if grid is None:
        name = type(hasher).__name__
        grid = methods()[name].grid if name in methods() else {}
    given = [grid] if isinstance(grid, Mapping) else list(grid)
    _check_grids(hasher, given)
    try:
        if options.n_candidates is None or options.n_candidates >= len(ParameterGrid(given)):
            return list(ParameterGrid(given))
    except TypeError:  # a distribution has no length
        if options.n_candidates is None:
            raise
    drawn = ParameterSampler(given, options.n_candidates, random_state=options.random_state)
    return [dict(sorted(parameters.items())) for parameters in drawn]


def _check_grids(hasher: Hasher, grids: Sequence[Mapping[str, Any]]) -> None:
    name, known = type(hasher).__name__, hasher.get_params()
    if not any(grids):
        raise ValueError(
            f"{name} has no grid of its own: give values to try for some of its parameters: "
            f"{', '.join(known)}"
        )
    for parameter, values in (pair for grid in grids for pair in grid.items()):
        if parameter not in known:
            raise ValueError(
                f"{name} has no parameter {parameter!r} to try: it has {', '.join(known)}"
            )
        if isinstance(values, str):
            raise ValueError(f"{parameter}: write a list of values, such as [{values!r}]")


def make_folds(
    hasher: Hasher, dataset: Dataset, targets: Targets, groups: Any, options: Options
) -> Iterator[Fold]:
    """The folds, in order; all candidates get the same folds."""
    assert dataset.labels is not None
    splits = options.splitter().folds(
        dataset.labels, groups, n_train=options.n_train, n_seen_queries=None
    )
    rng = check_random_state(options.random_state)
    for split in splits:
        seed = int(rng.randint(np.iinfo(np.int32).max))
        known, rows = learned_from(hasher, dataset, split, unlabelled=options.unlabelled)
        yield Fold(split, rows, targets(known, rows, split.seen), seed)


def run_all(
    hasher: Hasher,
    dataset: Dataset,
    folds: Sequence[Fold],
    candidates: Sequence[dict[str, Any]],
    options: Options,
) -> list[Record]:
    """The records of all runs, candidate by candidate; each warning is given once."""
    runs = [
        ({"candidate": number, "parameters": parameters, "fold": place}, fold)
        for number, parameters in enumerate(candidates)
        for place, fold in enumerate(folds)
    ]
    n_jobs = min(effective_n_jobs(options.n_jobs), cpu_count(), len(runs))
    parallel = Parallel(n_jobs=n_jobs, return_as="generator")
    results = parallel(
        delayed(_run)(hasher, dataset, fold, head["parameters"], options) for head, fold in runs
    )
    bar = tqdm(
        results, total=len(runs), desc="candidates", disable=None if options.progress else True
    )
    found: list[Record] = []
    told: dict[tuple[type[Warning], str], None] = {}
    for (head, _), (result, said) in zip(runs, bar, strict=True):
        found.append(head | result)
        told |= dict.fromkeys(said)
    for category, message in told:
        warn_user(message, category)
    return found


def _run(
    hasher: Hasher, dataset: Dataset, fold: Fold, parameters: Mapping[str, Any], options: Options
) -> tuple[Record, Said]:
    """Score and seconds of a candidate on a fold, or the error; and the warnings."""

    def run() -> Record:
        with _same_bits():
            return _fit_and_score(hasher, dataset, fold, parameters, options)

    return attempt(run)


def _fit_and_score(
    hasher: Hasher, dataset: Dataset, fold: Fold, parameters: Mapping[str, Any], options: Options
) -> Record:
    seed = {"random_state": fold.seed} if "random_state" in hasher.get_params() else {}
    candidate = clone(hasher).set_params(**seed | dict(parameters))
    start = time.perf_counter()
    candidate.fit(dataset.X[fold.rows], fold.targets)
    seconds = round(time.perf_counter() - start, 3)
    scores = score_by(options.score, dataset, candidate, fold.split, options.protocol)
    return {**scores, "seconds": seconds}


@contextmanager
def _same_bits() -> Iterator[None]:
    """Make scores independent of the number of cores: one thread adds up each sum.

    This holds for BLAS and OpenMP. Blocks still go to all cores; their order does not matter.
    """
    with all_cores(), ThreadpoolController().select(user_api="openmp").limit(limits=1):
        yield
