"""Flip bits and bytes of a collection's files, cut the files off, and check what it answers then.

    python benchmarks/damage.py [--quick | --flips N]

Every case works on a fresh copy of a small collection, which has features, thumbnails, labels,
copies of pictures, and changes that came after its snapshot. It is tried in three states: closed;
closed without a new snapshot, so that the log of changes is followed; and after its writer was
killed, so that SQLite's log is read. In the catalogue all bits of the file's header and of the
first 12 bytes of its pages are flipped, 3000 random bits of the other bytes that are not zero, 3000
of the zero bytes, and 2000 bytes get another value; in the other files every bit is flipped once.
Each file is also cut off at many lengths. A case ends in one of these ways:

refused   opening the collection, or asking something, raised an error that says why
rebuilt   (a snapshot) the file was made again, and all answers are right
verify    all answers about items are right, and `verify` tells that something is damaged
no harm   all answers are right, and nothing is damaged that matters
faults    an answer about items changed, or a picture did and `verify` found nothing: must be 0
"""

import argparse
import faulthandler
import io
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import zshash
from zshash import Collection
from zshash.collection import CollectionError
from zshash.collection.storage import store
from zshash.images import Extractor, PictureReader

N_ITEMS, N_BITS, N_PICTURES = 60, 16, 5
SECONDS = 30  # for one case
PAGE_HEADER, FILE_HEADER = 12, 100
CATALOGUE, LOG = "catalogue.sqlite", "catalogue.sqlite-wal"
PASSING = ("writer.lock", "catalogue.sqlite-shm")  # nothing in them outlives a process
HEADINGS = ("refused", "rebuilt", "verify", "no harm", "faults")
CONDITIONS = ("label = 'cat'", "year >= 2020", "path like '%7.jpg'", "id > 30", "not year > 0")


class Pixels(Extractor):
    """The pixels themselves, of pictures of two by two."""

    name, dimension, fingerprint, side = "pixels", 12, "pixels 1", 2

    def prepare(self, image: Any) -> Any:
        """Pixels as float32."""
        return np.asarray(image.resize((2, 2)), dtype=np.float32)

    def run(self, batch: Any) -> Any:
        """Pixels as rows."""
        return batch.reshape(len(batch), -1)


READER = PictureReader(extractor=Pixels(), cache=False)


def features() -> Any:
    """Features of the items that are no pictures."""
    return np.random.RandomState(0).randn(N_ITEMS, 12).astype(np.float32)


def picture(seed: int) -> bytes:
    """The bytes of a small picture."""
    pixels = np.random.RandomState(seed).randint(0, 256, (4, 4, 3), dtype=np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def pictures() -> list[bytes]:
    """The pictures that come as bytes."""
    return [picture(seed) for seed in range(N_PICTURES)]


def make(folder: Path, state: str) -> dict[str, bytes]:
    """Names and bytes of a collection's files, in one of the three states."""
    X, outside = features(), folder.parent / "outside"
    hasher = zshash.LSH(n_bits=N_BITS, normalize=False, random_state=0).fit(X)
    for number in range(4):
        outside.mkdir(exist_ok=True)
        (outside / f"{number}.png").write_bytes(picture(100 + number))
    made = Collection.create(folder, hasher, reader=READER, keep_features=True, thumbnails=8)
    with made as collection:
        collection.add(
            X,
            labels=[["cat", "dog"][: i % 3] for i in range(N_ITEMS)],
            metadata=[{"year": 2000 + i, "of": {"a": "ö"}} for i in range(N_ITEMS)],
            sources=[f"/photos/{i}.jpg" for i in range(N_ITEMS)],
        )
        collection.add_files(pictures(), labels=["cat"] * N_PICTURES)
        collection.sync(outside)
        collection.remove([7, 11])
        collection.compact()
    with Collection.open(folder, reader=READER) as collection:
        if state == "behind":
            collection._store.save = lambda: None  # type: ignore[method-assign]
        change_a_little(collection, outside)
        if state == "closed":
            collection.compact()
        if state == "in use":
            return contents(folder)
    return contents(folder)


def change_a_little(collection: Collection, outside: Path) -> None:
    """Make changes of every kind that the log of changes lists."""
    for number in (1, 2):
        (outside / f"{number}.png").write_bytes(picture(200 + number))
    collection.sync(outside)
    collection.remove([20, 21])
    collection.add_files([picture(50)])


def contents(folder: Path) -> dict[str, bytes]:
    """Bytes of all files of a folder, by their paths inside it."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    names = {path.relative_to(folder).as_posix(): path for path in files}
    return {name: path.read_bytes() for name, path in names.items() if name not in PASSING}


def put(folder: Path, files: dict[str, bytes]) -> None:
    """Write these files, and remove all others."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def answers(collection: Collection) -> list[Any]:
    """Everything that the collection says about its items."""
    queries = np.random.RandomState(1).randint(0, 256, (4, N_BITS // 8), dtype=np.uint8)
    ids = collection.ids.tolist()
    return [
        [collection.find(condition).tolist() for condition in CONDITIONS],
        len(collection),
        ids,
        collection.items(ids),
        collection.search(code=queries, k=10),
        collection.search(code=queries, k=10, where="label = 'cat'"),
        collection.search(code=queries, radius=5),
        collection.search(features()[:4], k=10),
        collection.labels(),
        collection.unknown_fields("year = 1 and nothing = 2"),
        collection.duplicates("alike", r=1),
    ]


def known_again(collection: Collection) -> list[Any]:
    """What adding everything once more finds; those that were removed before come back."""
    added = collection.add(features()), collection.add_files(pictures())
    return [(len(own.ids), own.duplicates.tolist(), own.failures) for own in added]


def shown(collection: Collection) -> list[Any]:
    """Thumbnails, and the bytes of the copies of pictures."""
    ids, folder = collection.ids.tolist(), collection.path / "pictures"
    names = sorted(path.name for path in folder.iterdir())
    return [
        collection.pictured(ids),
        [collection.thumbnail(number) for number in ids],
        names,
        [(folder / name).read_bytes() for name in names],
    ]


def ask(folder: Path) -> tuple[list[Any], list[Any], list[str], list[Any]]:
    """Answers, pictures, what `verify` finds, and what is known again."""
    with Collection.open(folder, reader=READER) as collection:
        found = answers(collection), shown(collection), list(collection.verify())
        return *found, known_again(collection)


def outcome(folder: Path, truth: tuple[list[Any], list[Any], list[str], list[Any]]) -> str:
    """How a damaged collection reacts, as a word for the table."""
    signal.alarm(SECONDS)
    faulthandler.dump_traceback_later(2 * SECONDS, exit=True)  # where no signal gets through
    try:
        said, seen, problems, known = ask(folder)
        if said != truth[0] or known != truth[3]:
            return f"another answer about items (verify: {problems})"
        if problems:
            return "verify"
        return "no harm" if seen == truth[1] else "another picture, unnoticed"
    except (CollectionError, zshash.ModelError):
        return "refused"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        signal.alarm(0)
        faulthandler.cancel_dump_traceback_later()


def too_long(*_: object) -> None:
    """Stop a case that takes too long."""
    raise TimeoutError(f"no answer within {SECONDS} seconds")


def flips(data: bytes, places: Any) -> Iterator[tuple[str, bytes]]:
    """Copies in which one bit is flipped."""
    for place in places:
        damaged = bytearray(data)
        damaged[place // 8] ^= 1 << place % 8
        yield f"bit {place}", bytes(damaged)


def other_bytes(data: bytes, places: Any, rng: Any) -> Iterator[tuple[str, bytes]]:
    """Copies in which one byte has another value."""
    for place in places:
        damaged = bytearray(data)
        damaged[place] ^= int(rng.randint(1, 256))
        yield f"byte {place}", bytes(damaged)


def cuts(data: bytes, lengths: Any) -> Iterator[tuple[str, bytes]]:
    """Copies that are cut off."""
    for length in lengths:
        yield f"cut off at {length}", data[:length]


def bits_of(name: str, data: bytes, rng: Any) -> Any:
    """Bits of a file to flip: all of them, or in a catalogue those of the headers and a sample."""
    bits = np.arange(8 * len(data))
    if not name.startswith(CATALOGUE):
        return bits
    places = bits // 8
    if name == LOG:  # a page with 24 bytes before it, and 32 before all
        page, first = int.from_bytes(data[8:12], "big") + 24, 32
    else:
        page, first = int.from_bytes(data[16:18], "big"), 0
    is_header = ((places - first) % page < PAGE_HEADER) | (places < FILE_HEADER)
    is_used = np.frombuffer(data, dtype=np.uint8)[places] != 0
    samples = [rng.choice(bits[~is_header & use], 3000) for use in (is_used, ~is_used)]
    return np.unique(np.concatenate([bits[is_header], *samples]))


def cases(name: str, data: bytes, most: int | None) -> Iterator[tuple[str, bytes]]:
    """All kinds of damage to a file; at most so many flips, if that is given."""
    rng = np.random.RandomState(0)
    bits = bits_of(name, data, rng)
    used = np.flatnonzero(np.frombuffer(data, dtype=np.uint8))
    n_bytes = min(len(used), 2000)
    n_cuts = 300
    if most is not None:
        bits = rng.choice(bits, min(len(bits), most // 2), replace=False)
        n_bytes, n_cuts = min(len(used), most // 2), min(12, most // 4)
    yield from flips(data, bits.tolist())
    yield from other_bytes(data, rng.choice(used, n_bytes, replace=False).tolist(), rng)
    yield from cuts(data, np.unique(np.linspace(0, len(data) - 1, n_cuts).astype(int)).tolist())


def judge(name: str, how: str, folder: Path, files: dict[str, bytes]) -> str:
    """The column of the table for a case, or a description of its fault."""
    if name.startswith("model"):
        return how if how == "refused" else f"a damaged model: {how}"
    if name.startswith("index"):
        if how != "no harm":
            return f"a damaged index: {how}"
        is_back = name not in contents(folder) or (folder / name).read_bytes() == files[name]
        return "rebuilt" if is_back else "a damaged index was not replaced"
    return how


def try_all(folder: Path, state: str, names: list[str], most: int | None) -> list[str]:
    """Damage some files of a collection in all ways, print a table, and return the faults."""
    faults = []
    files = make(folder, state)
    put(folder, files)
    truth = ask(folder)
    assert not truth[2], truth[2]
    for name in sorted(name for name in files if name.startswith(tuple(names))):
        start, counts = time.monotonic(), Counter[str]()
        for what, damaged in cases(name, files[name], most):
            put(folder, files | {name: damaged})
            verdict = judge(name, outcome(folder, truth), folder, files)
            counts[verdict if verdict in HEADINGS else "faults"] += 1
            faults += [] if verdict in HEADINGS else [f"{state}, {name}, {what}: {verdict}"]
        short = "log" if name == LOG else name.split("-")[0].split(".")[0].split("/")[0]
        row = f"{state:<9}{short:<12}{len(files[name]):>8}{counts.total():>8}"
        row += "".join(f"{counts[heading]:>9}" for heading in HEADINGS)
        print(f"{row} {time.monotonic() - start:.1f}", flush=True)
    return faults


def main() -> None:
    """Damage each file in all ways, print a table, and fail if anything was wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a sample, to see that it works")
    parser.add_argument("--flips", type=int, metavar="N", help="at most so many flips of each file")
    asked = parser.parse_args()
    most = 40 if asked.quick else asked.flips
    signal.signal(signal.SIGALRM, too_long)
    warnings.simplefilter("ignore")  # about pictures that can not be read any more
    store.LEAST_TAIL = 0  # also of a small collection the index is put back at once
    heads = "".join(f"{heading:>9}" for heading in HEADINGS)
    print(f"{'state':<9}{'file':<12}{'bytes':>8}{'cases':>8}{heads} seconds")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        faults = try_all(folder / "a", "closed", [""], most)
        faults += try_all(folder / "b", "behind", [CATALOGUE, "index"], most)
        faults += try_all(folder / "c", "in use", [LOG], most)
    for fault in faults[:20]:
        print(fault, file=sys.stderr)
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
