"""From evidence to a verdict, by rules that do not know whose claim it is."""

from collections.abc import Sequence

from zshash.experiments.reproduction.report.document import NOT, PARTLY, REPRODUCED, UNDECIDED
from zshash.experiments.reproduction.report.statistics import Correlation, Difference

__all__ = ["by_majority", "by_parts", "is_above_zero"]


def by_parts(parts: Sequence[bool | None]) -> str:
    """Reproduced if all parts of a claim hold, partly if some do; None can not be told.

    >>> by_parts([True, True]), by_parts([True, False]), by_parts([False])
    ('reproduced', 'partly', 'not reproduced')
    >>> by_parts([True, None])
    'undecided'
    """
    if None in parts:
        return UNDECIDED
    return REPRODUCED if all(parts) else PARTLY if any(parts) else NOT


def by_majority(cases: Sequence[bool]) -> str:
    """Reproduced if most cases hold, partly if some do.

    >>> by_majority([True, True, False]), by_majority([True, False, False])
    ('reproduced', 'partly')
    """
    return REPRODUCED if sum(cases) > len(cases) / 2 else PARTLY if any(cases) else NOT


def is_above_zero(value: Correlation | Difference) -> bool | None:
    """Whether the whole 95 % interval is; None where there is none, as with one seed.

    >>> is_above_zero(Difference(0.5, 0.1, 0.9, n=5))
    True
    >>> is_above_zero(Difference(0.5, -0.1, 1.1, n=5))
    False
    """
    return None if value.low is None else value.low > 0
