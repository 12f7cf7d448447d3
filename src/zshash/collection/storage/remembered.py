"""Results about a collection that are remembered until its items change."""

import threading
from collections import OrderedDict
from typing import Any

__all__ = ["Remembered"]


class Remembered:
    """The last few results about one generation of a collection, by key.

    >>> remembered = Remembered(most=2)
    >>> remembered.put(7, "a", 1)
    >>> remembered.get(7, "a"), remembered.get(8, "a")
    (1, None)
    """

    def __init__(self, most: int = 16) -> None:
        self._most, self._generation = most, -1
        self._found: OrderedDict[str, Any] = OrderedDict()
        self._mutex = threading.Lock()

    def get(self, generation: int, key: str) -> Any:
        """Result under a key at a generation, or None."""
        with self._mutex:
            if generation != self._generation or key not in self._found:
                return None
            self._found.move_to_end(key)
            return self._found[key]

    def put(self, generation: int, key: str, value: Any) -> None:
        """Remember a result; results of earlier generations are forgotten."""
        with self._mutex:
            if generation > self._generation:
                self._found.clear()
                self._generation = generation
            if generation == self._generation:
                self._found[key] = value
                while len(self._found) > self._most:
                    self._found.popitem(last=False)
