"""Counts of attempts and violations, the table that is printed, and the options of a program."""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Tally", "options"]

MOST_EXAMPLES = 3  # of each kind


@dataclass
class Tally:
    """Counts of what was tried, and of what was wrong."""

    attempts: Counter[str] = field(default_factory=Counter)
    violations: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)
    started: float = field(default_factory=time.monotonic)

    def violate(self, kind: str, what: object = "") -> None:
        """Count a violation; the first ones of each kind are shown."""
        self.violations[kind] += 1
        self.examples.setdefault(kind, []).append(str(what))
        del self.examples[kind][MOST_EXAMPLES:]

    def violate_all(self, faults: Iterable[tuple[str, str]]) -> None:
        """Count several violations."""
        for kind, what in faults:
            self.violate(kind, what)

    def add(self, other: "Tally") -> None:
        """Add the counts of another process."""
        self.attempts += other.attempts
        self.violations += other.violations
        for kind, examples in other.examples.items():
            known = self.examples.setdefault(kind, [])
            known += examples[: MOST_EXAMPLES - len(known)]

    def report(self) -> int:
        """Print a table, and return the exit status: 1 if there was a violation."""
        print(f"{'what was done':<44}{'times':>8}")
        for kind, n in sorted(self.attempts.items()):
            print(f"{kind:<44}{n:>8}")
        print(f"\n{'violations':<44}{'times':>8}")
        for kind, n in sorted(self.violations.items()):
            print(f"{kind:<44}{n:>8}")
        print(f"{'all':<44}{self.violations.total():>8}")
        print(f"\nseconds {time.monotonic() - self.started:.1f}")
        for kind, examples in self.examples.items():
            for example in examples:
                print(f"{kind}: {example}", file=sys.stderr)
        return int(bool(self.violations))


def options(text: str | None, count: int, quick: int, of_what: str, *more: str) -> Any:
    """Read the command line: `count`, which is `quick` with --quick; `seed`; further flags."""
    parser = argparse.ArgumentParser(description=(text or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=count, help=f"number of {of_what}")
    parser.add_argument("--seed", type=int, default=0, help="seed of all random choices")
    parser.add_argument("--quick", action="store_true", help=f"{quick} {of_what}, to see it works")
    for flag in more:
        name, _, help_text = flag.partition(": ")
        parser.add_argument(name, action="store_true", help=help_text)
    given = parser.parse_args()
    if given.quick:
        given.count = quick
    return given
