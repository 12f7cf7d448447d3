"""Interrupt the verbs of a collection by SIGINT (Ctrl-C), and go on with the same object.

    python benchmarks/interrupts.py [--count 2000] [--seed 0] [--quick]

A process like a notebook keeps the last exception with all its frames. Each verb is interrupted at
a random moment, spread over the time that it usually takes; four in ten are interrupted once more
while they clean up. After each KeyboardInterrupt the same object must hold the acknowledged items,
read and write; another process must be able to write, and both must see the same items; searches
must equal those of NumPy; `verify` must find nothing; no transaction may be open and no descriptor
leaked. At the end of a session the collection is closed and opened again, and must be right.
A session ends at its first violation, because one fault brings others.
"""

import json
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from crashing.processes import end, fork, read_some
from crashing.prompting import Prompt, add_one, all_facts, as_json, digest_of
from crashing.tally import Tally, options
from crashing.world import READER, Pool, World

from zshash import Collection

PER_SESSION = 20
SECONDS_TO_ANSWER = 60.0


def main() -> None:
    """Interrupt, print the counts, and fail if there was a violation."""
    given = options(__doc__, 2000, 40, "interrupts")
    tally, usual = Tally(), dict[str, float]()
    with tempfile.TemporaryDirectory() as folder:
        pool = Pool(Path(folder).resolve())
        for session in range(given.count):  # each interrupts at least once, or is a violation
            left = given.count - tally.attempts["interrupts"]
            if left <= 0 or tally.violations.total() >= max(20, given.count // 4):
                break
            here = pool.folder.parent / f"session {session}"
            (here / "photos").mkdir(parents=True)
            world = World(here / "collection", here / "photos", session % 2 == 0)
            one_session(world, pool, given.seed + session, min(PER_SESSION, left), tally, usual)
    sys.exit(tally.report())


def one_session(
    world: World, pool: Pool, seed: int, n: int, tally: Tally, usual: dict[str, float]
) -> None:
    """Let a child be interrupted some times, and write to its collection when it asks."""
    answers, answer = os.pipe()

    def child(pipe: int) -> None:
        os.close(answer)
        with os.fdopen(answers, "r") as lines:

            def ask(request: dict[str, Any]) -> dict[str, Any]:
                os.write(pipe, json.dumps({"ask": request}).encode() + b"\n")
                return dict(json.loads(lines.readline()))

            prompt = Prompt(world, pool, seed, usual, ask)
            text = as_json(prompt.run(n), prompt.usual)
            os.write(pipe, json.dumps({"result": text}).encode() + b"\n")

    process, pipe = fork(child)
    os.close(answers)
    try:
        result = serve(world, pool, pipe, answer)
    finally:
        os.close(answer)
        end(process, pipe, signal.SIGKILL)
    tally.attempts["sessions"] += 1
    if isinstance(result, str):
        tally.violate(result, f"seed {seed}")
        return
    attempts, violations, examples, told = result
    tally.add(Tally(Counter(attempts), Counter(violations), examples))
    usual.update(told)


def serve(world: World, pool: Pool, pipe: int, answer: int) -> Any:
    """Answer a child until it tells its counts; a text says why it did not."""
    rest = b""
    while part := read_some(pipe, time.monotonic() + SECONDS_TO_ANSWER):
        *lines, rest = (rest + part).split(b"\n")
        for line in lines:
            record = json.loads(line)
            if "result" in record:
                return json.loads(record["result"])
            text = json.dumps(write_elsewhere(world, pool, record["ask"]))
            os.write(answer, text.encode() + b"\n")
    return "the process hangs" if part is None else "the process died"


def write_elsewhere(world: World, pool: Pool, request: dict[str, Any]) -> dict[str, Any]:
    """Write as another process, and tell what is there."""
    try:
        with Collection.open(world.folder, reader=READER) as collection:
            ids = add_one(collection, pool, request["number"], request["source"])
            found = all_facts(collection)
            told = {"ids": ids, "n": len(found), "digest": digest_of(found)}
            return told | {"verify": collection.verify()}
    except Exception as error:  # the child counts it
        return {"error": repr(error)}


if __name__ == "__main__":
    main()
