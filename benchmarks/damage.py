"""Flip bits of a collection's files, cut them off, and look what the collection makes of it.

    python benchmarks/damage.py [--quick]

Every case works on a fresh copy of a small collection. In the model and in the derived index every
bit is flipped once. In the catalogue, which is larger, these are all bits of the file's header
and of the first 12 bytes of its pages, 3000 drawn at random from the other bytes that are not
zero, and as many from those that are. Each file is also cut off at many lengths. What must come
of it:

model       the collection is not opened, and says why
index       is made anew from the catalogue, and all answers are right
generation  a note of how far the catalogue has come, without which all answers are right
catalogue   an error, or all items that are given out are right; where a condition finds other
            items than before, `verify` finds damage
log         of a catalogue whose writer was killed: the same; what it loses is missed
"""

import argparse
import faulthandler
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import zshash
from zshash import Collection
from zshash.collection import CollectionError, store

N_ITEMS, N_BITS = 60, 16
SECONDS = 30  # for one case
PAGE_HEADER, FILE_HEADER = 12, 100
LOG = "catalogue.sqlite-wal"
PASSING = ("writer.lock", "catalogue.sqlite-shm")  # nothing in them outlives a process
HEADINGS = ("refused", "rebuilt", "no harm", "verify", "faults")


def make(folder: Path, is_closed: bool) -> dict[str, bytes]:
    """The files of a collection, closed, or as a process leaves it that is killed."""
    rng = np.random.RandomState(0)
    X = rng.randn(N_ITEMS, 4).astype(np.float32)
    hasher = zshash.LSH(n_bits=N_BITS, random_state=0).fit(X)
    with Collection.create(folder, hasher, keep_features=True) as collection:
        collection.add(
            X,
            labels=[["cat", "dog"][: i % 3] for i in range(N_ITEMS)],
            metadata=[{"year": 2000 + i, "of": {"a": "ö"}} for i in range(N_ITEMS)],
            sources=[f"/photos/{i}.jpg" for i in range(N_ITEMS)],
        )
        collection.remove([7, 11])
        if is_closed:
            collection.compact()
            collection.close()
        return {p.name: p.read_bytes() for p in folder.iterdir() if p.name not in PASSING}


def put(folder: Path, files: dict[str, bytes]) -> None:
    """These files, and no others."""
    for path in folder.iterdir():
        path.unlink()
    for name, data in files.items():
        (folder / name).write_bytes(data)


def found(collection: Collection) -> Any:
    """Which items conditions find, in the catalogue alone."""
    conditions = ("label = 'cat'", "year >= 2020", "path like '%7.jpg'", "id > 30")
    return [collection.find(condition).tolist() for condition in conditions]


def given_out(collection: Collection) -> Any:
    """Items as they are and as searches give them."""
    queries = np.random.RandomState(1).randint(0, 256, (4, N_BITS // 8), dtype=np.uint8)
    return (
        len(collection),
        collection.ids.tolist(),
        collection.items(collection.ids),
        collection.search_codes(queries, 10),
        collection.search_codes(queries, 10, where="label = 'cat'"),
        collection.radius_codes(queries, 5),
    )


def outcome(folder: Path, truth: tuple[Any, Any]) -> str:
    """What becomes of a damaged collection."""
    signal.alarm(SECONDS)
    faulthandler.dump_traceback_later(2 * SECONDS, exit=True)  # where no signal gets through
    try:
        with Collection.open(folder) as collection:
            if found(collection) != truth[0]:
                is_noticed = collection.verify()
                return "verify" if is_noticed else "a condition finds other items, unnoticed"
            same = given_out(collection) == truth[1]
            return "no harm" if same else "other items were given out"
    except (CollectionError, zshash.ModelError):
        return "refused"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        signal.alarm(0)


def too_long(*_: object) -> None:
    """What happens when a case takes too long."""
    raise TimeoutError(f"no answer within {SECONDS} seconds")


def flips(data: bytes, places: Any) -> Iterator[tuple[str, bytes]]:
    """Copies with one other bit."""
    for place in places:
        damaged = bytearray(data)
        damaged[place // 8] ^= 1 << place % 8
        yield f"bit {place}", bytes(damaged)


def cuts(data: bytes, lengths: Any) -> Iterator[tuple[str, bytes]]:
    """Copies that end too early."""
    for length in lengths:
        yield f"cut off at {length}", data[:length]


def cases(name: str, data: bytes, quick: bool) -> Iterator[tuple[str, bytes]]:
    """All kinds of damage to a file."""
    rng = np.random.RandomState(0)
    bits = np.arange(8 * len(data))
    if name.startswith("catalogue"):
        places = bits // 8
        if name == LOG:  # a page with 24 bytes before it, and 32 before all
            page, first = int.from_bytes(data[8:12], "big") + 24, 32
        else:
            page, first = int.from_bytes(data[16:18], "big"), 0
        is_header = ((places - first) % page < PAGE_HEADER) | (places < FILE_HEADER)
        is_used = np.frombuffer(data, dtype=np.uint8)[places] != 0
        samples = [rng.choice(bits[~is_header & use], 3000) for use in (is_used, ~is_used)]
        bits = np.unique(np.concatenate([bits[is_header], *samples]))
    if quick:
        bits = rng.choice(bits, min(len(bits), 120), replace=False)
    lengths = np.unique(np.linspace(0, len(data) - 1, 12 if quick else 300).astype(int))
    yield from flips(data, bits.tolist())
    yield from cuts(data, lengths.tolist())


def judge(name: str, how: str, folder: Path, files: dict[str, bytes]) -> str:
    """The column that a case counts in, or the fault itself."""
    if name.startswith("model"):
        return how if how == "refused" else f"a damaged model: {how}"
    if name.startswith("index"):
        if how != "no harm":
            return f"a damaged index: {how}"
        is_back = (folder / name).read_bytes() == files[name]
        return "rebuilt" if is_back else "a damaged index was not replaced"
    return how


def try_all(folder: Path, names: list[str], is_closed: bool, quick: bool) -> list[str]:
    """Damage some files of a collection in all ways and print what came of it; the faults."""
    faults = []
    files = make(folder, is_closed)
    put(folder, files)
    with Collection.open(folder) as collection:
        truth = found(collection), given_out(collection)
    for name in names or sorted(files):
        start, counts = time.monotonic(), Counter[str]()
        for what, damaged in cases(name, files[name], quick):
            put(folder, files | {name: damaged})
            verdict = judge(name, outcome(folder, truth), folder, files)
            counts[verdict if verdict in HEADINGS else "faults"] += 1
            faults += [] if verdict in HEADINGS else [f"{name}, {what}: {verdict}"]
        short = "log" if name == LOG else name.split("-")[0].split(".")[0]
        row = f"{short:<12}{len(files[name]):>8}{counts.total():>8}"
        row += "".join(f"{counts[heading]:>9}" for heading in HEADINGS)
        print(f"{row} {time.monotonic() - start:.1f}")
    return faults


def main() -> None:
    """Damage each file in all ways, print a table, and fail if anything was wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a sample, to see that it works")
    quick = parser.parse_args().quick
    signal.signal(signal.SIGALRM, too_long)
    store.LEAST_TAIL = 0  # also of a small collection the index is put back at once
    print(f"{'file':<12}{'bytes':>8}{'cases':>8}" + "".join(f"{h:>9}" for h in HEADINGS), "seconds")
    with tempfile.TemporaryDirectory() as folder:
        faults = try_all(Path(folder) / "closed", [], True, quick)
        faults += try_all(Path(folder) / "in use", [LOG], False, quick)
    for fault in faults[:20]:
        print(fault, file=sys.stderr)
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
