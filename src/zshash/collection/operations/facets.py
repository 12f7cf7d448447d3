"""Which months, cameras and places the items of a collection have, and how many items each.

They are counted by SQLite from the metadata of all rows, and remembered until items change. Unlike
a search, counting does not verify the checksums of the rows.
"""

import sqlite3
from collections import Counter
from math import floor
from typing import NamedTuple, TypeVar

from zshash.collection.storage.checking import naming_the_damaged
from zshash.collection.storage.store import Store

__all__ = ["FacetCounts", "facets"]

Key = TypeVar("Key")

KEY = "\0facets"  # a key of what is remembered; no condition is spelled so
STEPS = (10, 1)  # cells of the grid of places for one degree, tried in this order
MOST_CELLS = 200  # more cells are not told: the next coarser grid is taken

FIELD = "CASE WHEN json_type(metadata, '$.{0}') IN ({1}) THEN json_extract(metadata, '$.{0}') END"
NUMBER = "'integer', 'real'"
TIMES = ", ".join(FIELD.format(name, "'integer'") for name in ("year", "month"))
CAMERA = FIELD.format("camera", "'text'")
PLACE = ", ".join(FIELD.format(name, NUMBER) for name in ("latitude", "longitude"))
COUNTED = "SELECT {0}, COUNT(*) FROM items WHERE json_valid(metadata) GROUP BY {0}"


class FacetCounts(NamedTuple):
    """Numbers of items.

    Attributes
    ----------
    months : dict of (int, int or None) to int
        By year and month; the month is None where only the year is known.
    cameras : dict of str to int
        The most frequent first.
    places : dict of (int, int) to int
        By the cell of a grid over latitude and longitude, in parts of a degree; the most frequent
        first. A cell lies around its place, so cell (481, 116) with 10 cells for one degree goes
        from 48.05 to 48.15 degrees north.
    step : int
        Number of cells for one degree.
    """

    months: dict[tuple[int, int | None], int]
    cameras: dict[str, int]
    places: dict[tuple[int, int], int]
    step: int


def facets(store: Store) -> FacetCounts:
    """Count the months, cameras and places of all items."""
    with store.beside() as (connection, state):
        known: FacetCounts | None = store.remembered.get(state.generation, KEY)
        if known is not None:
            return known
        with naming_the_damaged(connection, store.folder):
            found = _count(connection)
    store.remembered.put(state.generation, KEY, found)
    return found


def _count(connection: sqlite3.Connection) -> FacetCounts:
    times = connection.execute(COUNTED.format(TIMES)).fetchall()
    cameras = connection.execute(COUNTED.format(CAMERA)).fetchall()
    spots = connection.execute(COUNTED.format(PLACE)).fetchall()
    step, places = _grid([spot for spot in spots if None not in spot])
    return FacetCounts(
        {(year, month): n for year, month, n in times if year is not None},
        _ordered({camera: n for camera, n in cameras if camera}),
        _ordered(places),
        step,
    )


def _grid(spots: list[tuple[float, float, int]]) -> tuple[int, dict[tuple[int, int], int]]:
    """Cells for one degree, and items in each cell of the finest grid that has few cells."""
    for step in STEPS:
        cells: Counter[tuple[int, int]] = Counter()
        for latitude, longitude, n in spots:
            cells[floor(latitude * step + 0.5), floor(longitude * step + 0.5)] += n
        if len(cells) <= MOST_CELLS:
            break
    return step, dict(cells)


def _ordered(counts: dict[Key, int]) -> dict[Key, int]:
    """The most frequent first."""
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], str(pair[0]))))
