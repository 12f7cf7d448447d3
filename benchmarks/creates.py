"""Make the same collection in several processes at once, and check that one of them has made it.

    python benchmarks/creates.py [--count 500] [--seed 0] [--quick]

In each round two to four processes call `Collection.create` on the same folder at the same moment,
each with another model; the folder is missing, or empty, or holds what a killed `create` left. The
one that succeeds adds items. Exactly one may succeed, all others must get a `CollectionError`, and
afterwards the collection must have the winner's model and items, and be whole. If nobody succeeds,
this is counted, and so is what is left of the folder.
"""

import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from crashing.albums import columns, model_of, wrong_album
from crashing.processes import run_all
from crashing.tally import Tally, options
from crashing.world import N_MODELS, READER, Pool

from zshash import Collection
from zshash.collection import CollectionError

SECONDS = 60.0
BEFORE = ("missing", "missing with its parent", "empty", "left by a killed create")
NUMBERS = range(20)


def main() -> None:
    """Create, print the counts, and fail if there was a violation."""
    given = options(__doc__, 500, 15, "rounds")
    rng, tally = random.Random(given.seed), Tally()
    with tempfile.TemporaryDirectory() as folder:
        pool = Pool(Path(folder).resolve())
        for number in range(given.count):
            one_round(pool, pool.folder.parent / f"round {number}", rng, tally)
    sys.exit(tally.report())


def one_round(pool: Pool, parent: Path, rng: random.Random, tally: Tally) -> None:
    """Let some processes make the same folder, and check what they made."""
    before, n = rng.choice(BEFORE), rng.randint(2, 4)
    folder = parent / "new" / "album" if before.endswith("parent") else parent / "album"
    prepare(folder, before, pool)
    start = time.monotonic() + 0.02
    moments = [start + rng.uniform(0, 0.004) for _ in range(n)]

    def creator(number: int) -> Callable[[int], None]:
        return lambda pipe: create(pipe, folder, pool, number, moments[number])

    told = run_all([creator(number) for number in range(n)], SECONDS)
    tally.attempts[f"{n} processes"] += 1
    tally.attempts[f"folder {before}"] += 1
    judge(folder, pool, told, tally)
    shutil.rmtree(parent, ignore_errors=True)


def prepare(folder: Path, before: str, pool: Pool) -> None:
    """Make the folder as it is before the round."""
    if before.startswith("missing"):
        return
    folder.mkdir(parents=True)
    if before.startswith("left"):  # a model, and a catalogue without tables
        data = pool.models[0].read_bytes()
        (folder / f"model-{pool.checksums[0][:12]}.safetensors").write_bytes(data)
        (folder / "catalogue.sqlite").touch()


def create(pipe: int, folder: Path, pool: Pool, number: int, moment: float) -> None:
    """Make the collection at a moment, and tell how that ended."""
    model = number % N_MODELS
    time.sleep(max(0.0, moment - time.monotonic() - 0.001))
    while time.monotonic() < moment:
        pass
    try:
        with Collection.create(folder, pool.models[model], reader=READER) as collection:
            collection.add(pool.X[list(NUMBERS)], **columns(NUMBERS, str(number)))
        told = ["made", str(model)]
    except CollectionError as error:
        told = ["refused", str(error)]
    except BaseException as error:
        told = ["failed", repr(error)]
    os.write(pipe, json.dumps(told).encode())


def judge(folder: Path, pool: Pool, told: list[bytes | None], tally: Tally) -> None:
    """Count what the processes told, and check the folder."""
    answers = [json.loads(own) if own else ["failed", "the process died or hangs"] for own in told]
    made = [model for how, model in answers if how == "made"]
    for how, what in answers:
        if how == "failed" or "damaged" in what:
            tally.violate("another error than a clear refusal", what)
    if not made:
        tally.violate("nobody succeeded", [what for _, what in answers])
        if not folder.exists():
            tally.violate("nobody succeeded, and the folder is gone")
        return
    if len(made) > 1:
        tally.violate("several succeeded", len(made))
    faults = wrong_album(folder, pool, NUMBERS)
    tally.violate_all(faults)
    if not faults:
        with Collection.open(folder, reader=READER) as collection:
            if str(model_of(collection, pool)) not in made:
                tally.violate("the model of one who did not succeed")


if __name__ == "__main__":
    main()
