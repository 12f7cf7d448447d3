"""What the rotation of the label vectors does to the codes."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from zshash import codes
from zshash.experiments.protocol import encode_split, fit_setup, score_codes
from zshash.experiments.reproduction.data import Sources
from zshash.experiments.reproduction.tasks.base import Record
from zshash.experiments.reproduction.tasks.retrieval import ZeroShot

__all__ = ["ROTATIONS", "Alignment"]

ROTATIONS = {"procrustes": "procrustes", "cayley": "cayley", "none": None}


@dataclass(frozen=True, kw_only=True)
class Alignment(ZeroShot):
    """The same start with R in closed form, by curvilinear search, and without it.

    The split is always the first one, so that only the start differs between seeds.
    """

    kind: ClassVar[str] = "alignment"

    def run(self, seed: int, sources: Sources) -> Record:
        """Scores with each rotation from one start, and how many bits are the same."""
        dataset = self.dataset(sources)
        protocol = self.protocol(dataset)
        split = protocol.split(dataset, 0)
        record: Record = {"seed": seed}
        first = None
        for name, rotation in ROTATIONS.items():
            own = replace(self, parameters={**self.parameters, "rotation": rotation})
            hasher, seconds = fit_setup(dataset, own.setup(), split, seed)
            found = encode_split(dataset, hasher, split)
            scores = score_codes(dataset, found, split, protocol)
            bits = codes.unpack(np.vstack(found), self.bits)
            first = bits if first is None else first
            record[name] = {
                "map": scores["map"],
                "precision": scores["precision"],
                "same_bits": float((bits == first).mean()),
                "fit_seconds": seconds,
            }
        return record
