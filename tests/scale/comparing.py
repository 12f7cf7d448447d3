"""Helpers of the tests of shards: cutting rows into shards, and comparing fits."""

from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from zshash.codes import unpack


def cut(rows, sizes):
    """Consecutive parts of some sizes, which cover all rows."""
    assert sum(sizes) == len(rows)
    return np.split(rows, np.cumsum(sizes)[:-1])


def learned(hasher):
    """Fitted attributes by name."""
    found = {name: value for name, value in vars(hasher).items() if name.endswith("_")}
    assert "projection_" in found
    return found


def assert_same_fit(hasher, other):
    """Two fits that are equal to the last bit."""
    own, others = learned(hasher), learned(other)
    assert own.keys() == others.keys()
    for name, value in own.items():
        assert np.array_equal(value, others[name]), name
        assert np.asarray(value).dtype.kind == np.asarray(others[name]).dtype.kind, name


def assert_near_fit(hasher, other, rows):
    """Two fits that differ by the rounding of sums: objectives, and codes of rows held out."""
    assert learned(hasher).keys() == learned(other).keys()
    if hasattr(hasher, "objective_"):
        assert other.objective_.shape == hasher.objective_.shape
        np.testing.assert_allclose(other.objective_, hasher.objective_, rtol=1e-5)
    assert np.mean(hasher.transform(rows) == other.transform(rows)) >= 0.999


def assert_same_codes(codes, others, hasher, rows):
    """Codes that are equal, but for bits whose projections are 0 within the rounding of sums."""
    assert codes.shape == others.shape
    values = hasher.project(rows)
    differ = unpack(codes, hasher.n_bits) != unpack(others, hasher.n_bits)
    assert np.abs(values[differ]).max(initial=0) < 1e-6 * np.abs(values).max()


@dataclass(frozen=True)
class Term:
    """A summand whose sums show in which order they were added."""

    text: str

    def __add__(self, other):
        return Term(f"({self.text}{other.text})")


def neighbours_first(terms):
    """The sum of terms: pairs of neighbours, then pairs of these; an odd one waits."""
    while len(terms) > 1:
        pairs = [terms[first : first + 2] for first in range(0, len(terms), 2)]
        terms = [pair[0] + pair[1] if len(pair) == 2 else pair[0] for pair in pairs]
    return terms[0]


@contextmanager
def before(patch, owner, name, call, action):
    """Let something happen right before a method is called for the given time (1, 2, …)."""
    method, count = getattr(owner, name), [0]

    def replaced(*args, **named):
        count[0] += 1
        if count[0] == call:
            action()
        return method(*args, **named)

    with patch.context() as patching:
        patching.setattr(owner, name, replaced)
        yield
    assert count[0] >= call, f"{name} was called {count[0]} times"
