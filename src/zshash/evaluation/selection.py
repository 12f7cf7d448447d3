"""Choose parameters without unseen data: some seen categories are held out in their place."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from zshash.datasets import DataError, Dataset
from zshash.evaluation.candidates import (
    Fold,
    Grid,
    Options,
    Targets,
    make_candidates,
    make_folds,
    run_all,
)
from zshash.evaluation.scorer import SCORES, RetrievalScorer
from zshash.evaluation.selected import Selection, summarize_candidates
from zshash.evaluation.tasks import Record
from zshash.hashing.hasher import Hasher
from zshash.images import PictureReader
from zshash.learning.categories import find_categories
from zshash.learning.fitting import training_part
from zshash.learning.targets import label_sources, make_targets
from zshash.semantics.names import unit

__all__ = ["SCORES", "RetrievalScorer", "Selection", "select", "select_from", "select_on"]


def select(
    hasher: Hasher,
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
    unlabelled: bool = False,
    score: str = "map",
    k: int = 5000,
    radius: int = 2,
    n_jobs: int | None = None,
    random_state: Any = 0,
    progress: bool = False,
) -> Selection:
    """Choose parameters of a hasher by categories that are held out as if nobody had labelled them.

    In each fold some categories of `y` are held out. Some of their samples are queries; the
    database has the rest of their samples and all samples of the other categories. All candidates
    get the same folds and seeds, so that their scores can be compared pair by pair.

    Leave out of `X` and `y` what must stay unseen: only they are looked at.

    Parameters
    ----------
    hasher : estimator
        A method of this package. It is not changed.
    X : array-like of shape (n, d)
        Features.
    y : array-like of shape (n,), or 0/1 of shape (n, c)
        The label of each sample, or the categories that it belongs to.
    grid : mapping of parameter to values, or list of such, optional
        Every combination is a candidate, as in scikit-learn's ``ParameterGrid``. By default the
        grid of ``zshash.methods()``.
    vectors : array-like of shape (c, p), optional
        Vectors of the categories' names, in the order of the sorted labels or of the columns. The
        method then learns from the vectors of the samples' categories instead of from `y`.
    groups : mapping of category to group, optional
        Categories of the same group are held out together; see `PseudoUnseenSplit.folds`.
    n_candidates : int, optional
        Number of combinations to draw at random; values may then be distributions, as in
        scikit-learn's ``ParameterSampler``.
    n_splits : int, default=3
        Number of folds.
    n_unseen, n_queries : int, optional
        As in `PseudoUnseenSplit`.
    n_train : int, optional
        Number of training samples to draw in each fold; all of them by default.
    unlabelled : bool, default=False
        Whether methods that can also learn from the other samples of the database, without their
        labels.
    score : {"map", "precision", "real"}, default="map"
        Mean average precision over the first `k` by Hamming distance, precision within the Hamming
        `radius`, or mean average precision of real-valued queries: of queries of the categories
        that are held out. The same score for these queries in a database of held-out categories
        alone, and for queries of the other categories, is told beside it.
    k : int, default=5000
    radius : int, default=2
    n_jobs : int, optional
        Number of processes, -1 for one per core, and at most one per core. By default one, whose
        fits use all cores. The scores do not depend on it, to the last bit.
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
    options = Options(
        n_candidates=n_candidates,
        n_splits=n_splits,
        n_unseen=n_unseen,
        n_train=n_train,
        n_queries=n_queries,
        unlabelled=unlabelled,
        score=score,
        k=k,
        radius=radius,
        n_jobs=n_jobs,
        random_state=random_state,
        progress=progress,
    )
    dataset, places = _as_dataset(X, y)
    given = None if vectors is None else _check_vectors(vectors, len(dataset.names))

    def targets(known: Dataset, rows: NDArray[np.int64], seen: NDArray[np.int64]) -> Any:
        assert known.labels is not None
        own: NDArray[Any] = known.labels[rows]
        if own.ndim == 1:
            return own if given is None else np.where(own[:, None] >= 0, given[own], 0)
        return own[:, seen] if given is None else unit(own[:, seen] @ given[seen])

    return _select(hasher, dataset, targets, grid, _numbered(groups, places), options)


def select_on(
    hasher: Hasher,
    dataset: Dataset,
    grid: Grid | None = None,
    *,
    labels: Sequence[str] = (),
    groups: Mapping[str, Any] | None = None,
    **options: Any,
) -> Selection:
    """Choose parameters as `select` does, with the categories of a data set and their names.

    Parameters
    ----------
    hasher, grid
        As for `select`.
    dataset : Dataset
        All of its samples may be trained on.
    labels : list of str, optional
        Sources of the names' vectors, as in `zshash.semantics.open_source`; by default what the
        method's kind learns from, which is WordNet for ZSH. Each fold uses only the names of the
        categories that it trains on.
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

    def targets(known: Dataset, rows: NDArray[np.int64], seen: NDArray[np.int64]) -> Any:
        return make_targets(hasher, known, rows, seen, labels)

    return _select(hasher, dataset, targets, grid, numbers, Options(**options))


def select_from(
    hasher: Hasher,
    source: str,
    grid: Grid | None = None,
    *,
    reader: PictureReader,
    labels: Sequence[str] = (),
    unseen: Sequence[str] = (),
    **options: Any,
) -> Selection:
    """Choose parameters as `select_on` does, from files; no sample of `unseen` is read."""
    data = reader.open(source)
    if data.labels is None:
        raise DataError(f"{source}: it has no labels, so no category of it can be held out")
    hidden = find_categories(data, unseen)
    label_sources(hasher, labels)  # an error comes before pictures are read
    chosen = training_part(hasher, data, hidden, None, 0)
    return select_on(hasher, reader.features(chosen), grid, labels=labels, **options)


def _as_dataset(X: ArrayLike, y: ArrayLike) -> tuple[Dataset, dict[Any, int]]:
    """Arrays as a data set with labels as names; and the number of each label."""
    X, y = np.asarray(X), np.asarray(y)
    if len(X) != len(y):
        raise ValueError(f"X has {len(X)} rows and y has {len(y)}: both need the same number")
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
    """Groups by the number of each category; anything wrong is left to the splitter."""
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
    hasher: Hasher,
    dataset: Dataset,
    targets: Targets,
    grid: Grid | None,
    groups: Any,
    options: Options,
) -> Selection:
    """Run every candidate on every fold, and choose the best."""
    candidates = make_candidates(hasher, grid, options)
    folds = list(make_folds(hasher, dataset, targets, groups, options))
    bare = replace(dataset, images=None, paths=())  # processes do not need these
    table = run_all(hasher, bare, folds, candidates, options)
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
            **options.facts(),
        },
    )


def _facts(dataset: Dataset, fold: Fold) -> Record:
    split = fold.split
    return {
        "unseen": [dataset.names[number] for number in split.unseen],
        "n_train": len(split.train),
        "n_queries": len(split.queries),
        "n_seen_queries": len(split.seen_queries),
        "n_database": len(split.database),
        "seed": fold.seed,
    }
