"""From evidence to a verdict, by rules that do not know whose claim it is."""

from collections.abc import Sequence

from zshash.experiments.reproduction.report.document import (
    NOT,
    NOT_RUN,
    PARTLY,
    REPRODUCED,
    Claim,
)
from zshash.experiments.reproduction.report.statistics import Correlation, Difference

__all__ = ["by_count", "by_parts", "is_above_zero", "not_run"]


def by_parts(parts: Sequence[bool]) -> str:
    """Reproduced if all parts of a claim hold, partly if some do.

    >>> by_parts([True, True]), by_parts([True, False]), by_parts([False])
    ('reproduced', 'partly', 'not reproduced')
    """
    return REPRODUCED if all(parts) else PARTLY if any(parts) else NOT


def by_count(number: int, least: int) -> str:
    """Reproduced if enough cases hold, partly if some do.

    >>> by_count(3, 3), by_count(2, 3), by_count(0, 3)
    ('reproduced', 'partly', 'not reproduced')
    """
    return REPRODUCED if number >= least else PARTLY if number else NOT


def is_above_zero(value: Correlation | Difference) -> bool:
    """Whether the whole 95 % interval is.

    >>> is_above_zero(Difference(0.5, 0.1, 0.9, n=5))
    True
    >>> is_above_zero(Difference(0.5, -0.1, 1.1, n=5))
    False
    """
    return value.low is not None and value.low > 0


def not_run(statement: str) -> Claim:
    """A claim that there are no results for."""
    return Claim(statement, NOT_RUN, "There are no results for it.")
