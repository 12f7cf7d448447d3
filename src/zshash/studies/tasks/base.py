"""The base of all tasks of configurations: data, a method with parameters, label sources."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from zshash import metrics
from zshash.datasets import Dataset
from zshash.evaluation.protocol import Setup
from zshash.evaluation.standard import label_paths
from zshash.evaluation.tasks import FiledTask, Record
from zshash.hashing.registry import METHODS, SEMANTIC, recorded_parameters
from zshash.learning.targets import ONE_HOT, label_names, label_sources, make_targets
from zshash.studies.data import Sources, load

__all__ = ["MethodTask", "chance"]

DECIDED = ("n_bits", "random_state")  # parameters that the task and the seed decide


@dataclass(frozen=True, kw_only=True)
class MethodTask(FiledTask):
    """A method on data, as a configuration describes it.

    Attributes
    ----------
    data : str
        A file or folder, by its path in the data folder or anywhere, or a known data set.
    method : str
    bits : int
    parameters : mapping
        Parameters of the method that replace its defaults.
    labels : tuple of str
        Label sources, as in `zshash.semantics.open_source`, or "onehot"; only methods that learn
        from names use them.
    extractor : str or None
        The network that turns pictures into features, None for the default.
    categories : int or None
        Of data with more categories, this many are drawn, always the same ones.
    known_to : tuple of str
        Label sources that must know the names of the drawn categories.
    n_train : int or None
        Number of training samples, None for all.
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
    """Version of the records of this kind; raise it when they change, and old ones do not count."""

    @property
    def label(self) -> str:
        """Method and bits."""
        return f"{self.method}, {self.bits} bits"

    def keep_pictures(self, runs: Sequence[Record], folder: Path, sources: Sources) -> None:
        """Write the pictures that the report shows of these runs; most kinds have none."""

    def dataset(self, sources: Sources) -> Dataset:
        """The data that is searched."""
        known_to = label_paths(self.known_to)
        return load(self.data, self.extractor, self.categories, known_to, sources)

    def setup(self) -> Setup:
        """The method with its parameters and the label sources that it uses."""
        method = METHODS[self.method]
        hasher = method.estimator(n_bits=self.bits, normalize=True, **self.parameters)
        is_semantic = method.kind == SEMANTIC
        labels = label_sources(hasher, label_paths(self.labels)) if is_semantic else ()
        return Setup(self.method, hasher, tuple(labels))

    def check_targets(self, dataset: Dataset, rows: NDArray[Any], seen: NDArray[Any]) -> None:
        """Check the parameters, and look up all labels."""
        setup = self.setup()
        setup.hasher.check_parameters()
        make_targets(setup.hasher, dataset, rows[:1], seen, setup.labels)

    @property
    def searched(self) -> str:
        """Name of the data that is searched, as a text for a person."""
        return _name(Path(self.data))

    @property
    def has_vectors(self) -> bool:
        """Whether the method learns from vectors of names."""
        setup = self.setup()
        return bool(setup.labels) and ONE_HOT not in setup.labels

    def facts(self) -> Record:
        """All fields, ready for JSON; files are given by their names, without folders.

        All parameters of the method are listed, so that a changed default shows.
        """
        setup = self.setup()
        parameters = recorded_parameters(setup.hasher)
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
        """Path of the file of runs, below the folder of all runs."""
        facts = self.facts()
        text = json.dumps(facts, sort_keys=True)
        digest = hashlib.blake2b(text.encode(), digest_size=5).hexdigest()
        folder = re.sub(r"[^\w.-]", "_", Path(facts["data"]).stem, flags=re.ASCII)
        return Path(folder) / f"{self.kind}-{self.method}-{self.bits}-{digest}.json"


def chance(relevant: NDArray[np.int64], total: NDArray[np.int64], k: int) -> float:
    """MAP of a random order, as if all codes were at the same distance.

    >>> chance(np.array([[1, 0]]), np.array([[1, 1]]), k=1)
    0.5
    """
    hits, all_of_them = (counts.sum(axis=1, keepdims=True) for counts in (relevant, total))
    return metrics.mean_average_precision(hits, all_of_them, k)


def _name(path: Path) -> str:
    """The name of a file or folder, also for the paths "." and "..".

    >>> _name(Path("features/digits.npz"))
    'digits.npz'
    """
    return path.name if path.name not in ("", "..") else path.resolve().name
