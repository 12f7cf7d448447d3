"""With unlabelled pictures: methods that can also learn from the database, without its labels.

Queries are in no pool. Methods that can not use samples without a label are inductive: they learn
from the labelled ones alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from zshash.evaluation.report.document import Table
from zshash.hashing.registry import METHODS
from zshash.studies.mth2026.cells import FULL, QUICK, Cells, Part, Size, searches
from zshash.studies.mth2026.cosine import COSINES
from zshash.studies.mth2026.findings import Findings, paired
from zshash.studies.mth2026.rows import lengths, mean_of, only, percent, place
from zshash.studies.mth2026.setups import BEST, FAST, RIVALS, Pool, Setup

KINDS = {"": "hidden", "_alone": "hidden alone", "_seen": "seen"}


def with_pool(setup: Setup, pool: Pool | None = None, told: str = "") -> Setup:
    """The same setup, which also learns from samples without a label."""
    name = f"{setup.name}, unlabelled too{told and f', {told}'}"
    return replace(setup, name=name, pool=pool or Pool())


def with_kinds(setup: Setup) -> Setup:
    """The same setup, inductive: all kinds of queries are scored."""
    return replace(setup, name=f"{setup.name}, inductive")


LEADER, COSINE = with_pool(BEST), replace(COSINES[0], name="cosine, all kinds of queries")
WHITENED = replace(COSINES[1], name="cosine, whitened, all kinds of queries")
OTHERS = tuple(
    with_pool(setup) if METHODS[setup.method].estimator.learns_unlabelled else with_kinds(setup)
    for setup in (FAST, *RIVALS.values())
    if setup.method
)
INDUCTIVE = tuple(map(with_kinds, (BEST, FAST, *RIVALS.values())))
AT_ALL_LENGTHS = (LEADER, with_pool(RIVALS["ITQ"]))
WORTH: Mapping[str, Mapping[str, Any]] = {
    "no averages": {"averaging": 0.0},
    "averages at half weight": {"averaging": 0.5},
    "shrinkage 0.05": {"shrinkage": 0.05},
    "shrinkage 1": {"shrinkage": 1.0},
    "shrinkage 100": {"shrinkage": 100.0},
    "neighborhood 0.031": {"neighborhood": 0.031},
    "600 steps": {"n_steps": 600},
    "2000 steps": {"n_steps": 2000},
    "512 units": {"n_units": 512},
}
CHANGED = tuple(
    with_pool(Setup("MTH best", "MTH", changed), told=name) for name, changed in WORTH.items()
)


def pools(size: Size) -> list[Setup]:
    """MTH on other pools, and with changed parts."""
    named = {
        **{f"{100 * own:g} % of the pool": Pool(share=own) for own in size.shares},
        **{f"{own:,} labels": Pool(n_labelled=own) for own in size.labelled},
        **{f"{100 * own:g} % of the hidden": Pool(hidden=own) for own in size.hidden},
    }
    return [*(with_pool(BEST, pool, told) for told, pool in named.items()), *CHANGED]


def cells(size: Size) -> Cells:
    """Every method with unlabelled samples, inductively, and MTH at other lengths."""
    for setup in (COSINE, WHITENED):
        yield from searches(size, setup, None, size.pooled)
    for setup in {setup.name: setup for setup in (LEADER, *OTHERS, *INDUCTIVE)}.values():
        yield from searches(size, setup, size.main, size.pooled)
    for bits, setup in product(size.more_bits, AT_ALL_LENGTHS):
        yield from searches(size, setup, bits, size.pooled)


def cells_of_pools(size: Size) -> Cells:
    """MTH on other pools, and with changed parts."""
    for setup in pools(size):
        yield from searches(size, setup, size.main, size.pooled[:3])


def show(found: Findings) -> list[Table]:
    """Tables of all methods for three kinds of queries."""
    tables: list[Table] = []
    for data, bits in lengths(found, LEADER.name):
        names = [*(setup.name for setup in (LEADER, *OTHERS)), COSINE.name, WHITENED.name]
        caption = (
            f"{place(data, bits)}, with unlabelled pictures: MAP of three kinds of queries, and by "
            "how much MTH is ahead."
        )
        tables += by_kind(found, data, bits, LEADER.name, names, caption)
    for data, bits in lengths(found, INDUCTIVE[0].name):
        caption = f"{place(data, bits)}, inductive: MAP of three kinds of queries."
        names = [*(setup.name for setup in INDUCTIVE), COSINE.name]
        tables += by_kind(found, data, bits, INDUCTIVE[0].name, names, caption)
    return tables


def show_pools(found: Findings) -> list[Table]:
    """Tables of MTH on other pools and with changed parts."""
    tables: list[Table] = []
    planned = dict.fromkeys(setup.name for size in (FULL, QUICK) for setup in pools(size))
    for data, bits in lengths(found, LEADER.name):
        known = [name for name in planned if found.scores(data, name, bits)]
        caption = f"{place(data, bits)}: MTH with other pools and with changed parts."
        names = [LEADER.name, *known, COSINE.name]
        tables += by_kind(found, data, bits, LEADER.name, names, caption) if known else []
    return tables


def by_kind(
    found: Findings, data: str, bits: int, leader: str, names: Sequence[str], caption: str
) -> list[Table]:
    """A table with a row for each setup and columns for each kind of queries.

    Scores are those of the cells that the setup shares with the leader.
    """
    rows = []
    for name in names:
        own_bits = None if name in (COSINE.name, WHITENED.name) else bits
        ours = found.scores(data, leader, bits)
        shared = only(found.scores(data, name, own_bits), ours)
        if not shared:
            continue
        row = [name, str(len(shared))]
        for suffix in KINDS:
            theirs = found.scores(data, name, own_bits, f"map{suffix}")
            row.append(mean_of(only(theirs, ours))[1])
            real = only(found.scores(data, name, own_bits, f"map_real{suffix}"), ours)
            row.append(mean_of(real)[1])
            pair = paired(found.scores(data, leader, bits, f"map{suffix}"), theirs)
            row.append(percent(pair.gain if pair and name != leader else None))
        rows.append(row)
    head = ["", "cells"]
    for title in KINDS.values():
        head += [title, "real-valued", "MTH ahead"]
    return [Table(head, rows, caption)] if rows else []


PART = Part("unlabelled", cells, 1, {"unlabelled": ("With unlabelled pictures", show)})
POOLS = Part(
    "pools", cells_of_pools, 1, {"pools": ("Other pools, and what parts are worth", show_pools)}
)
