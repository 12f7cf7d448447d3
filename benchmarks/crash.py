"""Kill a process that writes to a collection, again and again, and check what is left.

    python benchmarks/crash.py [--count 1000] [--seed 0] [--quick]

In each run a child process works on a collection with every verb that writes (it creates, brings
the collection to a later format, adds features, pictures, files and codes, imports, removes, syncs,
re-encodes, compacts and exports) and says when it begins and ends an operation. It is killed by
SIGKILL at a random moment inside one, until there were `--count` kills. Another process then
compares the folder with the acknowledged operations: all of them must be there with the right
codes, the interrupted operation must have happened in whole batches or not at all, no id may be
used twice, `verify` must find nothing, searches must equal those of NumPy, the next process can
write, and a file of an interrupted export is whole or missing. Batches and snapshots are small, so
that there are many. After every other kill, a process that opens the collection is killed, too,
before the check. Only a process dies here: what the system has buffered for the disk is not lost.
`power.py` drops that, too.
"""

import argparse
import json
import os
import pickle
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from crashing.looking import check
from crashing.processes import fork, read_all, read_some
from crashing.working import kinds_for, use_format, work
from crashing.world import ADDING, READER, Pool, World

from zshash import Collection
from zshash.collection import CollectionError

KINDS = (
    "create",
    "open",
    "migrate",
    *ADDING,
    "remove",
    "compact",
    "sync",
    "reencode",
    "export",
    "close",
)
RUNS_PER_FOLDER = 25
SECONDS_TO_CHECK = 60.0


@dataclass
class Tally:
    """Counts and faults of all runs."""

    kills: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=dict)  # how long operations take
    runs: int = 0
    finished: int = 0
    items: int = 0
    faults: list[str] = field(default_factory=list)
    wrong: Counter[str] = field(default_factory=Counter)  # faults after a kill inside what


class Run:
    """The run of one child, from its start to its end."""

    def __init__(self, world: World, pool: Pool, seed: int, target: str, tally: Tally) -> None:
        self.world, self.pool, self.tally, self.target = world, pool, tally, target
        self.rng = np.random.RandomState(seed)
        self.count = int(self.rng.randint(1, 3))
        self.kill_at, self.began, self.rest = float("inf"), 0.0, b""

        def child(pipe: int) -> None:
            def say(**record: Any) -> None:
                os.write(pipe, json.dumps(record).encode() + b"\n")

            work(world, pool, seed, target, say)

        self.process, self.pipe = fork(child)

    def watch(self) -> str:
        """Kill the child when it is time; returns its operation, or why it ended."""
        is_killed = False
        while part := read_some(self.pipe, min(self.kill_at, time.monotonic() + SECONDS_TO_CHECK)):
            self.hear(part)
        if part is None:
            os.kill(self.process, signal.SIGKILL)
            is_killed = True
            while part := os.read(self.pipe, 1 << 16):
                self.hear(part)
        _, status = os.waitpid(self.process, 0)
        os.close(self.pipe)
        if not is_killed:
            return "failed" if status else "finished"
        if self.kill_at == float("inf"):
            return "stuck"
        return self.world.pending["op"] if self.world.pending else "between"

    def hear(self, part: bytes) -> None:
        """Read the messages of the child; an incomplete line does not count."""
        *lines, self.rest = (self.rest + part).split(b"\n")
        for line in lines:
            record = json.loads(line)
            if "op" in record:
                self.begin(record)
            else:
                self.end(record)

    def begin(self, record: dict[str, Any]) -> None:
        """Note that the child begins an operation; it may be killed in this one."""
        self.world.pending, self.began = record, time.monotonic()
        if record["op"] == self.target and self.kill_at == float("inf"):
            self.count -= 1
            if not self.count or self.target in ("create", "open", "migrate", "close"):
                usual = self.tally.seconds.get(self.target, 0.01)
                self.kill_at = self.began + float(self.rng.uniform(0, 1.2 * usual))

    def end(self, record: dict[str, Any]) -> None:
        """Note that the child acknowledged an operation: from now on it must not be lost."""
        took, kind = time.monotonic() - self.began, record["done"]
        usual = self.tally.seconds.get(kind, took)
        self.tally.seconds[kind] = 0.8 * usual + 0.2 * took
        self.tally.faults += self.world.acknowledge(record, self.pool)


def kill_while_opening(world: World, rng: Any, tally: Tally) -> None:
    """Kill another child while it opens the collection of the first one."""

    def child(_: int) -> None:
        use_format(world.formats)
        with suppress(CollectionError):  # there is none yet
            Collection.open(world.folder, reader=READER)

    process, pipe = fork(child)
    time.sleep(float(rng.uniform(0, 1.2 * tally.seconds.get("open", 0.01))))
    os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    os.close(pipe)
    tally.kills["recovery"] += status == signal.SIGKILL


def one_run(world: World, pool: Pool, seed: int, tally: Tally) -> World:
    """Kill a child, and let another child check the collection."""
    rng = np.random.RandomState(seed)
    kinds = ["open", "migrate", "close", *kinds_for(world)]
    # Mostly one attempt at making it is cut off, now and then the next one, too.
    is_making = not world.created and rng.rand() < (0.9 if world.is_new else 0.3)
    target = "create" if is_making else str(rng.choice(kinds))
    world.is_new = False
    world.formats += target == "migrate"
    how = Run(world, pool, seed, target, tally).watch()
    tally.runs += 1
    if how in ("failed", "stuck"):
        tally.faults.append(f"run {seed}: the child {how} at {world.pending}")
    tally.finished += how == "finished"
    tally.kills[how] += how != "finished"
    if how != "finished" and rng.randint(2):
        kill_while_opening(world, rng, tally)

    def child(pipe: int) -> None:
        with os.fdopen(pipe, "wb") as file:
            pickle.dump(check(world, pool, seed), file)

    answer = read_all(*fork(child), SECONDS_TO_CHECK)
    if answer is None:
        tally.faults.append(f"run {seed}: no answer from the child that looks what is there")
        return world
    faults, n_items, world = pickle.loads(answer)  # of our own child
    tally.faults += [f"run {seed}, killed at {how}: {fault}" for fault in faults]
    tally.wrong[how] += len(faults)
    tally.items += n_items
    return world


def all_runs(n_kills: int, first_seed: int, folder: Path) -> Tally:
    """One run after the other, some on the same collection."""
    pool, tally = Pool(folder), Tally()
    for run in range(2 * n_kills):
        if run % RUNS_PER_FOLDER == 0:
            here = folder / str(run)
            shutil.rmtree(folder / str(run - RUNS_PER_FOLDER), ignore_errors=True)
            (here / "photos").mkdir(parents=True)
            keeps = run // RUNS_PER_FOLDER % 2 == 0
            world = World(here / "collection", here / "photos", keeps)
        world = one_run(world, pool, first_seed + run, tally)
        n_killed = tally.kills.total() - tally.kills["recovery"]
        if n_killed >= n_kills or len(tally.faults) > 20:
            break
    return tally


def report(tally: Tally, seconds: float) -> None:
    """Print what happened."""
    print(f"{'killed inside':<16}{'kills':>7}{'usual ms':>10}{'violations':>12}")
    for kind in (*KINDS, "between", "recovery"):
        took = f"{1000 * tally.seconds[kind]:.1f}" if kind in tally.seconds else ""
        print(f"{kind:<16}{tally.kills[kind]:>7}{took:>10}{tally.wrong[kind]:>12}")
    print(f"runs {tally.runs}, of them not killed {tally.finished}")
    print(f"items checked {tally.items}")
    print(f"violations {len(tally.faults)}")
    print(f"seconds {seconds:.1f}")
    for fault in tally.faults[:20]:
        print(fault, file=sys.stderr)


def main() -> None:
    """Run, print the counts, and fail if there was a fault."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--count", "--runs", dest="count", type=int, default=1000, help="number of kills"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the first run")
    parser.add_argument("--quick", action="store_true", help="30 kills, to see that it works")
    given = parser.parse_args()
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        tally = all_runs(30 if given.quick else given.count, given.seed, Path(folder).resolve())
    report(tally, time.monotonic() - start)
    sys.exit(bool(tally.faults))


if __name__ == "__main__":
    main()
