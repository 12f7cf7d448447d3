"""Verdicts on the claims of a paper, by rules that are the same for every claim."""

from collections.abc import Sequence

from zshash.evaluation.report.document import (
    NOT,
    NOT_RUN,
    PARTLY,
    REPRODUCED,
    UNDECIDED,
    Claim,
)
from zshash.evaluation.statistics import Correlation, Difference
from zshash.studies.findings import Findings, Missing

__all__ = ["by_majority", "by_parts", "is_above_zero", "judge"]


def judge(found: Findings) -> list[Claim]:
    """Verdicts on an experiment's claims; none for a small version or a user's experiment."""
    experiment, about = found.experiment, found.experiment.about
    if about is None or experiment.quick:
        return []
    judged = []
    for statement, check in about.claims.items():
        try:
            if experiment.changes.bits and not about.at_all_lengths:
                raise Missing
            verdict, evidence = check(found)
        except Missing:
            verdict, evidence = NOT_RUN, "Not all that it takes has been run."
        judged.append(Claim(statement, verdict, evidence))
    return judged


def by_parts(parts: Sequence[bool | None]) -> str:
    """The verdict: reproduced if all parts of a claim hold, partly if some do; None is undecided.

    >>> by_parts([True, True]), by_parts([True, False]), by_parts([False])
    ('reproduced', 'partly', 'not reproduced')
    >>> by_parts([True, None])
    'undecided'
    """
    if None in parts:
        return UNDECIDED
    return REPRODUCED if all(parts) else PARTLY if any(parts) else NOT


def by_majority(cases: Sequence[bool]) -> str:
    """The verdict: reproduced if most cases hold, partly if some do.

    >>> by_majority([True, True, False]), by_majority([True, False, False])
    ('reproduced', 'partly')
    """
    return REPRODUCED if sum(cases) > len(cases) / 2 else PARTLY if any(cases) else NOT


def is_above_zero(value: Correlation | Difference) -> bool | None:
    """Whether the whole 95 % interval is above zero; None without an interval, as for one seed.

    >>> is_above_zero(Difference(0.5, 0.1, 0.9, n=5))
    True
    >>> is_above_zero(Difference(0.5, -0.1, 1.1, n=5))
    False
    """
    return None if value.low is None else value.low > 0
