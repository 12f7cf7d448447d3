"""Sums as the branches of a tree, which depends on the number of summands alone."""

import weakref

import pytest

from tests.scale.comparing import Term, neighbours_first
from zshash.scale.workers import Here, add_in_pairs


@pytest.mark.parametrize("n", range(1, 71))
def test_neighbours_are_added_first(n):
    terms = [Term(f"{number}.") for number in range(n)]
    assert add_in_pairs(terms) == neighbours_first(terms)
    assert Here().fold(Term, [f"{number}." for number in range(n)]) == neighbours_first(terms)


def test_few_summands_are_held_at_a_time():
    class Number:
        def __init__(self, value):
            self.value = value
            alive.add(self)

        def __add__(self, other):
            return Number(self.value + other.value)

    alive, most = weakref.WeakSet(), 0

    def numbers():
        nonlocal most
        for value in range(1000):
            yield Number(value)
            most = max(most, len(alive))

    assert add_in_pairs(numbers()).value == 999 * 500
    assert most <= 12  # one for each power of two


def test_results_come_in_the_order_of_shards_when_they_are_asked_for():
    seen = []

    def note(number, letter, *, factor):
        seen.append(number)
        return letter * number * factor

    results = Here().map(note, [1, 2, 3], ["a", "b", "c"], factor=2)
    assert next(results) == "aa"
    assert seen == [1]
    assert list(results) == ["bbbb", "cccccc"]


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="shorter"):
        list(Here().map(max, [1, 2], [1]))


def test_a_sum_and_what_is_kept():
    total, kept = Here().fold_and_keep(lambda n: (Term(str(n)), n * n), [1, 2, 3])
    assert total == Term("((12)3)")
    assert kept == [1, 4, 9]
