"""How the objective falls."""

from dataclasses import dataclass
from typing import ClassVar

from zshash.experiments.protocol import fit_setup
from zshash.experiments.reproduction.data import Sources
from zshash.experiments.reproduction.tasks.base import Record
from zshash.experiments.reproduction.tasks.retrieval import ZeroShot

__all__ = ["Convergence"]


@dataclass(frozen=True, kw_only=True)
class Convergence(ZeroShot):
    """Learn from seen categories and note the objective after each iteration."""

    kind: ClassVar[str] = "convergence"

    def run(self, seed: int, sources: Sources) -> Record:
        """The objective of one seed's fit."""
        dataset = self.dataset(sources)
        split = self.protocol(dataset).split(dataset, seed)
        hasher, seconds = fit_setup(dataset, self.setup(), split, seed)
        if not hasattr(hasher, "objective_"):
            raise ValueError(f"{self.method} does not keep an objective to follow")
        return {
            "seed": seed,
            "objective": [round(float(value), 3) for value in hasher.objective_],
            "n_train": len(split.train),
            "fit_seconds": seconds,
        }
