"""Who works on the shards: this process, or a Dask cluster. Sums come out the same to the last bit.

Summands are added as the branches of a tree that depends on their number alone: neighbours first,
then neighbouring pairs, and so on. Whoever adds them gets the same result.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

from zshash._progress import progress_bar

__all__ = ["Here", "Passes", "Workers", "add_in_pairs", "itself"]


class Workers(Protocol):
    """Workers on shards, as a fit uses them.

    A function is called for each shard, with the shard's entry of each column (columns are lists
    of equal length) and with the `shared` arguments.
    """

    def keep(self, value: Any) -> Any:
        """A large value that many calls share, in the form in which they take it."""

    def map(
        self, function: Callable[..., Any], *columns: Sequence[Any], **shared: Any
    ) -> Iterator[Any]:
        """Results of the function for each shard, in order."""

    def fold(self, function: Callable[..., Any], *columns: Sequence[Any], **shared: Any) -> Any:
        """The sum of the function's results over all shards."""

    def fold_and_keep(
        self, function: Callable[..., Any], *columns: Sequence[Any], **shared: Any
    ) -> tuple[Any, list[Any]]:
        """The sum of the first results, and a new column of the second results."""


def add_in_pairs(summands: Iterable[Any]) -> Any:
    """The sum of the summands, added as the branches of a tree; few are held at a time.

    >>> add_in_pairs(["a", "b", "c", "d", "e"])
    'abcde'
    """
    branches: list[tuple[int, Any]] = []
    for summand in summands:
        height = 0
        while branches and branches[-1][0] == height:
            summand = branches.pop()[1] + summand
            height += 1
        branches.append((height, summand))
    _, total = branches.pop()
    while branches:
        total = branches.pop()[1] + total
    return total


def itself(value: Any) -> Any:
    """The value."""
    return value


class Here:
    """The process itself, which takes one shard after the other."""

    def __init__(self, progress: bool = False) -> None:
        self._passes = Passes(progress)

    def keep(self, value: Any) -> Any:
        """The value itself."""
        return value

    def map(
        self, function: Callable[..., Any], *columns: Sequence[Any], **shared: Any
    ) -> Iterator[Any]:
        """Results of the function for each shard, in order, computed on demand."""
        rows = zip(*columns, strict=True)
        with self._passes.bar(len(columns[0])) as bar:
            for row in rows:
                yield function(*row, **shared)
                bar.update()

    def fold(self, function: Callable[..., Any], *columns: Sequence[Any], **shared: Any) -> Any:
        """The sum of the function's results over all shards."""
        return add_in_pairs(self.map(function, *columns, **shared))

    def fold_and_keep(
        self, function: Callable[..., Any], *columns: Sequence[Any], **shared: Any
    ) -> tuple[Any, list[Any]]:
        """The sum of the first results, and a list of the second results."""
        kept = []

        def summands() -> Iterator[Any]:
            for summand, rest in self.map(function, *columns, **shared):
                kept.append(rest)
                yield summand

        return add_in_pairs(summands()), kept


class Passes:
    """Numbered progress bars for passes over the shards, shown if asked for."""

    def __init__(self, progress: bool) -> None:
        self._wanted, self._count = progress, 0

    def bar(self, total: int) -> Any:
        """A bar for the next pass, over some number of shards."""
        self._count += 1
        about = {"desc": f"pass {self._count}", "unit": " shards", "leave": False}
        return progress_bar(total, self._wanted, **about)
