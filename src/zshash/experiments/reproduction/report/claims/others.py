"""Claims about convergence, categories, sizes, and parts of the method."""

from itertools import pairwise
from pathlib import Path
from typing import Any

from zshash.experiments.reproduction.published import (
    FIRST_OBJECTIVE,
    RIVALS,
    SIMILARITY_AND_MAP,
)
from zshash.experiments.reproduction.report.claims.verdicts import (
    by_parts,
    is_above_zero,
    not_run,
)
from zshash.experiments.reproduction.report.document import Claim
from zshash.experiments.reproduction.report.findings import Findings
from zshash.experiments.reproduction.report.sections.ablations import difference, spread_of_starts
from zshash.experiments.reproduction.report.sections.categories import (
    ONE_HOT,
    interval,
    similarities,
    vectors_of,
)
from zshash.experiments.reproduction.report.sections.curves import at_iteration, share_seen
from zshash.experiments.reproduction.report.sections.lengths import OURS
from zshash.experiments.reproduction.report.statistics import correlation, mean, paired
from zshash.experiments.reproduction.tasks.alignment import ROTATIONS

__all__ = [
    "alignment",
    "convergence",
    "exemplars",
    "seen_ratio",
    "structure",
    "training_size",
    "unseen_category",
]


def convergence(found: Findings) -> list[Claim]:
    """Every update lowers the objective, most within ten iterations."""
    falls = "The objective falls in every iteration."
    quick = (
        f"It starts at roughly {FIRST_OBJECTIVE:,}, falls dramatically within 10 iterations and is "
        "stable at the 20th."
    )
    curves: list[Any] = found.values("objective")
    if not curves:
        return [not_run(falls), not_run(quick)]
    rises = sum(b > a for curve in curves for a, b in pairwise(curve))
    default: list[Any] = found.values("objective", parameters=found.along("parameters")[0])
    first, tenth, twentieth = (mean(at_iteration(default, step)) for step in (1, 10, 20))
    end = mean([curve[-1] for curve in default])
    early = (first - tenth) / (first - end) if first > end else 0.0
    near = abs(first - FIRST_OBJECTIVE) < 0.1 * FIRST_OBJECTIVE
    stable = abs(twentieth - end) <= 0.01 * end
    evidence = (
        f"From the default start {first:,.0f} after the first iteration and {end:,.0f} at the end; "
        f"{early:.1%} of the fall within 10 iterations. Codes repeat, and the fit ends, after "
        f"{max(map(len, default))} iterations at most."
    )
    return [
        Claim(falls, by_parts([rises == 0]), f"{rises} rises in {len(curves)} fits."),
        Claim(quick, by_parts([near, early > 0.9, stable]), evidence),
    ]


def unseen_category(found: Findings) -> list[Claim]:
    """Similarity of names and retrieval, word vectors and 0/1 labels."""
    cosines, vectors = similarities(found), vectors_of(found)
    scores = {name: found.mean("map", unseen=(name,), labels=vectors) for name in cosines}
    own = {name: score for name, score in scores.items() if score is not None}
    statement = "MAP is positively related to a category's average cosine similarity to the others."
    if len(own) < 4:
        return [not_run(statement)]
    ours = correlation([cosines[name] for name in own], list(own.values()))
    theirs = correlation(*zip(*SIMILARITY_AND_MAP.values(), strict=True))
    evidence = f"r = {interval(ours)}; the paper's own ten pairs give {interval(theirs)}."
    return [
        _cosines(cosines),
        Claim(statement, by_parts([is_above_zero(ours)]), evidence),
        _peaks(own),
        *(
            _vectors_win(found, key, text)
            for key, text in (("map", "MAP"), ("precision", "precision"))
        ),
    ]


def _cosines(cosines: dict[str, float]) -> Claim:
    same = [
        name
        for name, (value, _) in SIMILARITY_AND_MAP.items()
        if name in cosines and f"{cosines[name]:.4f}" == f"{value:.4f}"
    ]
    statement = "The average cosine similarities of the ten names."
    total = len(SIMILARITY_AND_MAP)
    return Claim(
        statement,
        by_parts([name in same for name in SIMILARITY_AND_MAP]),
        f"{len(same)} of {total} equal the paper's in all four digits.",
    )


def _peaks(scores: dict[str, float]) -> Claim:
    order = sorted(scores, key=lambda name: scores[name])
    statement = "MAP peaks with *bird* unseen and is lowest with *automobile*."
    evidence = (
        f"Highest {order[-1]} ({scores[order[-1]]:.3f}), lowest {order[0]} ({scores[order[0]]:.3f})"
    )
    for name in ("bird", "automobile"):
        if name in scores:
            evidence += f"; {name} {scores[name]:.3f}"
    return Claim(
        statement, by_parts([order[-1] == "bird", order[0] == "automobile"]), evidence + "."
    )


def _vectors_win(found: Findings, key: str, title: str) -> Claim:
    """Over categories, each by its mean over seeds."""
    statement = f"Word vectors are obviously better than 0/1 labels in {title}."
    vectors = vectors_of(found)
    pairs = [
        (
            found.mean(key, unseen=unseen, labels=vectors),
            found.mean(key, unseen=unseen, labels=ONE_HOT),
        )
        for unseen in found.along("unseen")
    ]
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    if len(known) < 2:
        return not_run(statement)
    lead = paired([a for a, _ in known], [b for _, b in known])
    wins = sum(a > b for a, b in known)
    evidence = f"Better for {wins} of {len(known)} categories; on average {difference(lead)}."
    return Claim(statement, by_parts([is_above_zero(lead)]), evidence)


def seen_ratio(found: Findings) -> list[Claim]:
    """More seen categories, better retrieval."""
    shares = share_seen(found)
    return [
        *(
            _grows_with(found, key, title, shares)
            for key, title in (("map", "MAP"), ("precision", "Precision"))
        ),
        _leap(found, {share: number for number, share in shares.items()}),
    ]


def _grows_with(found: Findings, key: str, title: str, shares: dict[int, float]) -> Claim:
    statement = f"{title} rises with the share of categories that is seen."
    x, y = [], []
    for number, share in shares.items():
        values = found.values(key, unseen=number)
        x += [share] * len(values)
        y += values
    if len(set(x)) < 2:
        return not_run(statement)
    over_runs = correlation(x, y)
    evidence = f"Over all runs r = {interval(over_runs)}."
    return Claim(statement, by_parts([is_above_zero(over_runs)]), evidence)


def _leap(found: Findings, numbers: dict[float, int]) -> Claim:
    statement = "A dramatic leap from 0.1 to 0.3, then a slight rise to 0.9."
    if not all(share in numbers for share in (0.1, 0.3, 0.9)):
        return not_run(statement)
    parts, texts = [], []
    for key, title in (("map", "MAP"), ("precision", "precision")):
        low, middle, high = (found.mean(key, unseen=numbers[share]) for share in (0.1, 0.3, 0.9))
        if low is None or middle is None or high is None:
            return not_run(statement)
        parts.append(middle - low > high - middle > 0)
        texts.append(f"{title} {low:.3f}, {middle:.3f}, {high:.3f}")
    return Claim(statement, by_parts(parts), f"At 0.1, 0.3 and 0.9: {'; '.join(texts)}.")


def training_size(found: Findings) -> list[Claim]:
    """More training pictures, up to ten thousand."""
    statement = (
        "Precision rises rapidly from 1,000 to 10,000 training pictures, and not noticeably beyond."
    )
    least, middle, most = 1000, 10_000, 50_000
    values = {size: found.values("precision", n_train=size) for size in (least, middle, most)}
    if not all(values.values()):
        return [not_run(statement)]
    early = paired(values[middle], values[least])
    late = paired(values[most], values[middle])
    parts = [
        is_above_zero(early),
        late.low is not None and late.high is not None and late.low <= 0 <= late.high,
    ]
    evidence = f"1,000 to 10,000: {difference(early)}; 10,000 to 50,000: {difference(late)}."
    return [Claim(statement, by_parts(parts), evidence)]


def exemplars(found: Findings) -> list[Claim]:
    """Who shows the most right pictures."""
    statement = "ZSH returns the most right pictures among the first 15, followed by COSDISH."
    scores = {name: found.mean("precision_at", method=name) for name in found.along("method")}
    own = {n: score for n, score in scores.items() if score is not None and n in (OURS, *RIVALS)}
    if OURS not in own:
        return [not_run(statement)]
    order = sorted(own, key=lambda name: -own[name])
    evidence = ", ".join(f"{name} {own[name]:.3f}" for name in order)
    parts = [order[0] == OURS, order[:2] == [OURS, "COSDISH"]]
    return [Claim(statement, by_parts(parts), f"Share that is right, all queries: {evidence}.")]


def alignment(found: Findings) -> list[Claim]:
    """What the rotation does."""
    statement = "Rotating the embedding (R) makes the supervision fit better."
    with_r, without = (found.values(name, "map") for name in ("procrustes", "none"))
    shares = [share for name in ROTATIONS for share in found.values(name, "same_bits")]
    if not with_r or len(with_r) != len(without):
        return [not_run(statement)]
    lead = paired(with_r, without)
    groups = [mean(group) for group in spread_of_starts(found)]
    evidence = (
        f"MAP with R, to without: {difference(lead)}, from the same starts; at least "
        f"{min(shares):.4%} of the bits are the same with R in closed form, by the paper's "
        "curvilinear search, and without it."
    )
    if groups:
        evidence += f" Groups of starts differ by up to {max(groups) - min(groups):.3f}."
    return [Claim(statement, by_parts([is_above_zero(lead)]), evidence)]


def structure(found: Findings) -> list[Claim]:
    """What the Laplacian term does."""
    statement = "Keeping local structure (the Laplacian term) makes codes better."
    parts, texts = [], []
    for data in found.along("data"):
        for key, title in (("map", "MAP"), ("precision", "precision")):
            with_term = found.values(key, data=data, parameters={})
            without = found.values(key, data=data, parameters={"graph": None})
            if not with_term or len(with_term) != len(without):
                return [not_run(statement)]
            lead = paired(with_term, without)
            parts.append(is_above_zero(lead))
            texts.append(f"{Path(data).stem}, {title} {difference(lead)}")
    return [Claim(statement, by_parts(parts), f"Paired by seed: {'; '.join(texts)}.")]
