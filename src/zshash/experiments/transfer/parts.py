"""The parts of the study, and the runs that each of them is made of."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple

from zshash.experiments.training import ONE_HOT, WORDNET
from zshash.experiments.transfer.setups import (
    ABLATIONS,
    AMONG_HIDDEN,
    BASELINE,
    BEST,
    CENTRED,
    COSINES,
    FAST,
    LOOKUP,
    MEANING,
    RIVALS,
    SIZED,
    TRADEOFF,
    WHITENED,
    ZSH_ABLATIONS,
    Setup,
    trained_on,
)
from zshash.experiments.transfer.splits import N_SPLITS, SOURCES, Source

__all__ = ["FULL", "PARTS", "QUICK", "Cell", "Study", "plan"]

GLOVE = "words/glove6b_100d_nouns.txt.gz"
NAME_SOURCES = {"WordNet": (WORDNET,), "GloVe": (GLOVE,), "both": (WORDNET, GLOVE)}


@dataclass(frozen=True)
class Study:
    """How much of everything.

    Attributes
    ----------
    splits, ablated : sequence of int
        All splits, and those on which variants of MTH are tried.
    bits, main : sequence of int, and int
        All lengths of codes, and the one at which all but the comparison is made.
    n_train, sizes : int, and sequence of int
        Training samples, and how many a few methods are given to see what that changes.
    name_sources : mapping
        Label sources of the search by name.
    smaller : mapping
        Parameters of MTH that make it a try.
    """

    sources: Sequence[Source]
    splits: Sequence[int]
    ablated: Sequence[int]
    bits: Sequence[int]
    main: int
    n_train: int
    sizes: Sequence[int]
    name_sources: Mapping[str, tuple[str, ...]]
    smaller: Mapping[str, Any] = field(default_factory=dict)


FULL = Study(
    sources=(SOURCES["cifar10"], SOURCES["tiny100"]),
    splits=range(N_SPLITS),
    ablated=(5, 6, 7),
    bits=(32, 64, 128),
    main=64,
    n_train=10_000,
    sizes=(1_000, 3_000, 30_000),
    name_sources=NAME_SOURCES,
)
QUICK = Study(
    sources=(SOURCES["digits"],),
    splits=(0, 5),
    ablated=(5,),
    bits=(32,),
    main=32,
    n_train=200,
    sizes=(100,),
    name_sources={"WordNet": (WORDNET,)},
    smaller={"n_steps": 3},
)


class Cell(NamedTuple):
    """One run: a setup on a split with a seed.

    Attributes
    ----------
    bits : int or None
        None where there are no codes.
    n_train : int or None
        None for all samples that are not hidden.
    names : str or None
        Search by name with vectors of this source instead of with pictures.
    wanted : str
        A score that a finished run must have.
    """

    source: Source
    split: int
    seed: int
    n_train: int | None
    setup: Setup
    bits: int | None
    names: str | None = None
    wanted: str = "map"

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells records apart."""
        size = "all" if self.n_train is None else self.n_train
        named = self.names or ""
        return (self.source.name, self.setup.name, self.bits, size, named, self.split, self.seed)


Cells = Iterator[Cell]


def _comparison(study: Study, seeds: Sequence[int]) -> Cells:
    setups = (BEST, FAST, *RIVALS.values())
    for seed, bits, setup in product(seeds, study.bits, setups):
        yield from _searches(study, seed, setup, bits)


def _lookup(study: Study, seeds: Sequence[int]) -> Cells:
    for seed in seeds:
        yield from _searches(study, seed, LOOKUP, study.main)


def _semantics(study: Study, seeds: Sequence[int]) -> Cells:
    for seed, setup in product(seeds, (MEANING, BEST, RIVALS["ZSH"], RIVALS["ITQ"])):
        for cell in _searches(study, seed, setup, study.main):
            if cell.source.knows_related:
                yield cell._replace(wanted="map_related")


def _all_seen(study: Study, seeds: Sequence[int]) -> Cells:
    for seed, bits, setup in product(seeds, study.bits, (BEST, *RIVALS.values())):
        for cell in _searches(study, seed, setup, bits):
            yield cell._replace(n_train=None)


def _ablations(study: Study, seeds: Sequence[int]) -> Cells:
    for seed, setup in product(seeds, (BASELINE, *ABLATIONS)):
        for cell in _searches(study, seed, setup, study.main, study.ablated):
            if cell.source.knows_related or ONE_HOT in setup.labels(cell.source):
                yield cell


def _zsh(study: Study, seeds: Sequence[int]) -> Cells:
    for seed, setup in product(seeds, (RIVALS["ZSH"], *ZSH_ABLATIONS)):
        yield from _searches(study, seed, setup, study.main, study.ablated)


def _sizes(study: Study, seeds: Sequence[int]) -> Cells:
    for seed, setup in product(seeds, SIZED):
        for sized in (setup, *(trained_on(setup, size) for size in study.sizes)):
            yield from _searches(study, seed, sized, study.main, study.ablated)


def _tradeoff(study: Study, seeds: Sequence[int]) -> Cells:
    for seed, setup in product(seeds, TRADEOFF):
        yield from _searches(study, seed, setup, study.main, study.ablated)


def _cosine(study: Study, seeds: Sequence[int]) -> Cells:
    for seed, setup in product(seeds, COSINES):
        yield from _searches(study, seed, setup, None)


def _whitening(study: Study, seeds: Sequence[int]) -> Cells:
    for seed, bits, setup in product(seeds, study.bits, WHITENED):
        yield from _searches(study, seed, setup, bits)


def _centred(study: Study, seeds: Sequence[int]) -> Cells:
    for seed, setup in product(seeds, CENTRED):
        yield from _searches(study, seed, setup, study.main)


def _hidden(study: Study, seeds: Sequence[int]) -> Cells:
    for seed, setup in product(seeds, AMONG_HIDDEN):
        for cell in _searches(study, seed, setup, study.main):
            if cell.source.n_hidden > 1:
                yield cell


def _names(study: Study, seeds: Sequence[int]) -> Cells:
    for seed, setup, names in product(seeds, (RIVALS["ZSH"], BEST), study.name_sources):
        for cell in _searches(study, seed, setup, study.main):
            if cell.source.knows_related:
                yield cell._replace(names=names)


def _searches(
    study: Study, seed: int, setup: Setup, bits: int | None, splits: Sequence[int] | None = None
) -> Cells:
    """A setup on all splits of all data."""
    for split, source in product(study.splits if splits is None else splits, study.sources):
        yield Cell(source, split, seed, setup.n_train or study.n_train, setup, bits)


class Part(NamedTuple):
    """Cells, and how many seeds there are of them unless one says otherwise."""

    cells: Callable[[Study, Sequence[int]], Cells]
    n_seeds: int


PARTS = {
    "comparison": Part(_comparison, 5),
    "lookup": Part(_lookup, 5),
    "semantics": Part(_semantics, 5),
    "all-seen": Part(_all_seen, 5),
    "ablations": Part(_ablations, 1),
    "zsh": Part(_zsh, 1),
    "sizes": Part(_sizes, 1),
    "tradeoff": Part(_tradeoff, 1),
    "cosine": Part(_cosine, 1),
    "whitening": Part(_whitening, 1),
    "centred": Part(_centred, 1),
    "hidden": Part(_hidden, 1),
    "names": Part(_names, 5),
}


def plan(study: Study, parts: Sequence[str], n_seeds: int | None = None) -> list[Cell]:
    """The cells of some parts, each once.

    >>> len(plan(FULL, ["lookup"], n_seeds=1))
    20
    """
    cells: dict[tuple[Any, ...], Cell] = {}
    for name in parts:
        part = PARTS[name]
        for cell in part.cells(study, range(n_seeds or part.n_seeds)):
            known = cells.setdefault(cell.key, cell)
            if cell.wanted != known.wanted:
                cells[cell.key] = known._replace(wanted="map_related")
    return list(cells.values())
