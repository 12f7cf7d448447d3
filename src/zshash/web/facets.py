"""Years, months, cameras and places of a collection, each with the condition of its items."""

from collections import Counter
from typing import Any

from zshash.collection.operations.facets import FacetCounts

__all__ = ["facets_told"]

MOST = 100  # cameras or places that are told


def facets_told(counts: FacetCounts, *, places: bool) -> dict[str, Any]:
    """Facets as clients get them, each with the condition that its items meet.

    Parameters
    ----------
    counts : FacetCounts
    places : bool
        Whether clients may see where pictures were taken.

    Examples
    --------
    >>> counts = FacetCounts({(2021, 8): 3, (2021, None): 1}, {"X100": 2}, {(481, 116): 2}, 10)
    >>> told = facets_told(counts, places=True)
    >>> told["years"], told["months"][0]["where"]
    ([{'year': 2021, 'items': 4, 'where': 'year = 2021'}], 'year = 2021 and month = 8')
    >>> told["places"][0]["where"]
    'latitude >= 48.05 and latitude < 48.15 and longitude >= 11.55 and longitude < 11.65'
    """
    return {
        "years": _years(counts),
        "months": [
            {"year": year, "month": month, "items": n}
            | {"where": f"year = {year} and month = {month}"}
            for (year, month), n in sorted(counts.months.items(), key=_newest)
            if month is not None
        ],
        "cameras": [
            {"camera": camera, "items": n, "where": f"camera = {_quoted(camera)}"}
            for camera, n in list(counts.cameras.items())[:MOST]
        ],
        "places": _places(counts) if places else [],
    }


def _newest(pair: tuple[tuple[int, int | None], int]) -> tuple[int, int]:
    (year, month), _ = pair
    return -year, -(month or 0)


def _years(counts: FacetCounts) -> list[dict[str, Any]]:
    years: Counter[int] = Counter()
    for (year, _), n in counts.months.items():
        years[year] += n
    return [
        {"year": year, "items": n, "where": f"year = {year}"}
        for year, n in sorted(years.items(), reverse=True)
    ]


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _places(counts: FacetCounts) -> list[dict[str, Any]]:
    return [
        {
            "latitude": latitude / counts.step,
            "longitude": longitude / counts.step,
            "items": n,
            "where": f"{_between('latitude', latitude, counts.step)} and "
            f"{_between('longitude', longitude, counts.step)}",
        }
        for (latitude, longitude), n in list(counts.places.items())[:MOST]
    ]


def _between(field: str, cell: int, step: int) -> str:
    low, high = ((cell + edge) / step for edge in (-0.5, 0.5))
    return f"{field} >= {low:g} and {field} < {high:g}"
