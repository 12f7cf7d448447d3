"""Swap the folder of a collection, or delete its lock, while processes use it.

    python benchmarks/swaps.py [--count 100] [--seed 0] [--quick]

Four attacks, each `--count` times:

reader  a process reads an album while another album is moved to its place. Each answer must be that
        of the old album or that of the new one, as a whole, or a `CollectionError`.
writer  a process goes on writing while another album is moved to its place. The new album must stay
        whole, and the old one, too; what was acknowledged is in one of them. Where the old folder
        is deleted, what was begun after that and acknowledged must be in the new one.
stale   a process without write permission reads while a writer adds, removes and re-encodes, and
        stays open. What was acknowledged must be read at once, or the process gets an error. This
        needs the right to change the user (root); otherwise it is left out.
lock    ``writer.lock`` is deleted again and again while two processes write. In the end everything
        acknowledged must be there, with the right codes.
"""

import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from crashing.albums import make_album, number_of, wrong_album
from crashing.processes import fork, read_all, run_all
from crashing.readers import answers_of, ask_all
from crashing.strangers import read_as_nobody, write_for_others
from crashing.tally import Tally, options
from crashing.world import READER, Pool
from crashing.writers import Account, Writer, read_slowly

from zshash import Collection
from zshash.collection import CollectionError

SECONDS = 60.0
OLD, NEW = range(60), range(101, 161)
WRITES = ("add", "add", "add_files", "remove", "reencode", "compact")
LOCKED = ("add", "imports", "imports", "remove", "reencode", "reencode")


def main() -> None:
    """Attack, print the counts, and fail if there was a violation."""
    given = options(__doc__, 100, 5, "attacks of each kind")
    rng, tally = random.Random(given.seed), Tally()
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder).resolve()
        here.chmod(0o755)  # another user has to read in it
        pool = Pool(here)
        for number, name in enumerate(("old", "new")):
            make_album(here / name, pool, (OLD, NEW)[number], name, model=number).close()
        truth = [answers_of(here / name, pool) for name in ("old", "new")]
        for number in range(given.count):
            for attack in (reader, writer, stale, lock):
                place = here / f"{attack.__name__} {number}"
                place.mkdir()
                attack(place, pool, truth, rng, tally)
                shutil.rmtree(place, ignore_errors=True)
    sys.exit(tally.report())


def swap(place: Path, rng: random.Random) -> bool:
    """Move another album to the place of the album; returns whether the old one is deleted."""
    (place / "album").rename(place / "away")
    (place / "next").rename(place / "album")
    is_deleted = rng.random() < 0.4
    if is_deleted:
        shutil.rmtree(place / "away", ignore_errors=True)  # its writer may be at work
    return is_deleted


def prepare(place: Path) -> None:
    """Copy both albums to where they are swapped."""
    shutil.copytree(place.parent / "old", place / "album")
    shutil.copytree(place.parent / "new", place / "next")


def reader(place: Path, pool: Pool, truth: list[Any], rng: random.Random, tally: Tally) -> None:
    """Swap the folder under a process that reads."""
    prepare(place)
    seed = rng.randrange(2**31)

    def child(pipe: int) -> None:
        with Collection.open(place / "album", reader=READER) as collection:
            os.write(pipe, b"\n")
            told = ask_all(collection, pool, truth, 0.15, seed)
        os.write(pipe, json.dumps(told).encode())

    process, pipe = fork(child)
    os.read(pipe, 1)
    time.sleep(rng.uniform(0, 0.08))
    swap(place, rng)
    told = read_all(process, pipe, SECONDS)
    tally.attempts["reader: swaps"] += 1
    if told is None:
        tally.violate("reader: the process died or hangs")
        return
    counts, faults = json.loads(told)
    for kind, n in counts.items():
        tally.attempts[f"reader: {kind}"] += n
    tally.violate_all((f"reader: {kind}", what) for kind, what in faults)


def writer(place: Path, pool: Pool, _: list[Any], rng: random.Random, tally: Tally) -> None:
    """Swap the folder under a process that writes."""
    prepare(place)
    process, pipe = fork(writing(place / "album", pool, 0, rng.randrange(2**31), WRITES, 0.25))
    os.read(pipe, 1)
    time.sleep(rng.uniform(0, 0.12))
    is_deleted = swap(place, rng)
    swapped = time.monotonic()
    told = read_all(process, pipe, SECONDS)
    tally.attempts["writer: swaps"] += 1
    if told is None:
        tally.violate("writer: the process died or hangs")
        return
    account, done, unclear = json.loads(told)
    for kind, n in done.items():
        tally.attempts[f"writer: {kind}"] += n
    for what in unclear[:1]:  # others follow from it
        tally.violate("writer: no clear refusal", what)
    tally.violate_all(wrong_after_swap(place, pool, account, None if not is_deleted else swapped))


def wrong_after_swap(
    place: Path, pool: Pool, account: Account, since: float | None
) -> list[tuple[str, str]]:
    """Faults of both albums; `since` when the old one is deleted, or None."""
    new, old = place / "album", place / "away"
    faults = [(f"writer: new: {kind}", what) for kind, what in wrong_album(new, pool, NEW)]
    there = present(new)
    if since is None:
        faults += [(f"writer: old: {kind}", what) for kind, what in wrong_album(old, pool, OLD)]
        there |= present(old)
    later = {
        what: [own for own in own_list if since is None or own[1] > since]
        for what, own_list in account.items()
    }
    must = set[int]()
    tell(later, must, set())
    if lost := must - there:
        faults.append(("writer: acknowledged items are lost", f"{sorted(lost)[:5]}"))
    return faults


def present(folder: Path) -> set[int]:
    """Numbers of all items of an album, as far as it can be read."""
    with suppress(Exception), Collection.open(folder, reader=READER) as collection:
        return {number_of(item) for item in collection.items()}
    return set()


def writing(
    folder: Path, pool: Pool, place: int, seed: int, verbs: tuple[str, ...], seconds: float
) -> Callable[[int], None]:
    """A child that writes for some seconds and tells its account."""

    def child(pipe: int) -> None:
        read_slowly(seed)
        own = Writer(folder, pool, place, seed, verbs)
        collection = Collection.open(folder, reader=READER)
        os.write(pipe, b"\n")
        until = time.monotonic() + seconds
        own.work(collection, lambda: time.monotonic() < until)
        with suppress(CollectionError):
            collection.close()
        os.write(pipe, json.dumps([own.account, own.done, own.unclear]).encode())

    return child


def stale(place: Path, pool: Pool, _: list[Any], rng: random.Random, tally: Tally) -> None:
    """Write while somebody without write permission reads."""
    if os.geteuid() != 0:
        tally.attempts["stale: left out, only root can change the user"] += 1
        return
    folder = place / "album"
    shutil.copytree(place.parent / "old", folder)
    is_open_before = rng.random() < 0.5
    first = Collection.open(folder, reader=READER) if is_open_before else None
    if first:
        first.remove([0])
    ask, asked = os.pipe()

    def child(pipe: int) -> None:
        os.close(asked)
        read_as_nobody(folder, pool, ask, pipe)

    process, pipe = fork(child)
    os.close(ask)
    os.read(pipe, 1)
    collection = first or Collection.open(folder, reader=READER)
    try:
        wanted = write_for_others(collection, pool, rng)
        os.write(asked, b"\n")
        told = read_all(process, pipe, SECONDS)
    finally:
        os.close(asked)
        collection.close()
    tally.attempts["stale: reads beside a writer"] += 1
    answer = json.loads(told) if told else None
    if answer is None or answer[0] == "failed":
        tally.violate("stale: the process died or failed", answer)
    elif answer[0] == "refused":
        tally.attempts["stale: refused"] += 1
    elif answer[1] != wanted:
        tally.violate("stale: an answer from before the write", f"open before: {is_open_before}")


def lock(place: Path, pool: Pool, _: list[Any], rng: random.Random, tally: Tally) -> None:
    """Delete the lock file while two processes write."""
    folder = place / "album"
    shutil.copytree(place.parent / "old", folder)

    def deleting(_: int) -> None:
        until = time.monotonic() + 0.35
        while time.monotonic() < until:
            time.sleep(0.003)
            (folder / "writer.lock").unlink(missing_ok=True)

    seeds = [rng.randrange(2**31) for _ in range(2)]
    children = [writing(folder, pool, own, seeds[own], LOCKED, 0.3) for own in range(2)]
    told = run_all([*children, deleting], SECONDS)[:2]
    tally.attempts["lock: rounds"] += 1
    must, gone = set(range(60)), set[int]()
    for own in told:
        if own is None:
            tally.violate("lock: a process died or hangs")
            continue
        account, done, unclear = json.loads(own)
        for kind, n in done.items():
            tally.attempts[f"lock: {kind}"] += n
        for what in unclear[:1]:
            tally.violate("lock: no clear refusal", what)
        tell(account, must, gone)
    tally.violate_all(
        (f"lock: {kind}", what) for kind, what in wrong_album(folder, pool, must, gone)
    )


def tell(account: Account, must: set[int], gone: set[int]) -> None:
    """Take over from an account what must be in the album, and what must not."""
    last: dict[int, tuple[float, str]] = {}
    for what in ("added", "tried", "removed"):
        for number, _, ended in account[what]:
            last[number] = max(last.get(number, (0.0, "")), (ended, what))
    must |= {number for number, (_, what) in last.items() if what == "added"}
    gone |= {number for number, (_, what) in last.items() if what == "removed"}


if __name__ == "__main__":
    main()
