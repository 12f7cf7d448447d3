"""The log of requests: a line of JSON for each, which tells nothing of what was searched for."""

import json
import logging
import os
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from zshash.web.guard import Scope

__all__ = ["RequestLog"]

STANDARD = "-"
LONGEST = 500  # characters of a path that are written
PATIENCE = 1.0  # seconds between two looks at whether the file has been moved
log = logging.getLogger("zshash.web")
_encoder = json.JSONEncoder(separators=(",", ":"))  # in ASCII, so no line can be forged


class RequestLog:
    """Writes a line for each request to a file, or to standard output.

    What stands behind the `?` of an address is left out, because names that people search for are
    their own business, and so are all headers and bodies. A line is written with one call to a file
    that is opened for appending, so several processes can write to the same file. Where a program
    such as logrotate has moved the file, a new one is begun.

    Parameters
    ----------
    place : str
        Path of the file, or "-" for standard output.

    Raises
    ------
    OSError
        If the file can not be written.
    """

    def __init__(self, place: str) -> None:
        self._place, self._handle, self._looked = place, -1, 0.0
        self._is_broken = False
        self._open()

    def write(self, scope: Scope, status: int, n_bytes: int, seconds: float) -> None:
        """Write the line of a request that has been answered."""
        line = _encoder.encode(
            {
                "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
                "id": scope.get("request_id"),
                "client": scope.get("address"),
                "method": scope["method"],
                "path": scope["path"][:LONGEST],
                "status": status,
                "bytes": n_bytes,
                "ms": round(seconds * 1000, 2),
            }
        )
        try:
            self._follow()
            os.write(self._handle, f"{line}\n".encode())
            self._is_broken = False
        except OSError as error:  # a full disk must not end the service
            if not self._is_broken:
                log.warning("the log of requests can not be written: %s", error)
            self._is_broken = True

    def close(self) -> None:
        """Close the file."""
        if self._place != STANDARD and self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def _open(self) -> None:
        if self._place == STANDARD:
            self._handle = sys.stdout.fileno()
        else:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
            self._handle = os.open(self._place, flags, 0o640)

    def _follow(self) -> None:
        """Open the file again if another one, or none, has its name now."""
        now = time.monotonic()
        if self._place == STANDARD or now - self._looked < PATIENCE:
            return
        self._looked = now
        if self._handle < 0 or not _is_same(self._place, self._handle):
            self.close()
            self._open()


def _is_same(place: str, handle: int) -> bool:
    try:
        return os.path.samestat(Path(place).stat(), os.fstat(handle))
    except OSError:
        return False
