"""Simulate losses of power: what was written and not synced is lost, or there in part.

    python benchmarks/power.py [--count 500] [--seed 0] [--quick] [--forget-syncs]

A process creates a collection and writes to it with every verb, and acknowledges each. A small
library, compiled by the C compiler of this machine (without one, nothing is done here), records all
its changes of files: writes, truncations, syncs, renames and deletions. Then the record is cut at
random places, and the folder is made as a disk could be after a loss of power at that moment: with
all that was synced, and with a random part of the rest. The collection must open, `verify` must
find nothing, everything acknowledged before the cut must be there, and all codes must be right. If
`create` was not acknowledged yet, the folder may be refused, and then `create` must work in it.

With --forget-syncs no sync counts. Then violations must be found: it shows that they would be.
"""

import json
import os
import pickle
import random
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from crashing.albums import columns, wrong_album
from crashing.disk import Record, disk_at, read_records
from crashing.processes import fork, read_all
from crashing.tally import Tally, options
from crashing.working import small_steps
from crashing.world import READER, Pool
from crashing.writers import Writer

from zshash import Collection
from zshash.collection import CollectionError

SECONDS = 120.0
CUTS_PER_RECORD = 100
VERBS = ("add", "add", "add_files", "imports", "remove", "reencode", "compact", "reopen")
N_TIMES_OPEN, N_VERBS = 4, 10
ACKS = "acknowledged"
SOURCE = Path(__file__).parent / "crashing" / "recorder.c"
NUMBERS = range(30)


def main() -> None:
    """Cut, print the counts, and fail if there was a violation."""
    if len(sys.argv) == 4 and sys.argv[1] == "work":
        work(Path(sys.argv[2]), int(sys.argv[3]))
        return
    given = options(
        __doc__, 500, 40, "cuts", "--forget-syncs: count no sync, which must show violations"
    )
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder).resolve()
        if library := compiled(here):
            cut_all(here, library, given, tally)
        else:
            tally.attempts["left out: there is no C compiler"] += 1
    sys.exit(tally.report())


def compiled(here: Path) -> Path | None:
    """Path of the library that records, or None without a compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or sys.platform != "linux":
        return None
    library = here / "recorder.so"
    command = [compiler, "-O1", "-shared", "-fPIC", "-U_FORTIFY_SOURCE", "-o", str(library)]
    subprocess.run([*command, str(SOURCE), "-ldl", "-lpthread"], check=True, timeout=SECONDS)
    return library


def cut_all(here: Path, library: Path, given: Any, tally: Tally) -> None:
    """Make records, and cut each of them at many places."""
    pool, rng = Pool(here), random.Random(given.seed)
    (here / "pool").write_bytes(pickle.dumps(pool))
    for start in range(0, given.count, CUTS_PER_RECORD):
        n = min(CUTS_PER_RECORD, given.count - start)
        records, root = recorded(here, library, given.seed + start)
        tally.attempts["recorded changes of files"] += len(records)
        tally.attempts["recorded syncs"] += sum(record.kind == "s" for record in records)
        if not is_complete(records, root):
            tally.violate("the record is not complete", "it does not give the real folder")
        for place in places(records, n, rng):
            one_cut(records[:place], root, pool, rng, given.forget_syncs, tally)


def recorded(here: Path, library: Path, seed: int) -> tuple[list[Record], Path]:
    """All changes of files by a process that writes to a collection, and where it wrote."""
    root, log = here / f"disk {seed}", here / f"log {seed}"
    root.mkdir()
    more = {"LD_PRELOAD": str(library), "RECORD_ROOT": str(root), "RECORD_LOG": str(log)}
    command = [sys.executable, __file__, "work", str(root), str(seed)]
    subprocess.run(command, env=os.environ | more, check=True, timeout=SECONDS)
    return read_records(log), root


def is_complete(records: list[Record], root: Path) -> bool:
    """Whether all records together give the folder as it is now."""
    return disk_at(records, root, False).last() == {
        path: path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and not path.name.endswith("-shm")
    }


def places(records: list[Record], n: int, rng: random.Random) -> list[int]:
    """Places to cut at; some of them while the collection is made."""
    made = next(i for i, own in enumerate(records) if own.first.startswith(b'["created"'))
    few = n // 10
    return sorted(
        [rng.randint(0, made) for _ in range(few)]
        + [rng.randint(made, len(records)) for _ in range(n - few)]
    )


def one_cut(
    records: list[Record], root: Path, pool: Pool, rng: random.Random, forgets: bool, tally: Tally
) -> None:
    """Make the disk as it could be after a cut, and check it."""
    last, is_made = acknowledged(records)
    with tempfile.TemporaryDirectory(dir=root.parent) as folder:
        target = Path(folder)
        disk_at(records, root, forgets).write(target, rng)
        seed = rng.randrange(2**31)

        def child(pipe: int) -> None:
            faults = wrong(target / "album", pool, last, is_made)
            os.write(pipe, json.dumps(faults).encode()[: 1 << 15])

        told = read_all(*fork(child), SECONDS)
    tally.attempts["cuts after create" if is_made else "cuts inside create"] += 1
    if told is None:
        tally.violate("the check died or hangs", f"cut at {len(records)}, seed {seed}")
        return
    tally.violate_all((kind, f"cut at {len(records)}: {what}") for kind, what in json.loads(told))


def acknowledged(records: list[Record]) -> tuple[dict[int, str], bool]:
    """For each number what was said last of it; and whether `create` was acknowledged."""
    last: dict[int, str] = {}
    is_made, inode = False, -1
    for record in records:
        if record.kind == "c" and record.path.name == ACKS:
            inode = record.inode
        elif record.kind == "w" and record.inode == inode:
            what, numbers = json.loads(record.first)
            is_made = is_made or what == "created"
            last |= dict.fromkeys(numbers, what)
    return last, is_made


def wrong(folder: Path, pool: Pool, last: dict[int, str], is_made: bool) -> list[tuple[str, str]]:
    """Everything that is wrong with the folder after a cut."""
    must = [number for number, what in last.items() if what == "added"]
    gone = [number for number, what in last.items() if what == "removed"]
    if is_made:
        return wrong_album(folder, pool, must, gone)
    try:
        Collection.open(folder, reader=READER).close()
    except CollectionError:
        try:
            Collection.create(folder, pool.models[0], reader=READER).close()
        except Exception as error:
            return [("half a create stands in the way", repr(error))]
    return wrong_album(folder, pool)


class Recorded(Writer):
    """A writer that acknowledges into a file, whose writes are recorded among all others."""

    def tell(self, what: str, numbers: list[int]) -> None:
        """Write an acknowledgement, in one piece."""
        os.write(self.acks, json.dumps([what, numbers]).encode())

    def _note(self, what: str, numbers: list[int], began: float) -> None:
        super()._note(what, numbers, began)
        self.tell(what, numbers)

    acks = -1


def work(root: Path, seed: int) -> None:
    """Create a collection and write to it with every verb; this process is recorded."""
    pool = pickle.loads((root.parent / "pool").read_bytes())  # of our own parent
    small_steps()
    folder = root / "album"
    writer = Recorded(folder, pool, 0, seed, VERBS)
    writer.acks = os.open(root / ACKS, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    keeps: Any = {"keep_features": True, "thumbnails": 16, "reader": READER}
    collection = Collection.create(folder, pool.models[0], **keeps)
    writer.tell("created", [])
    collection.add(pool.X[list(NUMBERS)], **columns(NUMBERS, "first"))
    writer.tell("added", list(NUMBERS))
    for _ in range(N_TIMES_OPEN):
        with collection:
            # The log is copied into the catalogue after every few pages, not after thousands.
            collection._store.catalogue.connection.execute("PRAGMA wal_autocheckpoint = 16")
            writer.work(collection, partial(next, iter([True] * N_VERBS), False))
        collection = Collection.open(folder, reader=READER)
    collection.close()


if __name__ == "__main__":
    main()
