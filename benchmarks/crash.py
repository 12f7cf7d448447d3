"""Kill a process that writes to a collection, again and again, and look what is left.

    python benchmarks/crash.py [--runs 1000] [--seed 0] [--quick]

In each run a child process works on a collection (adds codes, features and pictures, removes,
compacts, follows a folder, changes the model) and says when it begins and ends an operation. It is
killed by SIGKILL at a random moment inside one. Another process then holds what it finds in the
folder against what was acknowledged: all of that must be there, the operation that was cut off must
have happened in whole batches or not at all, no id may have been given twice, `verify` must find
nothing, and searches must give what NumPy gives. Batches and snapshots are made small, so that
there are many. After every other kill the collection is opened and that is killed, too, before
anybody looks. This is the death of a process: what the system holds for the disk is not lost, as
it would be if the power failed.
"""

import argparse
import json
import os
import pickle
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from crashing.looking import check
from crashing.working import work
from crashing.world import READER, Pool, World, outcomes, synced

from zshash import Collection
from zshash.collection import CollectionError

KINDS = ("create", "open", "add", "remove", "compact", "sync", "reencode", "close")
RUNS_PER_FOLDER = 25
SECONDS_TO_CHECK = 60.0


def fork(function: Callable[[int], None]) -> tuple[int, int]:
    """Run a function in a child; its process and the end of the pipe that it writes to."""
    out, into = os.pipe()
    process = os.fork()
    if process:
        os.close(into)
        return process, out
    try:
        os.close(out)
        function(into)
        status = 0
    except BaseException:
        traceback.print_exc()
        status = 1
    os._exit(status)  # nothing of the parent's is to be closed or flushed here


def read_some(pipe: int, until: float) -> bytes | None:
    """What comes next, nothing at the end, None when time is up."""
    ready, _, _ = select.select([pipe], [], [], max(0.0, until - time.monotonic()))
    return os.read(pipe, 1 << 16) if ready else None


def read_all(process: int, pipe: int, seconds: float) -> bytes | None:
    """All that a child writes; None if it takes too long or fails."""
    data, until = b"", time.monotonic() + seconds
    while (part := read_some(pipe, until)) is not None:
        if not part:
            break
        data += part
    if part is None:
        os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    os.close(pipe)
    return None if part is None or status else data


@dataclass
class Tally:
    """What happened in all runs."""

    kills: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=dict)  # how long operations take
    runs: int = 0
    finished: int = 0
    items: int = 0
    faults: list[str] = field(default_factory=list)


class Run:
    """One child, from its start to its end."""

    def __init__(self, world: World, pool: Pool, seed: int, target: str, tally: Tally) -> None:
        self.world, self.tally, self.target = world, tally, target
        self.rng = np.random.RandomState(seed)
        self.count = int(self.rng.randint(1, 3))
        self.kill_at, self.began, self.rest = float("inf"), 0.0, b""

        def child(pipe: int) -> None:
            def say(**record: Any) -> None:
                os.write(pipe, json.dumps(record).encode() + b"\n")

            work(world, pool, seed, target, say)

        self.process, self.pipe = fork(child)

    def watch(self) -> str:
        """Kill the child when it is time; what it was doing, or why it ended."""
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
        """Take down what the child says; a line that is not whole was never said."""
        *lines, self.rest = (self.rest + part).split(b"\n")
        for line in lines:
            record = json.loads(line)
            if "op" in record:
                self.begin(record)
            else:
                self.end(record)

    def begin(self, record: dict[str, Any]) -> None:
        """The child begins an operation: it may be the one to be killed in."""
        self.world.pending, self.began = record, time.monotonic()
        if record["op"] == self.target and self.kill_at == float("inf"):
            self.count -= 1
            if not self.count or self.target in ("create", "open", "close"):
                usual = self.tally.seconds.get(self.target, 0.01)
                self.kill_at = self.began + float(self.rng.uniform(0, 1.2 * usual))

    def end(self, record: dict[str, Any]) -> None:
        """The child has acknowledged an operation: from now on its outcome must be there."""
        world, pending = self.world, self.world.pending
        assert pending is not None
        took, kind = time.monotonic() - self.began, record["done"]
        usual = self.tally.seconds.get(kind, took)
        self.tally.seconds[kind] = 0.8 * usual + 0.2 * took
        world.created, world.pending = True, None
        if kind == "sync":
            names = {int(number): name for number, name in record["names"].items()}
            items, faults = synced(world, pending["files"], names)
            self.tally.faults += faults
            world.take(items)
        else:
            before = world.next_id
            world.take(*outcomes(world, pending)[-1])
            if kind == "add" and record["ids"] != list(range(before, world.next_id)):
                self.tally.faults.append("add: other ids than the next ones")


def kill_while_opening(world: World, rng: Any, tally: Tally) -> None:
    """Kill another child while it opens what the first one has left."""

    def child(_: int) -> None:
        with suppress(CollectionError):  # there is none yet
            Collection.open(world.folder, reader=READER)

    process, pipe = fork(child)
    time.sleep(float(rng.uniform(0, 1.2 * tally.seconds.get("open", 0.01))))
    os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    os.close(pipe)
    tally.kills["recovery"] += status == signal.SIGKILL


def one_run(world: World, pool: Pool, seed: int, tally: Tally) -> World:
    """Kill a child, and have another one look."""
    rng = np.random.RandomState(seed)
    kinds = [kind for kind in KINDS[1:] if kind != "reencode" or world.keeps_features]
    # Mostly one attempt at making it is cut off, now and then the next one, too.
    is_making = not world.created and rng.rand() < (0.9 if world.is_new else 0.3)
    target = "create" if is_making else str(rng.choice(kinds))
    world.is_new = False
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
    tally.items += n_items
    return world


def all_runs(n_runs: int, first_seed: int, folder: Path) -> Tally:
    """One run after the other, some on the same collection."""
    pool, tally = Pool(folder), Tally()
    for run in range(n_runs):
        if run % RUNS_PER_FOLDER == 0:
            here = folder / str(run)
            shutil.rmtree(folder / str(run - RUNS_PER_FOLDER), ignore_errors=True)
            (here / "photos").mkdir(parents=True)
            keeps = run // RUNS_PER_FOLDER % 2 == 0
            world = World(here / "collection", here / "photos", keeps)
        world = one_run(world, pool, first_seed + run, tally)
        if len(tally.faults) > 20:
            break
    return tally


def report(tally: Tally, seconds: float) -> None:
    """Print what happened."""
    print(f"{'killed inside':<16}{'kills':>7}{'usual ms':>10}")
    for kind in (*KINDS, "between", "recovery"):
        took = f"{1000 * tally.seconds[kind]:.1f}" if kind in tally.seconds else ""
        print(f"{kind:<16}{tally.kills[kind]:>7}{took:>10}")
    print(f"runs {tally.runs}, of them not killed {tally.finished}")
    print(f"items checked {tally.items}")
    print(f"faults {len(tally.faults)}")
    print(f"seconds {seconds:.1f}")
    for fault in tally.faults[:20]:
        print(fault, file=sys.stderr)


def main() -> None:
    """Run, print, and fail if anything was wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000, help="how often to kill")
    parser.add_argument("--seed", type=int, default=0, help="of the first run")
    parser.add_argument("--quick", action="store_true", help="25 runs, to see that it works")
    given = parser.parse_args()
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        tally = all_runs(25 if given.quick else given.runs, given.seed, Path(folder).resolve())
    report(tally, time.monotonic() - start)
    sys.exit(bool(tally.faults))


if __name__ == "__main__":
    main()
