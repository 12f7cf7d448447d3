"""More and fewer training samples."""

from zshash.evaluation.report.document import Table
from zshash.studies.mth2026.cells import Cells, Part, Size, searches
from zshash.studies.mth2026.findings import Findings, Scores
from zshash.studies.mth2026.rows import lengths, mean_of, only, place
from zshash.studies.mth2026.setups import BASELINE, EXAMPLES, RIVALS, Setup, trained_on

SIZED = (BASELINE, *(RIVALS[name] for name in EXAMPLES))  # trained on fewer and more samples


def cells(size: Size) -> Cells:
    """A few methods with as many training samples as usual, with fewer and with more."""
    for setup in SIZED:
        for sized in (setup, *(trained_on(setup, size) for size in size.sizes)):
            yield from searches(size, sized, size.main, size.ablated)


def show(found: Findings) -> list[Table]:
    """Tables of MAP by the number of training samples."""
    tables = []
    for data, bits in lengths(found, BASELINE.name):
        by_size = {setup.name: _by_size(found, data, bits, setup) for setup in SIZED}
        numbers = sorted({size for scores in by_size.values() for size in scores})
        rows = []
        for name, scores in by_size.items():
            shared = set.intersection(*map(set, scores.values())) if scores else set()
            if len(scores) == len(numbers) and shared:
                means = (mean_of(only(scores[size], shared))[1] for size in numbers)
                rows.append([name, str(len(shared)), *means])
        head = ["samples", "cells", *(f"{size:,}" for size in numbers)]
        caption = f"{place(data, bits)}: MAP by the number of training samples."
        tables += [Table(head, rows, caption)] if rows and len(numbers) > 1 else []
    return tables


def _by_size(found: Findings, data: str, bits: int, setup: Setup) -> dict[int, Scores]:
    """Scores of a setup by its number of training samples."""
    own = dict.fromkeys(found.sizes(data, setup.name), setup.name)
    own |= {size: trained_on(setup, size).name for size in found.sizes(data) if size not in own}
    by_size = {size: found.scores(data, name, bits) for size, name in own.items()}
    return {size: scores for size, scores in by_size.items() if scores}


PART = Part("sizes", cells, 1, {"sizes": ("More and fewer training samples", show)})
