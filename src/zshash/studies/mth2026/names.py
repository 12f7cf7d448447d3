"""Search by the name of a hidden category, with codes alone."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from zshash.evaluation.report.document import Table
from zshash.studies.mth2026.cells import Cells, Part, Size, searches
from zshash.studies.mth2026.findings import Findings, paired
from zshash.studies.mth2026.rows import Row, mean_of, signed
from zshash.studies.mth2026.setups import BEST, RIVALS
from zshash.studies.mth2026.splits import SOURCES

NAMING = {"map": "MAP", "map_rule": "MAP, rule", "accuracy": "accuracy"}


def cells(size: Size) -> Cells:
    """ZSH and MTH, with each source of vectors."""
    for setup, names in product((RIVALS["ZSH"], BEST), size.name_sources):
        for cell in searches(size, setup, size.main):
            if cell.source.knows_related:
                yield replace(cell, names=names)


def show(found: Findings) -> list[Table]:
    """Tables of the search by name: both methods, and their difference."""
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
    """Rows of one source of vectors, at all code lengths."""
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


PART = Part("names", cells, 5, {"names": ("Search by name", show)})
