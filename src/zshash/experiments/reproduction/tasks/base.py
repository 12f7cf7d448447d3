"""A task: all that decides a result but the seed."""

import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from zshash import metrics
from zshash.datasets import Dataset
from zshash.experiments.protocol import Setup
from zshash.experiments.reproduction.data import Sources, label_paths, load
from zshash.experiments.training import ONE_HOT, label_names, label_sources, make_targets
from zshash.hashing.registry import METHODS, SEMANTIC

__all__ = ["Record", "Task", "chance"]

Record = dict[str, Any]
DECIDED = ("n_bits", "random_state")  # parameters that the task and the seed decide


@dataclass(frozen=True, kw_only=True)
class Task(ABC):
    """What every task has.

    Attributes
    ----------
    data : str
        A file or folder, by its path in the data folder or anywhere, or a known data set.
    method : str
    bits : int
    parameters : mapping
        Of the method, beside its own defaults.
    labels : tuple of str
        Label sources, as in `zshash.semantics.open_source`, or "onehot"; only methods that learn
        from names look at them.
    extractor : str or None
        The network that turns pictures into features, None for the default.
    categories : int or None
        Of data with more categories, so many are drawn once and for all.
    known_to : tuple of str
        Label sources that must know the names of categories that are drawn.
    n_train : int or None
        Training samples.
    """

    data: str
    method: str = "ZSH"
    bits: int = 64
    parameters: Mapping[str, Any] = field(default_factory=dict)
    labels: tuple[str, ...] = ()
    extractor: str | None = None
    categories: int | None = None
    known_to: tuple[str, ...] = ()
    n_train: int | None = None

    kind: ClassVar[str]
    format: ClassVar[int] = 1
    """To be raised when the records of a kind of task change: older ones do not count then."""

    @abstractmethod
    def run(self, seed: int, sources: Sources) -> Record:
        """The result of one seed, ready for JSON."""

    @abstractmethod
    def rehearse(self, sources: Sources) -> str:
        """Look at the data and the labels before the work; returns the checksum of both."""

    def dataset(self, sources: Sources) -> Dataset:
        """The data that is searched."""
        known_to = label_paths(self.known_to)
        return load(self.data, self.extractor, self.categories, known_to, sources)

    def setup(self) -> Setup:
        """The method with its parameters and the label sources that it looks at."""
        method = METHODS[self.method]
        hasher = method.estimator(n_bits=self.bits, normalize=True, **self.parameters)
        is_semantic = method.kind == SEMANTIC
        labels = label_sources(hasher, label_paths(self.labels)) if is_semantic else ()
        return Setup(self.method, hasher, tuple(labels))

    def check_targets(self, dataset: Dataset, rows: NDArray[Any], seen: NDArray[Any]) -> None:
        """Look all labels up."""
        setup = self.setup()
        setup.hasher._check_parameters()
        make_targets(setup.hasher, dataset, rows[:1], seen, setup.labels)

    @property
    def searched(self) -> str:
        """The data that is searched, as a person reads it."""
        return _name(Path(self.data))

    @property
    def has_vectors(self) -> bool:
        """Whether the method learns from vectors of names."""
        setup = self.setup()
        return bool(setup.labels) and ONE_HOT not in setup.labels

    def facts(self) -> Record:
        """All of it, ready for JSON, with files called by their names alone.

        Parameters are those of the method in full, so that a change of a default shows.
        """
        setup = self.setup()
        parameters = setup.hasher.get_params()
        facts = asdict(self) | {
            "labels": label_names(setup.hasher, setup.labels),
            "known_to": [Path(spec).name for spec in self.known_to],
            "parameters": {key: parameters[key] for key in parameters if key not in DECIDED},
        }
        for key in ("data", "training", "pictures"):
            if facts.get(key):
                facts[key] = _name(Path(facts[key]))
        lists = {key: list(value) for key, value in facts.items() if isinstance(value, tuple)}
        given = {key: value for key, value in facts.items() if value is not None}
        return {"task": self.kind, "format": self.format} | given | lists

    def path(self) -> Path:
        """Where its result is kept, below the folder of all results."""
        facts = self.facts()
        text = json.dumps(facts, sort_keys=True)
        digest = hashlib.blake2b(text.encode(), digest_size=5).hexdigest()
        folder = re.sub(r"[^\w.-]", "_", Path(facts["data"]).stem, flags=re.ASCII)
        return Path(folder) / f"{self.kind}-{self.method}-{self.bits}-{digest}.json"


def chance(relevant: NDArray[np.int64], total: NDArray[np.int64], k: int) -> float:
    """MAP of a random order: that of codes which are all at the same distance.

    >>> chance(np.array([[1, 0]]), np.array([[1, 1]]), k=1)
    0.5
    """
    hits, all_of_them = (counts.sum(axis=1, keepdims=True) for counts in (relevant, total))
    return metrics.mean_average_precision(hits, all_of_them, k)


def _name(path: Path) -> str:
    """The name of a file or folder, also of those that are written "." and "..".

    >>> _name(Path("features/digits.npz"))
    'digits.npz'
    """
    return path.name if path.name not in ("", "..") else path.resolve().name
