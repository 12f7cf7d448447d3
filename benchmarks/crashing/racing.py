"""Right answers while models change: each answer is compared with NumPy for one of two models.

Other processes add and remove some items meanwhile. So what is compared is: each match has the
code, the bits and the score of its number under the model; matches come in the right order; and no
item that is always there is missing.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from crashing.albums import columns, make_album
from crashing.world import N_BITS, N_POOL, READER, Pool
from zshash import Collection
from zshash.codes import hamming, unpack

__all__ = ["FIXED", "NAMES", "QUERIES", "Got", "Truth", "number_in"]

FIXED = range(400, 600)  # numbers of the items that are always there
NAMES = ("lorry", "kitten")
QUERIES = range(1800, 1810)  # numbers of the features that are searched for
CLOSE = 1e-4


class Got(NamedTuple):
    """A match, from Python, the command line or HTTP; what an answer does not tell is None."""

    id: int
    number: int
    score: float
    bits: int | None = None
    code: str | None = None


def number_in(path: str | None) -> int:
    """Number of an item, which is the name of its file."""
    return int(Path(path or "").stem)


class Truth:
    """Scores and bits of all numbers of the pool for each query, under each of two models."""

    def __init__(self, pool: Pool, folder: Path) -> None:
        self.pool = pool
        self.codes = [[code.tobytes().hex() for code in own] for own in pool.codes[:2]]
        self.bits: list[dict[int, Any]] = []
        self.real: list[dict[int, Any]] = []
        self.names: list[dict[str, Any]] = []
        self.near: list[dict[int, list[str]]] = []
        for model in range(2):
            self.bits.append({own: self._distances(model, own) for own in (*QUERIES, *FIXED)})
            self.real.append({own: self._cosines(model, own) for own in (*QUERIES, *FIXED)})
            self._ask_quietly(model, folder / f"quiet {model}")

    def _distances(self, model: int, query: int) -> Any:
        return hamming(self.pool.codes[model][[query]], self.pool.codes[model])[0]

    def _cosines(self, model: int, query: int) -> Any:
        values = self.pool.hashers[model].project(self.pool.X[[query]])[0].astype(float)
        bits = 2.0 * unpack(self.pool.codes[model], N_BITS) - 1
        return bits @ values / np.linalg.norm(values) / np.sqrt(N_BITS)

    def _ask_quietly(self, model: int, folder: Path) -> None:
        """Scores by name and names of codes, from a collection that nobody changes."""
        with make_album(folder, self.pool, FIXED, "fixed", model) as album:
            self.near.append({own: _names(album, own) for own in range(len(FIXED))})
            others = sorted(set(range(N_POOL)) - set(FIXED))
            album.add(self.pool.X[others], **columns(others, "others"))
            self.names.append({})
            for name in NAMES:
                scores = np.full(N_POOL, np.nan)
                found = album.search(name=name, k=N_POOL)
                for match in found:
                    scores[number_in(match.path)] = match.score
                self.names[model][name] = scores

    def wrong_top(self, model: int, scores: Any, bits: Any, got: Sequence[Got], k: int) -> str:
        """What is wrong with the best `k` matches, or an empty text."""
        if wrong := self._wrong_each(model, scores, bits, got):
            return wrong
        numbers = {own.number for own in got}
        if len(got) > k or (len(got) < k and not numbers.issuperset(FIXED)):
            return f"{len(got)} matches, not {k}"
        worst = got[-1].score
        missing = [own for own in FIXED if own not in numbers and scores[own] > worst + CLOSE]
        return f"{len(missing)} better items are missing" if missing else ""

    def wrong_ball(self, model: int, bits: Any, got: Sequence[Got], radius: int) -> str:
        """What is wrong with all matches within a radius, or an empty text."""
        if wrong := self._wrong_each(model, 1 - 2 * bits / N_BITS, bits, got):
            return wrong
        numbers = {own.number for own in got}
        missing = [own for own in FIXED if own not in numbers and bits[own] <= radius]
        if missing or any(bits[own.number] > radius for own in got):
            return f"{len(missing)} items within the radius are missing, or others are there"
        return ""

    def _wrong_each(self, model: int, scores: Any, bits: Any, got: Sequence[Got]) -> str:
        for own in got:
            if own.code is not None and own.code != self.codes[model][own.number]:
                return f"item {own.id} has a code that is not the model's"
            if abs(own.score - scores[own.number]) > CLOSE:
                return f"item {own.id} has the score {own.score}, not {scores[own.number]}"
            if own.bits is not None and own.bits != bits[own.number]:
                return f"item {own.id} has {own.bits} bits, not {bits[own.number]}"
        order = [(-own.score, own.id) for own in got]
        is_sorted = all(a < b or a[0] - b[0] < 1e-6 for a, b in pairwise(order))
        return "" if is_sorted else "matches are not in order"

    def wrong_codes(self, pairs: Iterable[tuple[int, str]]) -> str:
        """What is wrong with numbers and codes that were read together: all are of one model."""
        pairs = list(pairs)
        for model in range(2):
            if all(self.codes[model][number] == code for number, code in pairs):
                return ""
        return f"{len(pairs)} codes are not all of one model"


def _names(album: Collection, item: int) -> list[str]:
    return [near.name for near in album.explain_code(item=item)]


def open_album(folder: Path) -> Collection:
    """Open the album whose models change."""
    return Collection.open(folder, reader=READER)
