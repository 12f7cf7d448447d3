"""Wrong tokens: they are counted for each address, and further guesses have to wait."""

import hashlib
import ipaddress
import logging
import time
from collections import OrderedDict
from dataclasses import dataclass, field

__all__ = ["Failures"]

FREE = 5  # wrong tokens of an address that cost nothing
LONGEST = 30.0  # seconds to wait at most
FORGOTTEN = 900.0  # seconds without a wrong token after which an address begins anew
MOST = 4096  # addresses that are remembered
REMEMBERED = 8  # wrong tokens of an address that are known again
log = logging.getLogger("zshash.web")


@dataclass(slots=True)
class _Guesser:
    n: int = 0
    last: float = 0.0
    until: float = 0.0
    tokens: list[bytes] = field(default_factory=list)


class Failures:
    """Wrong tokens by address.

    After some different wrong tokens, requests with a token from this address are refused for a
    second, then two, up to half a minute. They are refused whether the token is right or wrong:
    otherwise the answer would tell a guess that is right. So somebody who guesses can keep programs
    behind the same address waiting; browsers with a session go on, because sessions are never
    slowed. The same wrong token counts once: a program with an old token locks nobody out. The
    right token lets the address begin anew.

    Each process counts for itself. The memory is bounded: the address that failed longest ago is
    forgotten.

    Examples
    --------
    >>> failures = Failures()
    >>> for i in range(6):
    ...     failures.note("192.0.2.1", f"guess {i}", now=0.0)
    >>> failures.wait("192.0.2.1", now=0.0), failures.wait("192.0.2.2", now=0.0)
    (1.0, 0.0)
    """

    def __init__(self) -> None:
        self._known: OrderedDict[str, _Guesser] = OrderedDict()

    def wait(self, address: str, now: float | None = None) -> float:
        """Seconds until a token of this address is looked at again; 0 if that is now."""
        if not self._known:
            return 0.0
        guesser = self._known.get(_group(address))
        now = time.monotonic() if now is None else now
        return 0.0 if guesser is None else max(0.0, guesser.until - now)

    def note(self, address: str, token: str, now: float | None = None) -> None:
        """Note that a token of this address was wrong."""
        now = time.monotonic() if now is None else now
        guesser = self._guesser(_group(address), now)
        digest = hashlib.blake2b(token.encode("utf-8", "replace"), digest_size=8).digest()
        if digest in guesser.tokens:
            return
        guesser.tokens = [*guesser.tokens[1 - REMEMBERED :], digest]
        guesser.n, guesser.last = guesser.n + 1, now
        if guesser.n > FREE:
            guesser.until = now + min(LONGEST, 2.0 ** min(guesser.n - FREE - 1, 10))
        log.warning("a wrong token from %s, the %d. in a row", address, guesser.n)

    def forget(self, address: str) -> None:
        """Begin anew with an address, because its token was right."""
        if self._known:
            self._known.pop(_group(address), None)

    def _guesser(self, group: str, now: float) -> _Guesser:
        guesser = self._known.pop(group, None)
        if guesser is None or now - guesser.last > FORGOTTEN:
            guesser = _Guesser()
        self._known[group] = guesser
        if len(self._known) > MOST:
            self._known.popitem(last=False)
        return guesser


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
