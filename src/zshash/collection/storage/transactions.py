"""Transactions of one connection, and who is inside of one.

Each block rolls back what it has begun, whatever it is left by. Only an exception that strikes
between two instructions, as handlers of signals raise it, can tear a call out of a block: then the
transaction is left open, and the block itself ends when it is collected as garbage, at any later
time. So a transaction knows the call it belongs to, and a block ends only its own.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from zshash._interrupts import current_call

__all__ = ["Transactions", "transaction"]


class Transactions:
    """At most one transaction at a time on a connection."""

    def __init__(self) -> None:
        self._now: tuple[int, bool] | None = None  # call, and whether it writes

    @property
    def is_writing(self) -> bool:
        """Whether a transaction is under way that is not on the disk yet."""
        return self._now is not None and self._now[1]

    def is_inside(self, connection: sqlite3.Connection) -> bool:
        """Whether the caller is inside a transaction; one that was left open is rolled back."""
        if not connection.in_transaction:
            return False
        if self._now is not None and self._now[0] in (0, current_call()):
            return True
        self._now = None
        connection.execute("ROLLBACK")
        return False

    @contextmanager
    def begin(self, connection: sqlite3.Connection, *, writing: bool) -> Iterator[None]:
        """Begin a transaction; commit it at the end of the block, or roll it back."""
        connection.execute("BEGIN IMMEDIATE" if writing else "BEGIN DEFERRED")
        own = self._now = current_call(), writing
        try:
            yield
            connection.execute("COMMIT")
        except BaseException:
            if self._now is own:
                _roll_back(connection)
            raise
        finally:
            if self._now is own:
                self._now = None


def _roll_back(connection: sqlite3.Connection) -> None:
    """End a transaction; SQLite may have ended it already, as on a full disk."""
    if connection.in_transaction:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """One transaction that writes, on a connection that nobody else has."""
    with Transactions().begin(connection, writing=True):
        yield
