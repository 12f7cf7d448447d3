"""Parameters chosen without unseen data: by seen categories held out as if they were unseen."""

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from joblib import Parallel, cpu_count, delayed, effective_n_jobs  # type: ignore[import-untyped]
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid, ParameterSampler
from sklearn.utils import check_random_state
from threadpoolctl import ThreadpoolController
from tqdm import tqdm

from zshash import metrics
from zshash._threads import all_cores
from zshash.codes import check_integer
from zshash.datasets import DataError, Dataset, PseudoUnseenSplit, Split
from zshash.experiments.protocol import Protocol, encode_split, relevance, score_codes
from zshash.experiments.selected import Record, Selection, summarize_candidates
from zshash.experiments.training import find_categories, make_targets, training_part
from zshash.hashing import methods
from zshash.images import PictureReader
from zshash.semantics.names import unit

__all__ = ["SCORES", "RetrievalScorer", "Selection", "select", "select_from", "select_on"]

Grid = Mapping[str, Any] | Sequence[Mapping[str, Any]]
Score = Callable[[Dataset, Any, Split, Protocol], float]
# What a method learns from, given the samples to train on and the categories of these.
Targets = Callable[[NDArray[np.int64], NDArray[np.int64]], Any]


def _by_codes(name: str) -> Score:
    def score(dataset: Dataset, hasher: Any, split: Split, protocol: Protocol) -> float:
        codes = encode_split(dataset, hasher, split)
        return float(score_codes(dataset, codes, split, protocol)[name])

    return score


def _asymmetric(dataset: Dataset, hasher: Any, split: Split, protocol: Protocol) -> float:
    scores = metrics.evaluate_asymmetric(
        hasher.project(dataset.X[split.queries]),
        hasher.encode(dataset.X[split.database]),
        relevance(dataset, split),
        k=protocol.k,
    )
    return float(scores["map_asymmetric"])


SCORES: dict[str, Score] = {
    "map": _by_codes("map"),
    "precision": _by_codes("precision"),
    "asymmetric": _asymmetric,
}
"""What to choose by, each a number of which more is better."""
TITLES = {
    "map": "MAP@{k}",
    "precision": "precision, radius {radius}",
    "asymmetric": "asymmetric MAP@{k}",
}


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
        _check_score(self.score)
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


def select(
    hasher: Any,
    X: ArrayLike,
    y: ArrayLike,
    grid: Grid | None = None,
    *,
    vectors: ArrayLike | None = None,
    groups: Mapping[Any, Any] | None = None,
    n_candidates: int | None = None,
    n_splits: int = 3,
    n_unseen: int | None = None,
    n_train: int | None = None,
    n_queries: int | None = None,
    score: str = "map",
    k: int = 5000,
    radius: int = 2,
    n_jobs: int | None = None,
    random_state: Any = 0,
    progress: bool = False,
) -> Selection:
    """Choose parameters of a hasher by categories held out as if nobody had labelled them.

    In each fold some categories of `y` are not trained on. Some of their samples are queries, and
    everything else is searched: the rest of them, and all samples of the other categories. All
    candidates get the same folds and seeds, so that their scores can be compared pair by pair.

    Leave out what is to stay unseen: nothing but `X` and `y` is looked at.

    Parameters
    ----------
    hasher : estimator
        A method of this package. It stays as it is.
    X : array-like of shape (n, d)
        Features.
    y : array-like of shape (n,), or 0/1 of shape (n, c)
        The label of each sample, or the categories that it belongs to.
    grid : mapping of parameter to values, or list of such, optional
        Every combination is a candidate, as in scikit-learn's ``ParameterGrid``. By default the
        grid of ``zshash.methods()``.
    vectors : array-like of shape (c, p), optional
        What the categories' names mean, in the order of the sorted labels or of the columns: the
        method then learns from the vectors of the samples' categories instead of from `y`.
    groups : mapping of category to group, optional
        Categories of the same group are held out together; see `PseudoUnseenSplit.folds`.
    n_candidates : int, optional
        So many combinations, drawn at random; values may be distributions then, as in
        scikit-learn's ``ParameterSampler``.
    n_splits : int, default=3
        Folds.
    n_unseen, n_queries : int, optional
        As in `PseudoUnseenSplit`.
    n_train : int, optional
        Samples to train on in each fold, at random; all of them by default.
    score : {"map", "precision", "asymmetric"}, default="map"
        Mean average precision over the first `k` by Hamming distance, precision within the Hamming
        `radius`, or mean average precision by asymmetric distance.
    k : int, default=5000
    radius : int, default=2
    n_jobs : int, optional
        Processes, -1 for one each core; never more than there are cores, which they share. By
        default one, and its fits use all cores. The scores are the same to the last bit.
    random_state : int, RandomState or None, default=0
        For the folds, the fits and the candidates that are drawn.
    progress : bool, default=False
        Show a progress bar where the output is a terminal.

    Returns
    -------
    Selection

    Examples
    --------
    >>> import zshash
    >>> from zshash.datasets import digits
    >>> data = digits()
    >>> found = select(
    ...     zshash.SDH(16, n_anchors=100), data.X, data.labels, {"nu": [1e-4, 1e-2]}, n_splits=2
    ... )
    >>> sorted(found.best), [row["fold"] for row in found.table]
    (['nu'], [0, 1, 0, 1])
    >>> hasher = found.hasher.fit(data.X, data.labels)
    """
    plan = Plan(
        n_candidates=n_candidates,
        n_splits=n_splits,
        n_unseen=n_unseen,
        n_train=n_train,
        n_queries=n_queries,
        score=score,
        k=k,
        radius=radius,
        n_jobs=n_jobs,
        random_state=random_state,
        progress=progress,
    )
    dataset, places = _as_dataset(X, y)
    given = None if vectors is None else _check_vectors(vectors, len(dataset.names))

    def targets(rows: NDArray[np.int64], seen: NDArray[np.int64]) -> Any:
        assert dataset.labels is not None
        own: NDArray[Any] = dataset.labels[rows]
        if own.ndim == 1:
            return own if given is None else given[own]
        return own[:, seen] if given is None else unit(own[:, seen] @ given[seen])

    return _select(hasher, dataset, targets, grid, _numbered(groups, places), plan)


def select_on(
    hasher: Any,
    dataset: Dataset,
    grid: Grid | None = None,
    *,
    labels: Sequence[str] = (),
    groups: Mapping[str, Any] | None = None,
    **options: Any,
) -> Selection:
    """As `select`, with the categories of a data set and what their names mean.

    Parameters
    ----------
    hasher, grid
        As for `select`.
    dataset : Dataset
        All of its samples may be trained on.
    labels : list of str, optional
        Where the names get their vectors, as in `zshash.semantics.open_source`; by default what
        the method's kind learns from, which is WordNet for ZSH. In each fold only names of the
        categories that are left count.
    groups : mapping of name to group, optional
        Categories of the same group are held out together.
    options
        As for `select`: from `n_candidates` to `progress`.
    """
    if dataset.labels is None:
        raise DataError("the data has no labels, so no category of it can be held out")
    numbers = None
    if groups is not None:
        numbers = {int(find_categories(dataset, [name])[0]): own for name, own in groups.items()}

    def targets(rows: NDArray[np.int64], seen: NDArray[np.int64]) -> Any:
        return make_targets(hasher, dataset, rows, seen, labels)

    return _select(hasher, dataset, targets, grid, numbers, Plan(**options))


def select_from(
    hasher: Any,
    source: str,
    grid: Grid | None = None,
    *,
    reader: PictureReader,
    labels: Sequence[str] = (),
    unseen: Sequence[str] = (),
    **options: Any,
) -> Selection:
    """As `select_on`, with pictures or features from files; no sample of `unseen` is read."""
    data = reader.open(source)
    if data.labels is None:
        raise DataError(f"{source}: it has no labels, so no category of it can be held out")
    hidden = find_categories(data, unseen)
    chosen = training_part(hasher, data, hidden, labels, None, 0)
    return select_on(hasher, reader.features(chosen), grid, labels=labels, **options)


@dataclass(frozen=True)
class RetrievalScorer:
    """A score for scikit-learn's ``cross_validate`` and its kin, by folds that hold out categories.

    The first samples of a test part search all others of it, as `PseudoUnseenSplit.split` orders
    them; how many they are is its ``n_queries``, which must be given.

    Parameters
    ----------
    splitter : PseudoUnseenSplit
        What is given as ``cv``, too.
    score, k, radius
        As for `select`.

    Examples
    --------
    >>> import zshash
    >>> from sklearn.model_selection import cross_validate
    >>> from zshash.datasets import digits
    >>> data = digits()
    >>> cv = PseudoUnseenSplit(n_splits=2, n_queries=50, random_state=0)
    >>> found = cross_validate(
    ...     zshash.ITQ(16, random_state=0), data.X, data.labels, cv=cv, scoring=RetrievalScorer(cv)
    ... )
    >>> bool((found["test_score"] > 0.2).all())
    True
    """

    splitter: PseudoUnseenSplit
    score: str = "map"
    k: int = 5000
    radius: int = 2

    def __post_init__(self) -> None:
        _check_score(self.score)
        if self.splitter.n_queries is None:
            raise ValueError(
                "the splitter needs n_queries: without it nobody knows where the queries end"
            )

    def __call__(self, hasher: Any, X: ArrayLike, y: ArrayLike) -> float:
        """The score of a fitted hasher on a test part."""
        rows = np.arange(len(y := np.asarray(y)))
        queries, database = rows[: self.splitter.n_queries], rows[self.splitter.n_queries :]
        split = Split(rows[:0], queries, database, rows[:0], rows[:0])
        protocol = Protocol(None, k=self.k, radius=self.radius)
        return SCORES[self.score](Dataset(np.asarray(X), y), hasher, split, protocol)


def _check_score(score: str) -> None:
    if score not in SCORES:
        raise ValueError(f"score must be one of {', '.join(map(repr, SCORES))}, got {score!r}")


def _as_dataset(X: ArrayLike, y: ArrayLike) -> tuple[Dataset, dict[Any, int]]:
    """Arrays as a data set whose categories are called by their labels; the numbers of these."""
    X, y = np.asarray(X), np.asarray(y)
    if len(X) != len(y):
        raise ValueError(f"X has {len(X)} rows and y has {len(y)}: they must be as many")
    if y.ndim == 2:
        numbers = range(y.shape[1])
        labels = y.astype(np.bool_) if np.isin(y, (0, 1)).all() else y  # the splitter complains
        return Dataset(X, labels, tuple(map(str, numbers))), dict(
            zip(numbers, numbers, strict=True)
        )
    classes, labels = np.unique(y, return_inverse=True)
    places = {label: number for number, label in enumerate(classes.tolist())}
    return Dataset(X, labels, tuple(map(str, places))), places


def _numbered(groups: Any, places: Mapping[Any, int]) -> Any:
    """Groups by the numbers of their categories, where they are a mapping of labels that exist."""
    if not isinstance(groups, Mapping) or not groups.keys() <= places.keys():
        return groups  # the splitter says what is wrong
    return {places[label]: group for label, group in groups.items()}


def _check_vectors(vectors: ArrayLike, n_categories: int) -> NDArray[Any]:
    given = np.asarray(vectors)
    if given.ndim != 2 or len(given) != n_categories:
        raise ValueError(
            f"vectors must have a row for each of the {n_categories} categories, got shape "
            f"{given.shape}"
        )
    return given


def _select(
    hasher: Any, dataset: Dataset, targets: Targets, grid: Grid | None, groups: Any, plan: Plan
) -> Selection:
    """Run every candidate on every fold and see which is best."""
    candidates = _candidates(hasher, grid, plan)
    folds = list(_folds(dataset, targets, groups, plan))
    bare = replace(dataset, images=None, paths=())  # which processes need not get
    table = _run_all(hasher, bare, folds, candidates, plan)
    rows, best, simplest = summarize_candidates(candidates, table, hasher.get_params())
    return Selection(
        best=candidates[best],
        hasher=clone(hasher).set_params(**candidates[best]),
        simplest=None if simplest is None else candidates[simplest],
        candidates=rows,
        table=table,
        folds=[_facts(dataset, fold) for fold in folds],
        facts={
            "method": type(hasher).__name__,
            "parameters": hasher.get_params(),
            **plan.facts(),
        },
    )


def _candidates(hasher: Any, grid: Grid | None, plan: Plan) -> list[dict[str, Any]]:
    """Combinations of the grid in its order, or some of them drawn at random."""
    name, known = type(hasher).__name__, sorted(hasher.get_params())
    if grid is None:
        grid = methods()[name].grid if name in methods() else {}
    given = [grid] if isinstance(grid, Mapping) else list(grid)
    if not any(given):
        raise ValueError(
            f"{name} has no grid of its own: say which values of which parameters to try, of "
            f"{', '.join(known)}"
        )
    for parameter, values in (pair for part in given for pair in part.items()):
        if parameter not in known:
            raise ValueError(
                f"{name} has no parameter {parameter!r} to try: it has {', '.join(known)}"
            )
        if isinstance(values, str):
            raise ValueError(f"{parameter}: write a list of values, such as [{values!r}]")
    try:
        if plan.n_candidates is None or plan.n_candidates >= len(ParameterGrid(given)):
            return list(ParameterGrid(given))
    except TypeError:  # a distribution has no length
        if plan.n_candidates is None:
            raise
    drawn = ParameterSampler(given, plan.n_candidates, random_state=plan.random_state)
    return [dict(sorted(parameters.items())) for parameters in drawn]


def _folds(dataset: Dataset, targets: Targets, groups: Any, plan: Plan) -> Iterator[Fold]:
    assert dataset.labels is not None
    splits = plan.splitter().folds(dataset.labels, groups, n_train=plan.n_train)
    rng = check_random_state(plan.random_state)
    for split in splits:
        seed = int(rng.randint(np.iinfo(np.int32).max))
        yield Fold(split, targets(split.train, split.seen), seed)


def _run_all(
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


def _facts(dataset: Dataset, fold: Fold) -> Record:
    split = fold.split
    return {
        "unseen": [dataset.names[number] for number in split.unseen],
        "n_train": len(split.train),
        "n_queries": len(split.queries),
        "n_database": len(split.database),
        "seed": fold.seed,
    }
