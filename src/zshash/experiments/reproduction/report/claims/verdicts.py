"""From evidence to a verdict, by rules that do not know whose claim it is."""

from collections.abc import Sequence

from zshash.experiments.reproduction.report.document import (
    NOT,
    NOT_RUN,
    PARTLY,
    REPRODUCED,
    Claim,
)

__all__ = ["by_count", "by_interval", "by_parts", "not_run"]


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


def by_interval(middle: float, low: float | None) -> str:
    """Reproduced if a whole 95 % interval is above zero, partly if its middle is.

    >>> by_interval(0.5, 0.1), by_interval(0.5, -0.1), by_interval(-0.2, -0.5)
    ('reproduced', 'partly', 'not reproduced')
    """
    return NOT if not middle > 0 else REPRODUCED if low is not None and low > 0 else PARTLY


def not_run(statement: str) -> Claim:
    """A claim that there are no results for."""
    return Claim(statement, NOT_RUN, "There are no results for it.")
