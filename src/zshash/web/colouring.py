"""What the items of a map are called, which decides their colours."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zshash.codes import unpack
from zshash.learning.model import Model
from zshash.semantics.names import normalise
from zshash.web.layout import Places
from zshash.web.recognising import Recogniser
from zshash.web.regions import Region, find_regions

__all__ = ["NO_CATEGORY", "Coloured", "colour"]

MOST_CATEGORIES = 500
MOST_RECOGNISED = 12  # categories for items without labels
NO_CATEGORY = 65535

Numbers = NDArray[np.uint16]


class Coloured(NamedTuple):
    """Categories, the category of each item, and the regions."""

    categories: list[dict[str, Any]]
    numbers: Numbers
    regions: list[Region]


def colour(
    model: Model, labels: list[str | None], codes: NDArray[np.uint8], places: Places
) -> Coloured:
    """What items are called: by their labels, and by what the network recognises."""
    bits = unpack(codes, model.n_bits)
    knowledge, recogniser = model.knowledge, None
    if knowledge is not None and len(knowledge) and len(bits):
        recogniser = Recogniser(knowledge, bits)
    regions = find_regions(places, labels, bits, recogniser)
    names, numbers, counts = _categories(labels)
    seen = set(map(normalise, model.seen))
    categories = [
        {"label": name, "seen": normalise(name) in seen, "items": count, "recognised": False}
        for name, count in zip(names, counts, strict=True)
    ]
    if recogniser is not None and 2 * sum(counts) < len(labels):
        bare = np.flatnonzero([label is None for label in labels])
        own, chosen = _recognised(recogniser, bits[bare], regions)
        numbers[bare] = np.where(chosen < 0, NO_CATEGORY, chosen + len(categories))
        categories += own
    return Coloured(categories, numbers, regions)


def _recognised(
    recogniser: Recogniser, bits: NDArray[np.uint8], regions: Sequence[Region]
) -> tuple[list[dict[str, Any]], NDArray[np.int64]]:
    """Categories for items without labels: the words of regions that fit most of these items."""
    words = list(dict.fromkeys(region.word for region in regions if region.word is not None))
    chosen = recogniser.choose(bits, words)
    counts = np.bincount(chosen[chosen >= 0], minlength=len(words))
    kept = [words[i] for i in np.argsort(-counts, kind="stable")[:MOST_RECOGNISED] if counts[i]]
    chosen = recogniser.choose(bits, kept)
    counts = np.bincount(chosen[chosen >= 0], minlength=len(kept))
    return [
        {"label": recogniser.words[word], "seen": False, "items": int(n), "recognised": True}
        for word, n in zip(kept, counts, strict=True)
    ], chosen


def _categories(labels: list[str | None]) -> tuple[list[str], NDArray[np.uint16], list[int]]:
    """The most frequent labels, the index among them for each item, and the count of each label."""
    counts = Counter(label for label in labels if label is not None)
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_CATEGORIES]
    number = {label: i for i, (label, _) in enumerate(ordered)}
    numbers = [NO_CATEGORY if label is None else number.get(label, NO_CATEGORY) for label in labels]
    return list(number), np.array(numbers, dtype=np.uint16), [count for _, count in ordered]
