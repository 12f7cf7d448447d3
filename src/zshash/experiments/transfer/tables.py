"""A function for each section of the report: findings → tables."""

from collections.abc import Iterator, Sequence
from statistics import fmean

from zshash.experiments.reproduction.report.document import Table
from zshash.experiments.transfer.figure import tradeoffs
from zshash.experiments.transfer.rows import (
    Column,
    Row,
    Splits,
    against,
    difference,
    mean_of,
    number,
    on_same_cells,
    only,
    share,
    signed,
    t_of,
)
from zshash.experiments.transfer.setups import (
    ABLATIONS,
    AMONG_HIDDEN,
    BASELINE,
    BEST,
    CENTRED,
    COSINES,
    FAST,
    LOOKUP,
    MEANING,
    RIVALS,
    SIZED,
    TRADEOFF,
    WHITENABLE,
    WHITENED,
    ZSH_ABLATIONS,
    Setup,
    trained_on,
)
from zshash.experiments.transfer.splits import DEVELOPMENT, FRESH, SOURCES
from zshash.experiments.transfer.statistics import Findings, Paired, Scores, paired

__all__ = [
    "ablations",
    "all_seen",
    "asymmetric",
    "centred",
    "comparison",
    "cosines",
    "fresh_comparison",
    "hidden",
    "lookup",
    "naming",
    "related",
    "seconds",
    "sizes",
    "summary",
    "tradeoff",
    "whitening",
    "zsh",
]

OTHERS = (FAST.name, *RIVALS)
ALL_SPLITS, FRESH_SPLITS = None, tuple(FRESH)
KINDS = {"all": ALL_SPLITS, "development": tuple(DEVELOPMENT), "fresh": FRESH_SPLITS}
NAMING = {"map": "MAP", "map_rule": "MAP, rule", "accuracy": "accuracy"}


def summary(found: Findings) -> list[Table]:
    """MTH against the rival that comes nearest to it."""
    return _hardest(found, "MAP")


def _hardest(found: Findings, what: str, *, all_seen: bool = False) -> list[Table]:
    """On all splits, on those looked at while MTH was made, and on the others."""
    head = ["data", "bits", "splits", "cells", BEST.name, "hardest rival", "its MAP"]
    head += ["MTH − it", "gain", "lost", "t"]
    rows = []
    for data, bits in _lengths(found, all_seen=all_seen):
        for told, splits in KINDS.items():
            rivals = _rivals(found, data, bits, splits=splits, all_seen=all_seen)
            if rivals:
                name, hardest = min(rivals, key=lambda rival: rival[1].difference)
                own = hardest.theirs + hardest.difference
                figures = [number(own), name, number(hardest.theirs)]
                where = [SOURCES[data].title, str(bits), told, str(hardest.n)]
                rows.append([*where, *figures, *difference(hardest)])
    caption = (
        f"{what}; the hardest rival is that with the smallest mean difference, on shared cells."
    )
    return [Table(head, rows, caption, numbers_from=3)] if rows else []


def comparison(found: Findings) -> list[Table]:
    """Every method, on all splits."""
    return [*_comparisons(found, ALL_SPLITS)]


def fresh_comparison(found: Findings) -> list[Table]:
    """Every method, on fresh splits."""
    return [*_comparisons(found, FRESH_SPLITS)]


def _comparisons(found: Findings, splits: Splits) -> Iterator[Table]:
    for data, bits in _lengths(found):
        caption = f"{_place(data, bits)}: MAP on the cells that MTH has, too."
        yield from against(found, data, bits, BEST.name, OTHERS, caption, splits=splits)


def cosines(found: Findings) -> list[Table]:
    """MAP of features themselves."""
    rows = [
        [SOURCES[data].title, setup.name, *mean_of(scores)]
        for data in found.data
        for setup in COSINES
        if (scores := found.scores(data, setup.name, None))
    ]
    caption = "MAP by the cosine of features, as they are and in MTH’s metric."
    return [Table(["data", "features", "cells", "MAP"], rows, caption, 2)] if rows else []


def asymmetric(found: Findings) -> list[Table]:
    """MAP with real-valued queries, and what share of the cosines' it is."""
    tables: list[Table] = []
    for data, bits in _lengths(found):
        beside = {"MAP": on_same_cells(found, data, bits)}
        beside |= {f"of {setup.name}": _share_of(found, data, setup.name) for setup in COSINES[:2]}
        caption = f"{_place(data, bits)}: shares of a cosine’s MAP on those cells that have it."
        key = "map_asymmetric"
        tables += against(found, data, bits, BEST.name, OTHERS, caption, key=key, beside=beside)
    return tables


def _share_of(found: Findings, data: str, cosine: str) -> Column:
    whole = found.scores(data, cosine, None)
    return lambda _, scores: share(scores, whole)


def lookup(found: Findings) -> list[Table]:
    """Precision within radius 2."""
    tables: list[Table] = []
    for data, bits in _lengths(found, LOOKUP.name):
        names, beside = (BEST.name, *OTHERS), {"MAP": on_same_cells(found, data, bits)}
        caption = f"{_place(data, bits)}: precision within radius 2, and MAP on the same cells."
        key = "precision"
        tables += against(found, data, bits, LOOKUP.name, names, caption, key=key, beside=beside)
    return tables


def tradeoff(found: Findings) -> list[Table]:
    """The points of the figure."""
    return [
        Table(
            ["", "precision", "MAP"],
            [[name, *map(number, point)] for name, point in (own.ours | own.theirs).items()],
            f"{own.title}: means over the cells that all variants of MTH have ({own.n}); who lacks "
            "one is left out.",
        )
        for own in tradeoffs(found)
    ]


def related(found: Findings) -> list[Table]:
    """Mean precision of related categories."""
    tables: list[Table] = []
    for data, bits in _lengths(found, MEANING.name):
        caption = (
            f"{_place(data, bits)}: MAP of other categories within 5 hops of WordNet at 5,000, and "
            "that of the query’s own on the same cells."
        )
        names, beside = (BEST.name, *OTHERS), {"MAP": on_same_cells(found, data, bits)}
        key = "map_related"
        tables += against(found, data, bits, MEANING.name, names, caption, key=key, beside=beside)
    return tables


def naming(found: Findings) -> list[Table]:
    """Search by name: both methods, and their difference."""
    head = ["vectors", "", "cells", *NAMING.values()]
    tables = []
    for data in found.data:
        rows = [row for source in found.name_sources(data) for row in _named(found, data, source)]
        caption = (
            f"{SOURCES[data].title}: MAP of hidden names by cosine and by the rule of collections, "
            "and accuracy among hidden names."
        )
        tables += [Table(head, rows, caption, numbers_from=2)] if rows else []
    return tables


def _named(found: Findings, data: str, source: str) -> Iterator[Row]:
    """Rows of one source of vectors, at all lengths of codes."""
    names = (BEST.name, "ZSH")
    for bits in sorted({bits for name in names for bits in found.bits(data, name, names=source)}):
        sides = [
            [found.scores(data, name, bits, key, names=source) for key in NAMING] for name in names
        ]
        for name, scores in zip(names, sides, strict=True):
            if scores[0]:
                yield [source, name, str(len(scores[0])), *(mean_of(own)[1] for own in scores)]
        pairs = [
            pair for ours, theirs in zip(*sides, strict=True) if (pair := paired(ours, theirs))
        ]
        if pairs:
            yield [source, "MTH − ZSH", str(pairs[0].n), *map(signed, pairs)]


def all_seen(found: Findings) -> list[Table]:
    """Trained on all samples that are not hidden."""
    tables = _hardest(found, "MAP, trained on all seen samples", all_seen=True)
    for data, bits in _lengths(found, all_seen=True):
        caption = f"{_place(data, bits)}, trained on all seen samples: MAP."
        tables += against(found, data, bits, BEST.name, tuple(RIVALS), caption, all_seen=True)
    return tables


def ablations(found: Findings) -> list[Table]:
    """What a change of MTH does."""
    return _changes(found, BASELINE, (*ABLATIONS, *TRADEOFF[1:]))


def zsh(found: Findings) -> list[Table]:
    """What a change of ZSH does."""
    return _changes(found, RIVALS["ZSH"], ZSH_ABLATIONS)


def _changes(found: Findings, baseline: Setup, changed: Sequence[Setup]) -> list[Table]:
    """Setups against one they are variants of."""
    head = ["", "cells", "MAP", "change", "t", "precision", "change"]
    tables = []
    for data, bits in _lengths(found, changed[0].name):
        rows = []
        for setup in changed:
            pairs = [
                paired(
                    found.scores(data, setup.name, bits, key),
                    found.scores(data, baseline.name, bits, key),
                )
                for key in ("map", "precision")
            ]
            ranked, precise = pairs
            if ranked and precise:
                figures = [number(ranked.theirs + ranked.difference), signed(ranked), t_of(ranked)]
                figures += [number(precise.theirs + precise.difference), signed(precise)]
                rows.append([setup.name, str(ranked.n), *figures])
        compared = {cell for setup in changed for cell in found.scores(data, setup.name, bits)}
        own = [
            only(found.scores(data, baseline.name, bits, key), compared)
            for key in ("map", "precision")
        ]
        cells, ranking = mean_of(own[0])
        first = [baseline.name, cells, ranking, "–", "–", mean_of(own[1])[1], "–"]
        caption = f"{_place(data, bits)}: changes against {baseline.name}."
        tables.append(Table(head, [first, *rows], caption))
    return tables


def sizes(found: Findings) -> list[Table]:
    """More and fewer training samples."""
    tables = []
    for data, bits in _lengths(found, BASELINE.name):
        by_size = {setup.name: _by_size(found, data, bits, setup) for setup in SIZED}
        numbers = sorted({size for scores in by_size.values() for size in scores})
        rows = []
        for name, scores in by_size.items():
            shared = set.intersection(*map(set, scores.values())) if scores else set()
            if len(scores) == len(numbers) and shared:
                means = (mean_of(only(scores[size], shared))[1] for size in numbers)
                rows.append([name, str(len(shared)), *means])
        head = ["samples", "cells", *(f"{size:,}" for size in numbers)]
        caption = f"{_place(data, bits)}: MAP by the number of training samples."
        tables += [Table(head, rows, caption)] if rows and len(numbers) > 1 else []
    return tables


def _by_size(found: Findings, data: str, bits: int, setup: Setup) -> dict[int, Scores]:
    """Scores of a setup by its training samples."""
    own = dict.fromkeys(found.sizes(data, setup.name), setup.name)
    own |= {size: trained_on(setup, size).name for size in found.sizes(data) if size not in own}
    by_size = {size: found.scores(data, name, bits) for size, name in own.items()}
    return {size: scores for size, scores in by_size.items() if scores}


def whitening(found: Findings) -> list[Table]:
    """Other methods in the metric that MTH learns, or a like one."""
    tables: list[Table] = []
    for data, bits in _lengths(found, WHITENED[0].name):
        names = (FAST.name, *(setup.name for setup in WHITENED), *WHITENABLE)
        caption = f"{_place(data, bits)}: MAP of codes of whitened features."
        tables += against(found, data, bits, BEST.name, names, caption)
    return tables


def centred(found: Findings) -> list[Table]:
    """Features with another origin."""
    return _elsewhere(found, CENTRED, "MAP where the mean of the training samples is the origin")


def hidden(found: Findings) -> list[Table]:
    """Search where everything is new."""
    return _elsewhere(found, AMONG_HIDDEN, "MAP in a database of hidden categories alone")


def _elsewhere(found: Findings, setups: Sequence[Setup], what: str) -> list[Table]:
    """The first of some setups against the others."""
    leader, *others = (setup.name for setup in setups)
    tables: list[Table] = []
    for data, bits in _lengths(found, leader):
        tables += against(found, data, bits, leader, others, f"{_place(data, bits)}: {what}.")
    return tables


def seconds(found: Findings) -> list[Table]:
    """How long fits took."""
    rows = []
    for data, bits in _lengths(found):
        for name in (BEST.name, *OTHERS):
            for where in ("CPU", "GPU"):
                own = Findings([r for r in found.records if r.get("trained_on") == where])
                scores = own.scores(data, name, bits, "fit_seconds")
                if scores:
                    mean = f"{fmean(scores.values()):.1f}"
                    rows.append(
                        [SOURCES[data].title, str(bits), name, where, str(len(scores)), mean]
                    )
    head = ["data", "bits", "", "trained on", "cells", "seconds"]
    caption = (
        "Means; other fits shared the CPU, and the GPU, so that they tell an order of magnitude."
    )
    return [Table(head, rows, caption, numbers_from=4)] if rows else []


def _rivals(
    found: Findings, data: str, bits: int, *, splits: Splits, all_seen: bool
) -> list[tuple[str, Paired]]:
    """MTH against every rival that it shares cells with."""
    ours, *others = (
        found.scores(data, name, bits, splits=splits, all_seen=all_seen)
        for name in (BEST.name, *RIVALS)
    )
    pairs = ((name, paired(ours, theirs)) for name, theirs in zip(RIVALS, others, strict=True))
    return [(name, pair) for name, pair in pairs if pair]


def _lengths(
    found: Findings, setup: str = BEST.name, *, all_seen: bool = False
) -> list[tuple[str, int]]:
    """Data sets, and lengths of codes at which a setup was run."""
    return [
        (data, bits) for data in found.data for bits in found.bits(data, setup, all_seen=all_seen)
    ]


def _place(data: str, bits: int) -> str:
    return f"{SOURCES[data].title}, {bits} bits"
