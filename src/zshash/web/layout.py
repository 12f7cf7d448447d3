"""Places for codes on a map: codes that differ in few bits lie near each other.

1. Some of the distinct codes become landmarks. Most are drawn at random by the number of items, so
   dense regions get many landmarks. The others are drawn far from these, so that small groups get
   landmarks, too.
2. t-SNE puts the landmarks on the map. It starts from their principal components, so the same codes
   give the same map, and codes that lie far apart on it tend to differ in many bits.
3. Every other code goes to the weighted mean of its nearest landmarks; the nearest weigh most.
4. Items of the same code lie around its place like the seeds of a sunflower, so more items take a
   larger area.
"""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.manifold import TSNE
from threadpoolctl import ThreadpoolController

from zshash._threads import all_cores
from zshash.codes import check_codes, hamming, unpack, words
from zshash.index import HammingIndex

__all__ = ["Layout", "place"]

AS_THEY_COME, FAR = 1200, 300  # landmarks drawn by the number of items, and far from those
PERPLEXITY, LEAST_PERPLEXITY = 30.0, 2.0
ITERATIONS = 600
FLAT = 3  # up to so many landmarks have their true distances on the map, without t-SNE
NEIGHBOURS = 8  # landmarks whose mean is the place of a code
DISC = 0.08  # radius of a disc with all items; also the margin of the map without landmarks
GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))
CODES_AT_ONCE = 20_000

Codes = NDArray[np.uint8]
Places = NDArray[np.float32]


def place(codes: Codes, n_bits: int, *, random_state: int = 0) -> Places:
    """Places (n, 2) in the unit square for packed codes (n, bytes), the same in every call.

    >>> codes = np.array([[0b0000], [0b0001], [0b1111]], dtype=np.uint8)
    >>> near, middle, far = place(codes, n_bits=8)
    >>> bool(np.linalg.norm(near - middle) < np.linalg.norm(near - far))
    True
    """
    return Layout(n_bits, random_state=random_state).fit(codes).place(codes)


class Layout:
    """A map whose places stay the same when items are added or removed.

    Parameters
    ----------
    n_bits : int
        Length of the codes.
    random_state : int
        Seed of the random choice of landmarks.

    Examples
    --------
    >>> codes = np.arange(200, dtype=np.uint8)[:, None]
    >>> layout = Layout(n_bits=8).fit(codes)
    >>> layout.place(codes[:3]).shape
    (3, 2)
    """

    def __init__(self, n_bits: int, *, random_state: int = 0) -> None:
        self.n_bits, self.random_state = n_bits, random_state

    def fit(self, codes: Codes) -> Self:
        """Choose landmarks among packed codes and put them on the map; takes some seconds."""
        distinct, _, counts = _distinct(check_codes("codes", codes, self.n_bits))
        rng = np.random.default_rng(self.random_state)
        landmarks = _landmarks(distinct, counts, self.n_bits, rng)
        self._landmarks = _index(landmarks, self.n_bits)
        self._places = _fitted_in(_embed(landmarks, self.n_bits, rng))
        return self

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Arrays from which `from_arrays` makes the same layout, as another process needs it."""
        codes = self._landmarks.get(self._landmarks.ids)
        return {"n_bits": np.array(self.n_bits), "landmarks": codes, "places": self._places}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """The inverse of `to_arrays`."""
        made = cls(int(arrays["n_bits"]))
        made._landmarks = _index(arrays["landmarks"], made.n_bits)
        made._places = arrays["places"]
        return made

    def place(self, codes: Codes) -> Places:
        """Places (n, 2) in the unit square for packed codes, between the landmarks of `fit`."""
        distinct, numbers, counts = _distinct(check_codes("codes", codes, self.n_bits))
        if not len(distinct):
            return np.empty((0, 2), dtype=np.float32)
        if not len(self._landmarks):
            raise ValueError("the layout was fitted to no codes, so it can not place any")
        parts = np.split(distinct, range(CODES_AT_ONCE, len(distinct), CODES_AT_ONCE))
        between = np.concatenate([self._between(part) for part in parts])
        spread = _sunflower(numbers, counts)
        return np.asarray(between[numbers] + spread, dtype=np.float32)

    def _between(self, codes: Codes) -> NDArray[np.float64]:
        """Weighted mean of the nearest landmarks; the landmark itself where the code is one.

        How fast the weight falls with each bit depends on how far the other landmarks are.
        """
        distances, near = self._landmarks.search(codes, NEIGHBOURS)
        nearest, beyond = distances[:, :1], distances - distances[:, :1]
        weights = np.exp(-beyond / (0.5 + beyond[:, -1:] / 4))
        weights = np.where(nearest == 0, distances == 0, weights)
        weights /= weights.sum(axis=1, keepdims=True)
        return np.asarray(np.einsum("nk,nkd->nd", weights, self._places[near]), dtype=np.float64)


def _distinct(codes: Codes) -> tuple[Codes, NDArray[np.int64], NDArray[np.int64]]:
    """The distinct codes, the index among them for each item, and the number of items of each."""
    as_words = words(codes)
    order = np.lexsort(as_words.T)
    sorted_words = as_words[order]
    is_new = np.ones(len(codes), dtype=bool)
    is_new[1:] = (sorted_words[1:] != sorted_words[:-1]).any(axis=1)
    numbers = np.empty(len(codes), dtype=np.int64)
    numbers[order] = np.cumsum(is_new) - 1
    return codes[order[is_new]], numbers, np.bincount(numbers)


def _landmarks(
    distinct: Codes, counts: NDArray[np.int64], n_bits: int, rng: np.random.Generator
) -> Codes:
    """Landmarks of both kinds; all codes if there are no more than wanted."""
    if len(distinct) <= AS_THEY_COME + FAR:
        return distinct
    some = _drawn(AS_THEY_COME, counts, rng)
    distances = _index(distinct[some], n_bits).search(distinct, 1)[0][:, 0]
    beyond = np.maximum(distances - np.median(distances), 0)
    far = _drawn(FAR, counts * beyond**2, rng)
    return distinct[np.union1d(some, far)]


def _drawn(n: int, weights: NDArray[Any], rng: np.random.Generator) -> NDArray[np.int64]:
    """Up to `n` different indices, drawn with probabilities proportional to their weights."""
    n = min(n, int(np.count_nonzero(weights)))
    if not n:
        return np.empty(0, dtype=np.int64)
    return rng.choice(len(weights), size=n, replace=False, p=weights / weights.sum())


def _embed(landmarks: Codes, n_bits: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Places (m, 2) of landmarks by t-SNE."""
    start = _principal(landmarks, n_bits)
    if len(landmarks) <= FLAT:
        return start
    start += rng.normal(scale=start.std() / 100, size=start.shape)  # no two places may be equal
    tsne = TSNE(
        metric="precomputed",
        init=(1e-4 / start.std() * start).astype(np.float32),
        perplexity=min(PERPLEXITY, max(LEAST_PERPLEXITY, (len(landmarks) - 1) / 3)),
        max_iter=ITERATIONS,
    )
    roots = np.sqrt(hamming(landmarks, landmarks).astype(np.float64))  # t-SNE squares distances
    # One thread, because the order in which several threads add up differs from run to run.
    with ThreadpoolController().select(user_api="openmp").limit(limits=1):
        return np.asarray(tsne.fit_transform(roots), dtype=np.float64)


def _principal(landmarks: Codes, n_bits: int) -> NDArray[np.float64]:
    """The first two principal components (m, 2): classical scaling of Hamming distances."""
    bits = unpack(landmarks, n_bits).astype(np.float64)
    if not len(bits):
        return np.empty((0, 2))
    bits -= bits.mean(axis=0)
    with all_cores():  # with one thread inside BLAS, for the same result everywhere
        _, vectors = np.linalg.eigh(bits.T @ bits)
        main = vectors[:, :-3:-1]
        main = main * np.sign(main[np.abs(main).argmax(axis=0), [0, 1]])
        return np.asarray(bits @ main, dtype=np.float64)


def _fitted_in(places: NDArray[np.float64]) -> NDArray[np.float64]:
    """The places, shifted and scaled into the unit square without its margin."""
    if not len(places):
        return places
    low, high = places.min(axis=0), places.max(axis=0)
    size = max(float((high - low).max()), np.finfo(float).tiny)
    return np.asarray(0.5 + (1 - 2 * DISC) * (places - (low + high) / 2) / size)


def _sunflower(numbers: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Offset (n, 2) of each item from the place of its code; the first item of a code has none."""
    order = np.argsort(numbers, kind="stable")
    rank = np.empty(len(numbers), dtype=np.int64)
    rank[order] = np.arange(len(numbers)) - np.repeat(np.cumsum(counts) - counts, counts)
    radius, angle = DISC * np.sqrt(rank / len(numbers)), GOLDEN_ANGLE * rank
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def _index(codes: Codes, n_bits: int) -> HammingIndex:
    index = HammingIndex(n_bits)
    index.add(codes)
    return index
