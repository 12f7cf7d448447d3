"""State of a catalogue, which is stored in the same transaction as the rows."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

__all__ = ["State", "Tally"]

MODULUS = 2**64
TABLES = ("items", "thumbnails", "features", "changes", "prints", "same_files", "removed")


@dataclass(frozen=True)
class Tally:
    """Number of rows of a table, and the sum of their checksums: no row is lost unnoticed.

    >>> Tally().plus([3, 4]).minus([3])
    Tally(n=1, digest=4)
    """

    n: int = 0
    digest: int = 0

    def plus(self, checksums: Iterable[int]) -> Self:
        """The tally with more rows."""
        checksums = list(checksums)
        return replace(
            self, n=self.n + len(checksums), digest=(self.digest + sum(checksums)) % MODULUS
        )

    def minus(self, checksums: Iterable[int]) -> Self:
        """The tally without some rows."""
        checksums = list(checksums)
        return replace(
            self, n=self.n - len(checksums), digest=(self.digest - sum(checksums)) % MODULUS
        )


@dataclass(frozen=True)
class State:
    """State of a catalogue.

    Attributes
    ----------
    n_bits : int
        Length of the codes.
    model : str
        The sha256 of the model's file.
    generation : int
        Grows by one with each transaction that changes items.
    base : int
        The generation since which `changes` lists every row that was changed or removed.
    next_id : int
        Id of the next item; ids are never used twice.
    items, thumbnails, features, changes, prints, same_files, removed : Tally
        Tallies of the rows of these tables.
    """

    n_bits: int
    model: str
    generation: int = 0
    base: int = 0
    next_id: int = 0
    items: Tally = Tally()
    thumbnails: Tally = Tally()
    features: Tally = Tally()
    changes: Tally = Tally()
    prints: Tally = Tally()
    same_files: Tally = Tally()
    removed: Tally = Tally()

    def to_json(self) -> dict[str, Any]:
        """The state as values that JSON can hold."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """Undo `to_json`; TypeError or ValueError if `value` is not a state.

        A state of format 1 has no tally of `changes`. Rows of that log have no checksums, so `base`
        then says that nobody follows it. Before format 3 there were no `prints` and `same_files`,
        before format 4 there was no `removed`.
        """
        facts = dict(value)
        if "changes" not in facts:
            facts |= {"changes": {}, "base": facts["generation"]}
        for name in TABLES:
            facts[name] = Tally(**facts.get(name, {}))
        return cls(**facts)
