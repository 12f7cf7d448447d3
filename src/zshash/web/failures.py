"""Wrong tokens: they are counted for each address, and further guesses have to wait."""

import hashlib
import ipaddress
import logging
import struct
import time
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

__all__ = ["Failures"]

FREE = 5  # wrong tokens of an address that cost nothing
LONGEST = 30.0  # seconds to wait at most
FORGOTTEN = 900.0  # seconds without a wrong token after which an address begins anew
MOST = 4096  # addresses that are remembered
REMEMBERED = 8  # wrong tokens of an address that are known again
ENOUGH = 1024  # wrong tokens of an address that are kept; then it begins anew
RECORD = struct.Struct("<d8s")  # when a wrong token came, and a hash of it
Records = list[tuple[float, bytes]]
log = logging.getLogger("zshash.web")


class Failures:
    """Wrong tokens by address.

    After some different wrong tokens, requests with a token from this address are refused for a
    second, then two, up to half a minute. They are refused whether the token is right or wrong:
    otherwise the answer would tell a guess that is right. So somebody who guesses can keep programs
    behind the same address waiting; browsers with a session go on, because sessions are never
    slowed. The same wrong token counts once: a program with an old token locks nobody out. The
    right token lets the address begin anew.

    An address with wrong tokens has a file in a folder that all processes of a server share, and
    each wrong token is one record at its end, so no process can lose that of another. A request
    with a token costs one look for a file, which usually is not there. The number of files is
    bounded: the addresses that failed longest ago are forgotten.

    Parameters
    ----------
    folder : Path
        Private folder, which is made if it is missing.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> folder = TemporaryDirectory()
    >>> failures = Failures(Path(folder.name) / "failures")
    >>> for i in range(6):
    ...     failures.note("192.0.2.1", f"guess {i}", now=0.0)
    >>> failures.wait("192.0.2.1", now=0.0), failures.wait("192.0.2.2", now=0.0)
    (1.0, 0.0)
    >>> folder.cleanup()
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, exist_ok=True)
        self._folder = folder

    def wait(self, address: str, now: float | None = None) -> float:
        """Seconds until a token of this address is looked at again; 0 if that is now."""
        records = _read(self._path(address))
        if len(records) <= FREE:
            return 0.0
        now = time.monotonic() if now is None else now
        seconds = min(LONGEST, 2.0 ** min(len(records) - FREE - 1, 10))
        return max(0.0, records[-1][0] + seconds - now)

    def note(self, address: str, token: str, now: float | None = None) -> None:
        """Note that a token of this address was wrong."""
        now = time.monotonic() if now is None else now
        path = self._path(address)
        records = _read(path)
        if records and (now - records[-1][0] > FORGOTTEN or len(records) >= ENOUGH):
            path.unlink(missing_ok=True)
            records = []
        digest = hashlib.blake2b(token.encode("utf-8", "replace"), digest_size=8).digest()
        if any(digest == own for _, own in records[-REMEMBERED:]):
            return
        if not records:
            self._make_room()
        try:
            _append(path, now, digest)
        except OSError as error:  # a full disk must not end the service
            log.warning("wrong tokens can not be counted: %s", error)
        log.warning("a wrong token from %s, the %d. in a row", address, len(records) + 1)

    def forget(self, address: str) -> None:
        """Begin anew with an address, because its token was right."""
        with suppress(FileNotFoundError):
            self._path(address).unlink()

    def _path(self, address: str) -> Path:
        return self._folder / _name(address)

    def _make_room(self) -> None:
        """Forget a part of the addresses, those that failed longest ago, if there are too many."""
        paths = list(self._folder.iterdir())
        if len(paths) < MOST:
            return
        oldest = sorted((_read(path)[-1:], path) for path in paths)
        for _, path in oldest[: max(1, MOST // 4)]:
            path.unlink(missing_ok=True)


def _read(path: Path) -> Records:
    """The wrong tokens of an address, the last one at the end."""
    with suppress(OSError):
        content = path.read_bytes()
        return list(RECORD.iter_unpack(content[: len(content) // RECORD.size * RECORD.size]))
    return []


def _append(path: Path, *record: float | bytes) -> None:
    with path.open("ab", buffering=0) as file:  # one call to the system, so records stay whole
        file.write(RECORD.pack(*record))


@lru_cache(1024)
def _name(address: str) -> str:
    """Name of the file of an address."""
    return hashlib.blake2b(_group(address).encode("utf-8", "replace"), digest_size=16).hexdigest()


def _group(address: str) -> str:
    """Addresses that one client has: one of IPv4, or 2**64 of IPv6.

    >>> _group("192.0.2.1"), _group("2001:db8::1")
    ('192.0.2.1', '2001:db8::/64')
    """
    if ":" not in address:
        return address
    try:
        own = ipaddress.IPv6Address(address.partition("%")[0])
    except ValueError:
        return address
    return str(own.ipv4_mapped or ipaddress.IPv6Network((own, 64), strict=False))
