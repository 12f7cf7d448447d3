"""Claims about methods at several code lengths."""

from collections.abc import Sequence
from itertools import pairwise

from zshash.experiments.reproduction.published import (
    MIRFLICKR_LEAD,
    MIRFLICKR_MAP,
    PRECISION_RELATED,
    RIVALS,
)
from zshash.experiments.reproduction.report.claims.verdicts import by_count, by_parts, not_run
from zshash.experiments.reproduction.report.document import Claim
from zshash.experiments.reproduction.report.findings import Findings
from zshash.experiments.reproduction.report.sections.ablations import difference
from zshash.experiments.reproduction.report.sections.lengths import OURS
from zshash.experiments.reproduction.report.statistics import paired

__all__ = ["cifar10", "imagenet", "mirflickr", "related"]

PAPERS = (OURS, *RIVALS)


def cifar10(found: Findings) -> list[Claim]:
    """What the paper says of CIFAR-10."""
    return [
        _best(found, "map", "ZSH has the best MAP at all code lengths.", all_of_them=True),
        _best(found, "precision", "ZSH has the best precision in most cases.", all_of_them=False),
        _imh(found),
        _saturation(found),
        _deterioration(found),
    ]


def imagenet(found: Findings) -> list[Claim]:
    """What the paper says of ImageNet."""
    return [
        _best(found, "map", "ZSH has the best MAP in most cases.", all_of_them=False),
        _best(found, "precision", "ZSH has the best precision in most cases.", all_of_them=False),
        _saturation(found),
        _deterioration(found),
    ]


def related(found: Findings) -> list[Claim]:
    """What the paper says of related categories."""
    return [
        _best(found, "map_related", "ZSH has the best MAP_related at every code length.", True),
        _related_precision(found),
    ]


def mirflickr(found: Findings) -> list[Claim]:
    """What the paper says of pictures with several labels."""
    return [
        _best(found, "map", "ZSH has the best MAP at all code lengths.", all_of_them=True),
        _lead(found),
        _best(found, "precision", "ZSH has the best precision in most cases.", all_of_them=False),
        _rise_and_fall(found),
    ]


def _best(found: Findings, key: str, statement: str, all_of_them: bool) -> Claim:
    """ZSH against the paper's rivals at every length, by their means."""
    parts, wins = [], []
    for bits in found.along("bits"):
        ours, rivals = found.values(key, method=OURS, bits=bits), _rivals(found, key, bits)
        if len(rivals) < len(RIVALS):
            return not_run(statement)
        name, best = max(rivals.items(), key=lambda item: sum(item[1]) / len(item[1]))
        lead = paired(ours, best)
        wins.append(lead.mean > 0)
        parts.append(f"{bits} bits: {difference(lead)} to {name}")
    least = len(wins) if all_of_them else len(wins) // 2 + 1
    evidence = f"Best of the paper's methods at {sum(wins)} of {len(wins)} lengths. "
    return Claim(statement, by_count(sum(wins), least), evidence + "; ".join(parts) + ".")


def _rivals(found: Findings, key: str, bits: int) -> dict[str, list[float]]:
    ours = len(found.values(key, method=OURS, bits=bits))
    scores = {name: found.values(key, method=name, bits=bits) for name in RIVALS}
    return {name: values for name, values in scores.items() if len(values) == ours and values}


def _means(found: Findings, key: str, method: str) -> dict[int, float]:
    scores = {bits: found.mean(key, method=method, bits=bits) for bits in found.along("bits")}
    return {bits: score for bits, score in scores.items() if score is not None}


def _all_means(found: Findings, key: str, lengths: Sequence[int]) -> dict[str, dict[int, float]]:
    """Of the paper's methods; empty where one of them was not run at one of these lengths."""
    scores = {method: _means(found, key, method) for method in PAPERS}
    complete = all(bits in own for own in scores.values() for bits in lengths)
    return scores if complete else {}


def _imh(found: Findings) -> Claim:
    statement = (
        "IMH, which sees no labels, has a precision that rivals or exceeds that of KSH and SDH."
    )
    scores = {name: _means(found, "precision", name) for name in ("IMH", "KSH", "SDH")}
    lengths = [bits for bits in found.along("bits") if all(bits in own for own in scores.values())]
    if not lengths:
        return not_run(statement)
    above = {
        name: [bits for bits in lengths if scores["IMH"][bits] > scores[name][bits]]
        for name in ("KSH", "SDH")
    }
    evidence = "; ".join(
        f"above {name} at {', '.join(map(str, own)) or 'no'} bits" for name, own in above.items()
    )
    parts = [len(own) > 0 for own in above.values()]
    return Claim(statement, by_parts(parts), evidence + ".")


def _saturation(found: Findings) -> Claim:
    statement = "MAP rises rapidly from 16 to 64 bits for all methods, and slowly from 64 to 128."
    scores = _all_means(found, "map", (16, 64, 128))
    if not scores:
        return not_run(statement)
    gains = {name: (own[64] - own[16], own[128] - own[64]) for name, own in scores.items()}
    parts = [early > 0 and late >= 0 and early > late for early, late in gains.values()]
    evidence = "; ".join(f"{n} {a:+.3f} then {b:+.3f}" for n, (a, b) in gains.items())
    return Claim(statement, by_parts(parts), evidence.replace("-", "−") + ".")


def _deterioration(found: Findings) -> Claim:
    statement = "Precision falls significantly when codes are longer than 64 bits."
    scores = _all_means(found, "precision", (64, 128))
    if not scores:
        return not_run(statement)
    parts = [own[128] < own[64] for own in scores.values()]
    evidence = "; ".join(f"{n} {own[64]:.3f} → {own[128]:.3f}" for n, own in scores.items())
    return Claim(statement, by_parts(parts), f"From 64 to 128 bits: {evidence}.")


def _related_precision(found: Findings) -> Claim:
    listed = ", ".join(f"{value} at {bits} bits" for bits, value in PRECISION_RELATED.items())
    statement = f"Precision_related of ZSH is {listed}, far above the second best method."
    scores = _all_means(found, "precision_related", tuple(PRECISION_RELATED))
    if not scores:
        return not_run(statement)
    parts, texts = [], []
    for bits in PRECISION_RELATED:
        own = {name: means[bits] for name, means in scores.items()}
        name = max(RIVALS, key=own.__getitem__)
        parts.append(own[OURS] > own[name])
        texts.append(f"{bits} bits: {own[OURS]:.4f}, {name} {own[name]:.4f}")
    evidence = "Other data and categories, so only the order can be compared. "
    return Claim(statement, by_parts(parts), evidence + "; ".join(texts) + ".")


def _lead(found: Findings) -> Claim:
    bits, score = next(iter(MIRFLICKR_MAP.items()))
    statement = (
        f"MAP of ZSH keeps rising and reaches {score} at {bits} bits, {MIRFLICKR_LEAD:.0%} above "
        "COSDISH, the second best."
    )
    scores = _all_means(found, "map", (bits,))
    if not scores:
        return not_run(statement)
    ours, theirs = scores[OURS], scores["COSDISH"]
    lead = ours[bits] / theirs[bits] - 1
    others = [own[bits] for name, own in scores.items() if name != OURS]
    rises = all(a <= b for a, b in pairwise(ours.values()))
    parts = [rises, lead >= MIRFLICKR_LEAD, max(others) == theirs[bits] < ours[bits]]
    evidence = (
        f"{', '.join(f'{number} bits {value:.3f}' for number, value in ours.items())}; at {bits} "
        f"bits {lead:+.0%} to COSDISH. Other data, so the score itself can not be compared."
    )
    return Claim(statement, by_parts(parts), evidence.replace("-", "−"))


def _rise_and_fall(found: Findings) -> Claim:
    statement = "Precision rises from 16 to 64 bits and falls from 64 to 128."
    scores = _all_means(found, "precision", (16, 64, 128))
    if not scores:
        return not_run(statement)
    parts = [own[16] < own[64] > own[128] for own in scores.values()]
    evidence = "; ".join(
        f"{name} {own[16]:.3f}, {own[64]:.3f}, {own[128]:.3f}" for name, own in scores.items()
    )
    return Claim(statement, by_parts(parts), f"At 16, 64 and 128 bits: {evidence}.")
