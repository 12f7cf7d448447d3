"""The cells of the study. A cell is a setup on a split of the data, at one code length.

=================  =================================================================
key of a record    meaning
=================  =================================================================
data, split, seed  which data set, which of its ten splits, which training samples
n_train            training samples, "all" for all that are not hidden
setup              name of the setup, as in the tables
method             class of the method, null for cosines of features
parameters         parameters that differ from the defaults
bits               length of the codes, null for none
names              source of the vectors in a search by name, else missing
map, precision     MAP at the data's k, precision within radius 2
map_real           MAP with real-valued queries
map_…_alone        the same among hidden categories alone, where a split hides several
map_…_seen         the same for queries of seen categories
map_related        mean precision of related categories
map_rule           MAP of a search by name with a collection's own rule
accuracy           share of hidden pictures that get the right hidden name
fit_seconds        how long the fit took
trained_on         "CPU" or "GPU"
notes, error       warnings, and the reason why there are no scores
=================  =================================================================
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, NamedTuple

from zshash.evaluation.protocol import changed_parameters
from zshash.evaluation.report.document import Block
from zshash.evaluation.standard import label_paths
from zshash.evaluation.tasks import Job, Record, Task
from zshash.learning.targets import WORDNET
from zshash.studies.mth2026 import scoring
from zshash.studies.mth2026.findings import Findings
from zshash.studies.mth2026.setups import Setup
from zshash.studies.mth2026.splits import N_SPLITS, SOURCES, Source

__all__ = ["FULL", "QUICK", "Cell", "Cells", "Part", "Size", "Work", "key_of", "searches"]

GLOVE = "words/glove6b_100d_nouns.txt.gz"
NAME_SOURCES = {"WordNet": (WORDNET,), "GloVe": (GLOVE,), "both": (WORDNET, GLOVE)}
KEYS = ("data", "setup", "bits", "n_train", "names", "split", "seed")


@dataclass(frozen=True)
class Size:
    """The size of the study: full, or small.

    Attributes
    ----------
    splits, ablated, pooled : sequence of int
        All splits, the splits on which variants of MTH are run, and those on which methods also
        learn from samples without a label.
    bits, main, more_bits : sequence of int, int, and sequence of int
        All code lengths, the length that all parts but the comparison use, and other lengths of
        codes that are learned with samples without a label.
    shares, hidden, labelled : sequences of numbers
        What `Pool` takes: shares of the samples without a label, shares of the hidden samples, and
        numbers of labelled samples.
    folders, draws : sequence of int, and int
        Number of samples of each category in small folders, and number of folders of each size.
    n_train, sizes : int, and sequence of int
        Number of training samples, and the other numbers that the part "sizes" compares.
    name_sources : mapping
        Label sources of the search by name.
    smaller : mapping
        Parameters of MTH that make it fast, for the small version.
    """

    sources: Sequence[Source]
    splits: Sequence[int]
    ablated: Sequence[int]
    pooled: Sequence[int]
    bits: Sequence[int]
    main: int
    more_bits: Sequence[int]
    n_train: int
    sizes: Sequence[int]
    name_sources: Mapping[str, tuple[str, ...]]
    shares: Sequence[float]
    hidden: Sequence[float]
    labelled: Sequence[int]
    folders: Sequence[int]
    draws: int
    smaller: Mapping[str, Any] = field(default_factory=dict)


FULL = Size(
    sources=(SOURCES["cifar10"], SOURCES["tiny100"]),
    splits=range(N_SPLITS),
    ablated=(5, 6, 7),
    pooled=range(5),
    bits=(32, 64, 128),
    main=64,
    more_bits=(16, 32, 96, 128),
    n_train=10_000,
    sizes=(1_000, 3_000, 30_000),
    name_sources=NAME_SOURCES,
    shares=(0.01, 0.03, 0.1, 0.3),
    hidden=(0.0, 0.03, 0.1, 0.3),
    labelled=(0, 100, 1000),
    folders=(20, 64),
    draws=20,
)
QUICK = Size(
    sources=(SOURCES["digits"],),
    splits=(0, 5),
    ablated=(5,),
    pooled=(0,),
    bits=(32,),
    main=32,
    more_bits=(16,),
    n_train=200,
    sizes=(100,),
    name_sources={"WordNet": (WORDNET,)},
    shares=(0.1,),
    hidden=(0.0,),
    labelled=(0,),
    folders=(8,),
    draws=2,
    smaller={"n_steps": 3},
)


@dataclass(frozen=True)
class Work:
    """The context of all cells: the size of the study, and where MTH is trained."""

    size: Size
    device: str | None = None


@dataclass(frozen=True)
class Cell(Task):
    """A setup on a split; it runs with any seed.

    Attributes
    ----------
    bits : int or None
        Code length; None for a ranking without codes.
    n_train : int or None
        Number of training samples; None for all samples that are not hidden.
    names : str or None
        Source of the vectors in a search by name; None searches with pictures.
    wanted : str
        A score that a finished run must have.
    """

    source: Source
    split: int
    n_train: int | None
    setup: Setup
    bits: int | None
    names: str | None = None
    wanted: str = "map"

    @property
    def label(self) -> str:
        """Data, setup and bits."""
        return f"{self.source.name}, {self.setup.name}, {self.bits} bits"

    def rehearse(self, context: Work) -> str:  # noqa: ARG002
        """Load the data; returns no checksum, because runs are found by the name of the data."""
        self.source.load()
        return ""

    def planned(self, seed: int) -> Record:
        """The record without scores."""
        return {
            "data": self.source.name,
            "split": self.split,
            "seed": seed,
            "n_train": "all" if self.n_train is None else self.n_train,
            "setup": self.setup.name,
            "method": self.setup.method,
            "parameters": {},
            "bits": self.bits,
        } | ({"names": self.names} if self.names else {})

    def is_finished(self, run: Record) -> bool:
        """Whether a run has the wanted score."""
        return self.wanted in run

    def run(self, seed: int, context: Work) -> Record:
        """Scores of one seed; only MTH is trained on the device."""
        protocol = self.source.protocol(self.split, self.n_train)
        dataset = self.source.load()
        split = protocol.split(dataset, seed)
        if self.setup.centred:
            dataset = replace(dataset, X=dataset.X - dataset.X[split.train].mean(axis=0))
        if self.setup.among_hidden:
            split = scoring.among_hidden(dataset, split)
        if self.setup.whitening is not None:
            dataset = scoring.whitened(dataset, split, self.setup.whitening, self.setup.shrinkage)
        if self.bits is None:
            found = scoring.cosine_maps(dataset, split, protocol)
            return self.planned(seed) | _rounded(found)
        labels = self._labels(context.size)
        used = context.device if self.setup.method == "MTH" else None
        hashers = list(self._hashers(seed, context.size))
        known, rows = dataset, split.train
        if self.setup.pool is not None and hashers[0].learns_unlabelled:
            known, rows = scoring.pooled(dataset, split, self.setup.pool, seed)
        seconds = sum(
            scoring.fit(hasher, known, rows, split.seen, labels, used) for hasher in hashers
        )
        hasher = scoring.best(hashers)
        if self.names:
            found = scoring.score_names(dataset, split, hasher, labels, protocol.k)
        else:
            found = scoring.score(hasher, dataset, split, protocol, self.source.knows_related)
        return self.planned(seed) | {
            "parameters": changed_parameters(type(hasher).__name__, hasher.get_params()),
            **_rounded(found),
            "fit_seconds": round(seconds, 3),
            "trained_on": "CPU" if used in (None, "cpu") else "GPU",
        }

    def _hashers(self, seed: int, size: Size) -> Iterator[Any]:
        assert self.bits is not None
        for state in range(seed, seed + self.setup.n_fits):
            hasher = self.setup.hasher(self.bits, self.n_train, size.smaller)
            yield hasher.set_params(random_state=state)

    def _labels(self, size: Size) -> tuple[str, ...]:
        """Label sources to learn from, with full paths."""
        own = size.name_sources[self.names] if self.names else self.setup.labels(self.source)
        return label_paths(own)


def _rounded(scores: Mapping[str, float]) -> dict[str, float]:
    return {key: round(float(value), 6) for key, value in scores.items()}


def key_of(record: Mapping[str, Any]) -> tuple[Any, ...]:
    """Key of a run: two records with the same key are of the same run."""
    return tuple(record.get("names", "") if key == "names" else record[key] for key in KEYS)


Cells = Iterator[Task]


def searches(
    size: Size, setup: Setup, bits: int | None, splits: Sequence[int] | None = None
) -> Iterator[Cell]:
    """A setup on all splits of all data."""
    for split, source in product(size.splits if splits is None else splits, size.sources):
        yield Cell(source, split, setup.n_train or size.n_train, setup, bits)


class Part(NamedTuple):
    """A part of the study: its runs, and the sections of the page that show them.

    Attributes
    ----------
    name : str
    cells : callable
        Size of the study → the cells.
    n_seeds : int
        Default number of runs of each cell.
    sections : mapping
        Name of a section → its title, and the function that makes its blocks from findings.
    """

    name: str
    cells: Callable[[Size], Cells]
    n_seeds: int
    sections: Mapping[str, tuple[str, Callable[[Findings], Sequence[Block]]]]

    def jobs(self, size: Size, n_seeds: int | None = None) -> list[Job]:
        """Every cell with every seed; the small version has one seed by default."""
        usual = 1 if size is QUICK else self.n_seeds
        cells = list(self.cells(size))
        return [Job(cell, seed) for seed in range(n_seeds or usual) for cell in cells]
