"""Change the model of a collection again and again while others search, import and sync.

    python benchmarks/races.py [--count 1000] [--seed 0] [--quick]

One process re-encodes a collection `--count` times, to and fro between two models with codes of the
same length. Meanwhile others search in Python (by features, bits, radius, name, item, code, with a
condition, and many queries at once), by command line (several queries) and over HTTP (searches,
why, items, map; a server of its own on 127.0.0.1); one imports codes that say which model made
them, and one syncs a folder of pictures. Each answer must be that of NumPy for one of the two
models, as a whole. In the end each code in the catalogue must be the one of its picture under the
last model.
"""

import os
import pickle
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from crashing.albums import make_album, wrong_album
from crashing.asking import GoesOn, ask_by_command, ask_by_http, ask_in_python
from crashing.processes import loads, read_all
from crashing.racing import FIXED, Truth, open_album
from crashing.tally import Tally, options
from crashing.world import N_PHOTOS, Pool
from crashing.writers import Writer, read_slowly
from serving.world import served

from zshash.collection import CollectionError
from zshash.collection.errors import BusyError

SECONDS_EACH = 3.0  # for a re-encode, with all that may be in its way
SECONDS_TO_END = 60.0


def main() -> None:
    """Race, print the counts, and fail if there was a violation."""
    given = options(__doc__, 1000, 15, "re-encodes")
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        race(Path(folder).resolve(), given.count, given.seed, tally)
    sys.exit(tally.report())


def race(here: Path, count: int, seed: int, tally: Tally) -> None:
    """Re-encode under load, and check everything at the end."""
    pool = Pool(here, is_named=True)
    truth, folder = Truth(pool, here), here / "album"
    make_album(folder, pool, FIXED, "fixed").close()
    until = time.monotonic() + SECONDS_EACH * count + SECONDS_TO_END

    def goes_on() -> bool:
        return not (here / "stop").exists() and time.monotonic() < until

    with served(folder) as (address, _):
        asks: list[Callable[[], Tally]] = [
            lambda: ask_in_python(folder, truth, seed, goes_on),
            lambda: ask_in_python(folder, truth, seed + 1, goes_on),
            lambda: ask_by_command(folder, truth, seed, goes_on),
            lambda: ask_by_http(address, truth, seed, goes_on),
            lambda: imports(folder, pool, seed, goes_on),
            lambda: syncs(folder, pool, here / "photos", seed, goes_on),
        ]
        with loads([told(ask) for ask in asks]) as children:
            reencode(folder, pool, count, until, tally)
            (here / "stop").touch()
            for child in children:
                take(read_all(*child, SECONDS_TO_END), tally)
    tally.violate_all(
        (f"at the end: {kind}", what) for kind, what in wrong_album(folder, pool, FIXED)
    )


def told(work: Callable[[], Tally]) -> Callable[[int], None]:
    """A child that works and tells its counts."""

    def child(pipe: int) -> None:
        data = pickle.dumps(work())
        os.write(pipe, data)

    return child


def take(data: bytes | None, tally: Tally) -> None:
    """Add the counts of a child."""
    if data is None:
        tally.violate("a process died or hangs")
    else:
        tally.add(pickle.loads(data))  # of our own child


def reencode(folder: Path, pool: Pool, count: int, until: float, tally: Tally) -> None:
    """Re-encode again and again; every tenth time the collection is opened anew."""
    done, rng = 0, random.Random(0)
    while done < count and time.monotonic() < until:
        with open_album(folder) as album:
            for _ in range(10):
                try:
                    album.reencode(pool.models[(done + 1) % 2])
                    done += 1
                    tally.attempts["re-encodes"] += 1
                except BusyError:
                    tally.attempts["re-encodes refused: another writes"] += 1
                except CollectionError as error:
                    tally.violate("re-encode failed", error)
                time.sleep(rng.uniform(0, 0.01))
    if done < count:
        tally.violate("re-encodes took too long", f"{done} of {count}")


def imports(folder: Path, pool: Pool, seed: int, goes_on: GoesOn) -> Tally:
    """Import codes of one of the two models, and remove them again."""
    read_slowly(seed)
    writer, tally = Writer(folder, pool, 0, seed, ("imports", "imports", "remove")), Tally()
    with open_album(folder) as album:
        writer.work(album, goes_on)
    for verb, n in writer.done.items():
        tally.attempts[f"importing: {verb}"] += n
    for what in writer.unclear:
        tally.violate("importing: no clear refusal", what)
    return tally


def syncs(folder: Path, pool: Pool, photos: Path, seed: int, goes_on: GoesOn) -> Tally:
    """Add pictures to a folder and delete some, and sync it."""
    tally, rng = Tally(), random.Random(seed)
    photos.mkdir()
    with open_album(folder) as album:
        while goes_on():
            for number in rng.sample(range(N_PHOTOS), 5):
                path = photos / f"{number}.png"
                if path.exists() and len(list(photos.iterdir())) > 5:
                    path.unlink()
                else:
                    path.write_bytes(pool.pictures[number])
            try:
                album.sync(photos)
                tally.attempts["sync"] += 1
            except BusyError:
                tally.attempts["sync refused: another writes"] += 1
            except CollectionError as error:
                tally.violate("sync failed", error)
            time.sleep(rng.uniform(0, 0.02))
    return tally


if __name__ == "__main__":
    main()
