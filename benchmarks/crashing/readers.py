"""A process that reads an album, and compares each answer with those of two quiet albums."""

import random
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from crashing.world import READER, Pool
from zshash import Collection
from zshash.collection import CollectionError
from zshash.collection.errors import DamagedError

__all__ = ["answers_of", "ask_all"]

QUERY = 1500  # number of the features that are searched for


def _matches(found: Any) -> list[Any]:
    return [[own.id, own.bits, own.code.hex(), own.path, own.metadata["number"]] for own in found]


READS: dict[str, Callable[[Collection, Any], Any]] = {
    "len": lambda album, _: len(album),
    "items": lambda album, _: [[own.id, own.code.hex(), own.source] for own in album.items()],
    "find": lambda album, _: album.find("label = 'cat'").tolist(),
    "labels": lambda album, _: sorted(album.labels().items()),
    "real": lambda album, x: _matches(album.search(x, k=10)),
    "bits": lambda album, x: _matches(album.search(x, k=10, distance="bits")),
    "radius": lambda album, x: _matches(album.search(x, radius=14)),
    "where": lambda album, x: _matches(album.search(x, k=30, where="label = 'cat'")),
    "item": lambda album, _: _matches(album.search(item=40, k=10)),
    "many": lambda album, x: [_matches(found) for found in album.search([x, x + 1], k=5)],
    "duplicates": lambda album, _: [
        [own.id for own in group.items] for group in album.duplicates("alike", r=9)
    ],
}


CONDITIONS = {"find", "labels", "where"}


def answers_of(folder: Path, pool: Pool) -> dict[str, Any]:
    """The answer of a quiet album to each kind of question."""
    with Collection.open(folder, reader=READER) as album:
        return {kind: read(album, pool.X[QUERY]) for kind, read in READS.items()}


def ask_all(
    album: Collection, pool: Pool, truth: list[Any], seconds: float, seed: int
) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Ask random questions for some seconds; counts, and answers that are not those of an album."""
    rng, counts, faults = random.Random(seed), Counter[str](), list[tuple[str, str]]()
    start = time.monotonic()
    until, later = start + seconds, start + rng.choice((0.0, 0.6)) * seconds
    while time.monotonic() < until and len(faults) < 20:
        # Sometimes the first condition is asked for after the swap, and through a new connection.
        kind = rng.choice(sorted(READS if time.monotonic() > later else set(READS) - CONDITIONS))
        try:
            answer = READS[kind](album, pool.X[QUERY])
        except CollectionError as error:
            counts["refused"] += 1
            if isinstance(error, DamagedError):
                faults.append(("called damaged", str(error)))
        except Exception as error:
            faults.append(("another error", f"{kind}: {error!r}"))
        else:
            which = [
                name for name, own in zip(("old", "new"), truth, strict=True) if answer == own[kind]
            ]
            counts[f"answers of the {which[0]} album" if which else "wrong answers"] += 1
            if not which:
                faults.append((f"a mixed answer: {kind}", str(answer)[:100]))
    return dict(counts), faults
