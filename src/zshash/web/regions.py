"""Regions of the map and their names.

Places of items are joined into a tree of compact groups (Ward's method, on a sample). Each level
of the tree divides the map into regions, few large ones first. A region is named after the label
that most of its items have, else after a word for many of its labels, else after what the network
recognises there; some regions have no name. A label that nearly all items of the map have tells no
region from the others, so what the network recognises stands there, if it recognises anything.
A part of a region is left out if it has the same name.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial import cKDTree

from zshash.web.kinds import Kinds
from zshash.web.layout import Places
from zshash.web.recognising import Recogniser

__all__ = ["Region", "find_regions", "told"]

LEVELS = (7, 18, 45, 120)  # number of regions of each level
LEAST_ITEMS = 4  # of a region with a name
ITEMS_IN_ONE = 8  # there are at most as many regions as parts of so many items
SAMPLE = 1500  # items whose places make the tree
COMMON = 0.8  # share of all items from which a label tells no region from the others
MAJORITY = 0.5  # share of a region's items that have its label
EDGE = 0.12  # share of a region's items that lie above its name

Numbers = NDArray[np.int64]


class Region(NamedTuple):
    """A part of the map.

    Attributes
    ----------
    name : str
    place : ndarray of shape (2,)
        At the upper edge of the items that the name is for.
    items : int
        Number of items in the region.
    level : int
        0 for the largest regions.
    word : int or None
        Index of the name among the words of the recogniser; None if the name is a label.
    """

    name: str
    place: Places
    items: int
    level: int
    word: int | None


def find_regions(
    places: Places,
    labels: Sequence[str | None],
    bits: NDArray[np.uint8],
    recogniser: Recogniser | None = None,
) -> list[Region]:
    """Regions with names, the largest first within each level.

    Parameters
    ----------
    places : ndarray of shape (n, 2)
    labels : sequence of str or None
        First label of each item.
    bits : ndarray of shape (n, n_bits), uint8
        Codes of 0 and 1.
    recogniser : Recogniser, optional
        Names regions without labels, and those whose label nearly all items have.

    Examples
    --------
    >>> places = np.repeat(np.float32([[0.1, 0.1], [0.9, 0.9]]), 5, axis=0)
    >>> found = find_regions(places, ["cat"] * 5 + ["dog"] * 5, np.ones((10, 8), np.uint8))
    >>> [(region.name, region.items, region.level) for region in found]
    [('cat', 5, 0), ('dog', 5, 0)]
    """
    kinds = Kinds(labels) if any(label is not None for label in labels) else None
    labels = labels if recogniser is None else _telling(labels)
    named: dict[tuple[int, int], str] = {}
    found = []
    parent = np.zeros(len(places), dtype=np.int64)
    for level, numbers in enumerate(_levels(places)):
        regions = []
        for number in np.unique(numbers):
            members = np.flatnonzero(numbers == number)
            above = named.get((level - 1, int(parent[members[0]])), "")
            region = _named(members, level, places, labels, bits, recogniser, kinds)
            named[level, int(number)] = above if region is None else region.name
            if region is not None and region.name != above:
                regions.append(region)
        found += sorted(regions, key=lambda region: -region.items)
        parent = numbers
    return found


def _telling(labels: Sequence[str | None]) -> list[str | None]:
    """Labels, with None in place of one that nearly all items have.

    >>> _telling(["photo"] * 9 + ["drawing"])[-2:]
    [None, 'drawing']
    """
    counts = Counter(labels)
    return [None if counts[label] >= COMMON * len(labels) else label for label in labels]


def _levels(places: Places) -> list[Numbers]:
    """Number of the region of each item, for each level; a region is divided by the next level."""
    sample = places[:: max(1, -(-len(places) // SAMPLE))].astype(np.float64)
    if len(sample) < 2:
        return []
    tree = linkage(sample, "ward")
    _, nearest = cKDTree(sample).query(places)
    sizes = dict.fromkeys(min(n, 1 + len(sample) // ITEMS_IN_ONE) for n in LEVELS)
    return [fcluster(tree, n, "maxclust")[nearest].astype(np.int64) for n in sizes]


def _named(
    members: Numbers,
    level: int,
    places: Places,
    labels: Sequence[str | None],
    bits: NDArray[np.uint8],
    recogniser: Recogniser | None,
    kinds: Kinds | None,
) -> Region | None:
    if len(members) < LEAST_ITEMS:
        return None
    name, n = Counter(labels[i] for i in members).most_common(1)[0]
    if name is not None and n >= MAJORITY * len(members):
        those = members[[labels[i] == name for i in members]]
        return Region(name, _top(places[those]), len(members), level, None)
    kind = kinds.word([labels[i] for i in members]) if kinds else None
    if kind is not None:
        return Region(kind, _top(places[members]), len(members), level, None)
    word = None if recogniser is None else recogniser.word(bits[members])
    if recogniser is None or word is None:
        return None
    fits = recogniser.choose(bits[members], [word]) == 0
    those = members[fits] if fits.any() else members
    return Region(recogniser.words[word], _top(places[those]), len(members), level, word)


def _top(places: Places) -> Places:
    """Where a name stands: at the upper edge of those places that are in the middle."""
    order = np.argsort(places[:, 0], kind="stable")
    quarter = len(order) // 4
    inner = places[order[quarter : len(order) - quarter]]
    return np.array([np.median(inner[:, 0]), np.quantile(inner[:, 1], EDGE)], dtype=np.float32)


def told(regions: Sequence[Region]) -> list[dict[str, Any]]:
    """Regions ready for JSON, with places in the units of the points."""
    return [
        {
            "name": region.name,
            "x": round(65535 * float(region.place[0])),
            "y": round(65535 * float(region.place[1])),
            "items": region.items,
            "level": region.level,
            "recognised": region.word is not None,
        }
        for region in regions
    ]
