"""Claims about methods at several code lengths."""

from collections.abc import Callable, Sequence
from itertools import pairwise

from zshash.experiments.reproduction.published import (
    LENGTHS,
    MIRFLICKR_LEAD,
    MIRFLICKR_MAP,
    PRECISION_RELATED,
    RIVALS,
    SUPERVISED,
)
from zshash.experiments.reproduction.report.claims.verdicts import (
    by_majority,
    by_parts,
    is_above_zero,
)
from zshash.experiments.reproduction.report.findings import Findings
from zshash.experiments.reproduction.report.measures import OURS
from zshash.experiments.reproduction.report.statistics import signed

__all__ = ["CIFAR10", "IMAGENET", "MIRFLICKR", "RELATED"]

Check = Callable[[Findings], tuple[str, str]]


def best(key: str, rivals: Sequence[str], *, in_most: bool = False) -> Check:
    """Ours is ahead of the paper's rivals, by its mean: at all lengths, or at most of them."""

    def check(found: Findings) -> tuple[str, str]:
        wins, texts = [], []
        for bits in LENGTHS:
            means = {name: found.need(key, method=name, bits=bits) for name in rivals}
            name = max(means, key=means.__getitem__)
            lead = found.gain(key, {"method": OURS}, {"method": name}, bits=bits)
            wins.append(lead.mean > 0)
            texts.append(f"{bits} bits: {signed(lead)} to {name}")
        verdict = by_majority(wins) if in_most else by_parts(wins)
        count = f"Ahead of {', '.join(rivals)} at {sum(wins)} of {len(wins)} lengths"
        return verdict, f"{count}. {'; '.join(texts)}."

    return check


def imh(found: Findings) -> tuple[str, str]:
    """IMH is above KSH, and above SDH, at most lengths."""
    verdicts, texts = [], []
    for name in ("KSH", "SDH"):
        above = [
            bits
            for bits in LENGTHS
            if found.need("precision", method="IMH", bits=bits)
            > found.need("precision", method=name, bits=bits)
        ]
        verdicts.append(len(above) > len(LENGTHS) / 2)
        texts.append(f"above {name} at {', '.join(map(str, above)) or 'no'} bits")
    return by_parts(verdicts), "; ".join(texts) + "."


def saturation(methods: Sequence[str]) -> Check:
    """MAP gains more from 16 to 64 bits than from 64 to 128, where it does not fall."""

    def check(found: Findings) -> tuple[str, str]:
        parts, texts = [], []
        for name in methods:
            low, middle, high = (found.need("map", method=name, bits=n) for n in (16, 64, 128))
            parts.append(middle - low > high - middle >= 0)
            texts.append(f"{name} {middle - low:+.3f} then {high - middle:+.3f}")
        return by_parts(parts), "; ".join(texts).replace("-", "−") + "."

    return check


def deterioration(methods: Sequence[str]) -> Check:
    """Precision falls from 64 bits to 128, by more than its interval."""

    def check(found: Findings) -> tuple[str, str]:
        falls = {
            name: found.gain("precision", {"bits": 64}, {"bits": 128}, method=name)
            for name in methods
        }
        texts = [f"{name} {signed(fall)}" for name, fall in falls.items()]
        parts = [is_above_zero(fall) for fall in falls.values()]
        return by_parts(parts), f"At 64 bits, to 128: {'; '.join(texts)}."

    return check


def rise_and_fall(methods: Sequence[str]) -> Check:
    """Precision is higher at 64 bits than at 16 and at 128."""

    def check(found: Findings) -> tuple[str, str]:
        parts, texts = [], []
        for name in methods:
            own = [found.need("precision", method=name, bits=bits) for bits in (16, 64, 128)]
            parts.append(own[0] < own[1] > own[2])
            texts.append(f"{name} {', '.join(f'{value:.3f}' for value in own)}")
        return by_parts(parts), f"At 16, 64 and 128 bits: {'; '.join(texts)}."

    return check


def far_above(found: Findings) -> tuple[str, str]:
    """Precision of related categories is above the second best by more than its interval."""
    parts, texts = [], []
    for bits in PRECISION_RELATED:
        means = {n: found.need("precision_related", method=n, bits=bits) for n in SUPERVISED}
        name = max(means, key=means.__getitem__)
        ours = found.need("precision_related", method=OURS, bits=bits)
        lead = found.gain("precision_related", {"method": OURS}, {"method": name}, bits=bits)
        parts.append(is_above_zero(lead))
        texts.append(f"{bits} bits: {ours:.4f}, to {name} {signed(lead)}")
    return by_parts(parts), f"Other data: only the order can be compared. {'; '.join(texts)}."


def growth_and_lead(found: Findings) -> tuple[str, str]:
    """MAP of every method grows with the length, and ours leads as in the paper at the end."""
    means = {
        name: [found.need("map", method=name, bits=bits) for bits in LENGTHS]
        for name in (OURS, *RIVALS)
    }
    grow = [name for name, own in means.items() if all(a <= b for a, b in pairwise(own))]
    last = {name: own[-1] for name, own in means.items()}
    lead = last[OURS] / last["COSDISH"] - 1
    order = sorted(last, key=last.__getitem__, reverse=True)
    parts = [len(grow) == len(means), lead >= MIRFLICKR_LEAD, order[:2] == [OURS, "COSDISH"]]
    listed = ", ".join(f"{name} {last[name]:.3f}" for name in order)
    evidence = (
        f"Growing at every step: {', '.join(grow) or 'none'}. At {LENGTHS[-1]} bits: {listed}; ZSH "
        f"{lead:+.0%} to COSDISH. Other data: the score itself can not be compared."
    )
    return by_parts(parts), evidence.replace("-", "−")


IN_PAPER = (OURS, *RIVALS)
ON_IMAGENET = (OURS, *SUPERVISED)
MOST_PRECISION = "ZSH has the best precision in most cases."
SATURATION = "MAP rises rapidly from 16 to 64 bits for all methods, and slowly from 64 to 128."
DETERIORATION = "Precision falls significantly when codes are longer than 64 bits."
RISE_AND_FALL = "Precision rises from 16 to 64 bits and falls from 64 to 128."

CIFAR10: dict[str, Check] = {
    "ZSH has the best MAP at all code lengths.": best("map", RIVALS),
    MOST_PRECISION: best("precision", RIVALS, in_most=True),
    "IMH, which sees no labels, has a precision that rivals or exceeds that of KSH and SDH.": imh,
    SATURATION: saturation(IN_PAPER),
    DETERIORATION: deterioration(IN_PAPER),
    RISE_AND_FALL: rise_and_fall(IN_PAPER),
}
IMAGENET: dict[str, Check] = {
    "ZSH has the best MAP in most cases.": best("map", SUPERVISED, in_most=True),
    MOST_PRECISION: best("precision", SUPERVISED, in_most=True),
    SATURATION: saturation(ON_IMAGENET),
    DETERIORATION: deterioration(ON_IMAGENET),
    RISE_AND_FALL: rise_and_fall(ON_IMAGENET),
}
RELATED: dict[str, Check] = {
    "ZSH has the best MAP_related at every code length.": best("map_related", SUPERVISED),
    "Precision_related of ZSH is "
    + ", ".join(f"{value} at {bits} bits" for bits, value in PRECISION_RELATED.items())
    + ", significantly above the second best method.": far_above,
}
MIRFLICKR: dict[str, Check] = {
    "ZSH has the best MAP at all code lengths.": best("map", RIVALS),
    "MAP of each method keeps rising with the length; that of ZSH reaches "
    + ", ".join(f"{value} at {bits} bits" for bits, value in MIRFLICKR_MAP.items())
    + f", {MIRFLICKR_LEAD:.0%} above COSDISH, the second best.": growth_and_lead,
    MOST_PRECISION: best("precision", RIVALS, in_most=True),
    RISE_AND_FALL: rise_and_fall(IN_PAPER),
}
