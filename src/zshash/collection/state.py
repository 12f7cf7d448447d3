"""What a catalogue says of itself, in the same transaction as the rows that it speaks of."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

__all__ = ["State", "Tally"]

MODULUS = 2**64


@dataclass(frozen=True)
class Tally:
    """How many rows a table has, and the sum of their checksums: none is lost without a trace.

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
    """Where a catalogue stands.

    Attributes
    ----------
    n_bits : int
        Length of the codes.
    model : str
        The sha256 of the model's file.
    generation : int
        One more with each transaction that changes items.
    base : int
        The generation since which `changes` lists every row that was changed or removed.
    next_id : int
        Of the next item; ids are never given twice.
    items, thumbnails, features : Tally
        Of the rows of these tables.
    """

    n_bits: int
    model: str
    generation: int = 0
    base: int = 0
    next_id: int = 0
    items: Tally = Tally()
    thumbnails: Tally = Tally()
    features: Tally = Tally()

    def to_json(self) -> dict[str, Any]:
        """Ready to be stored."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """Undo `to_json`; TypeError or ValueError where `value` is nothing of the kind."""
        facts = dict(value)
        for name in ("items", "thumbnails", "features"):
            facts[name] = Tally(**facts[name])
        return cls(**facts)
