"""Clip art: the drawings of the Open Clip Art Library, as Debian's package has them.

The folders of that tree are of many kinds. `FOLDERS` says which of them hold drawings of one kind
of thing; they were chosen by looking at the folders, before any method was scored on them.
"""

from collections import defaultdict
from hashlib import sha256
from pathlib import Path

import numpy as np

from zshash.datasets.data import DataError, Pictures, unreadable
from zshash.datasets.listing import pictures_below

__all__ = ["FOLDERS", "read_clipart"]

FEWEST, MOST = 15, 150  # drawings of a category: fewer are no category, more would outweigh others

MIXED = ""
FOLDERS = {
    "animals": MIXED,  # those of no folder below, among them many of computers
    "animals/birds": "bird",
    "animals/bugs": "insect",
    "animals/dinosaurs": "dinosaur",
    "animals/fish": "fish",
    "animals/mammals": "mammal",
    "buildings": "building",
    "buildings/furniture": "furniture",
    "buttons": MIXED,  # three drawings of this and that
    "computer": MIXED,  # icons, which show things of all other categories
    "computer/hardware": "computer hardware",
    "containers": "container",
    "decorations": MIXED,  # knots, borders and corners
    "education": MIXED,
    "education/books": "book",
    "electronics": MIXED,  # from batteries to cameras
    "food": MIXED,
    "food/beverages": "beverage",
    "food/breads_and_carbs": "bread",
    "food/dairy": "dairy product",
    "food/desserts": "dessert",
    "food/fruit": "fruit",
    "food/meats_and_eggs": "meat",
    "food/vegetables": "vegetable",
    "geography": "map",
    "geography/astronomy": "celestial body",
    "logos": MIXED,
    "office": MIXED,  # from envelopes to knitting
    "office/telephone": "telephone",
    "people": "person",
    "people/bodypart": "body part",
    "people/clothing": "clothing",
    "people/smilies": "smiley",
    "people/stickmen": "stick figure",
    "plants": MIXED,
    "plants/flowers": "flower",
    "plants/trees": "tree",
    "recreation": MIXED,  # games, parties, holidays and religions, with things of all kinds
    "recreation/games/cards": "playing card",
    "recreation/games/chess": "chessman",
    "recreation/music": "musical instrument",
    "recreation/sports": "sports equipment",
    "recreation/toys": "toy",
    "science": MIXED,
    "science/astronomy": "celestial body",
    "shapes": MIXED,
    "shapes/arrows": "arrow",
    "shapes/callouts": "speech balloon",
    "shapes/flowchart": "flowchart",
    "shapes/jigsaw": "jigsaw puzzle",
    "shapes/stars": MIXED,  # 1,378 rings and rosettes that a program drew, all nearly the same
    "signs_and_symbols": MIXED,
    "signs_and_symbols/clocks": "clock",
    "signs_and_symbols/flags": "flag",
    "signs_and_symbols/led": "light-emitting diode",
    "signs_and_symbols/map_symbols": "pictograph",
    "signs_and_symbols/money": "money",
    "signs_and_symbols/weather": "weather",
    "special": MIXED,  # gradients and patterns
    "tools": "tool",
    "tools/weapons": MIXED,  # two out of three show nothing but a dot
    "transportation": MIXED,
    "transportation/aiga-symbols": "pictograph",
    "transportation/boating": MIXED,  # knots and diagrams of winds
    "transportation/roadsigns": "road sign",
    "transportation/vehicles": "vehicle",
    "unsorted": MIXED,
}
"""Category of the drawings in each folder and in the folders below that are not listed."""


def read_clipart(path: str | Path) -> Pictures:
    """Read the drawings of one kind of thing each, with a label each.

    A drawing that lies in several folders counts once. It is left out if these are folders of
    several categories. So are categories of fewer than 15 drawings; of those with more than 150,
    150 are taken, evenly from the sorted list.

    Parameters
    ----------
    path : path-like
        The folder ``png`` of Debian's package openclipart-png.

    Returns
    -------
    Pictures
        Sorted by category, then by path.

    Raises
    ------
    DataError
        If the folder is not there or has other folders.
    """
    root = Path(path)
    if not any((root / folder).is_dir() for folder in FOLDERS):
        raise DataError(f"{root}: not the drawings of openclipart: folders such as animals/birds")
    found = {name: own for name, own in sorted(_drawings(root).items()) if len(own) >= FEWEST}
    if not found:
        raise DataError(f"{root}: no category has {FEWEST} drawings")
    chosen = [_evenly(sorted(own)) for own in found.values()]
    labels = np.repeat(np.arange(len(chosen)), [len(own) for own in chosen])
    return Pictures(tuple(path for own in chosen for path in own), labels, tuple(found))


def _drawings(root: Path) -> dict[str, list[Path]]:
    """Paths of the drawings of each category, copies left out."""
    copies: dict[bytes, dict[str, list[Path]]] = defaultdict(lambda: defaultdict(list))
    for path in pictures_below(root, root.parent):
        category = _category(path.relative_to(root))
        if category != MIXED:
            copies[_checksum(path)][category].append(path)
    found: dict[str, list[Path]] = defaultdict(list)
    for homes in copies.values():
        if len(homes) == 1:
            ((category, paths),) = homes.items()
            found[category].append(min(paths))
    return found


def _category(path: Path) -> str:
    """Category of the nearest folder that is listed.

    >>> _category(Path("animals/mammals/bears/1.png")), _category(Path("animals/1.png"))
    ('mammal', '')
    """
    return next((FOLDERS[str(up)] for up in map(Path.as_posix, path.parents) if up in FOLDERS), "")


def _checksum(path: Path) -> bytes:
    try:
        return sha256(path.read_bytes()).digest()
    except OSError as error:
        raise unreadable(path, error) from error


def _evenly(paths: list[Path]) -> list[Path]:
    """At most `MOST` of the paths, evenly from first to last."""
    n = min(len(paths), MOST)
    return [paths[place * len(paths) // n] for place in range(n)]
