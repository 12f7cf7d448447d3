"""Collections on machines that fail: full disks, killed processes, lost files."""

import json
import os
import pickle
import select
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from zshash import LSH, Collection
from zshash.collection import CollectionError
from zshash.images import PictureReader
from zshash.images.extractor import Extractor

resource = pytest.importorskip("resource", reason="limits and forks are of POSIX")

SECONDS = 30


class Pixels(Extractor):
    """The pixels themselves, of pictures of two by two."""

    name, dimension, fingerprint, side = "pixels", 12, "pixels 1", 2

    def prepare(self, image):
        return np.asarray(image, dtype=np.float32)

    def run(self, batch):
        return batch.reshape(len(batch), -1)


class Slow(Pixels):
    """Says when it begins, and goes on when it is told to."""

    def __init__(self, said, told):
        self._said, self._told = said, told

    def run(self, batch):
        os.write(self._said, b"!")
        os.read(self._told, 1)
        return super().run(batch)


def features(n, seed=0):
    return np.random.RandomState(seed).randint(0, 256, (n, 12)).astype(np.float32)


def pixels(n, seed=0):
    return np.random.RandomState(seed).randint(0, 256, (n, 2, 2, 3), dtype=np.uint8)


@pytest.fixture
def folder(tmp_path):
    hasher = LSH(n_bits=16, random_state=0).fit(features(50))
    made = Collection.create(
        tmp_path / "photos.zshash", hasher, extractor=Pixels(), keep_features=True
    )
    with made as collection:
        collection.add(features(100), labels=["cat"] * 100)
    return tmp_path / "photos.zshash"


@pytest.fixture
def children():
    """Starts functions in processes of their own, which end with the test."""
    started = []

    def start(function):
        out, into = os.pipe()
        with warnings.catch_warnings():  # warnings about threads, which the child does not need
            warnings.simplefilter("ignore", DeprecationWarning)
            process = os.fork()
        if not process:
            os.close(out)
            _answer(into, function)
        os.close(into)
        started.append(process)
        return process, out

    yield start
    for process in started:
        try:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
        except (ProcessLookupError, ChildProcessError):
            pass


def _answer(into, function):
    try:
        answer = pickle.dumps((function(), None))
    except BaseException:
        answer = pickle.dumps((None, traceback.format_exc()))
    with os.fdopen(into, "wb") as file:
        file.write(answer)
    os._exit(0)


def answer_of(child):
    """What a child's function returns."""
    process, out = child
    data, until = b"", time.monotonic() + SECONDS
    while True:
        assert select.select([out], [], [], until - time.monotonic())[0], "the child is stuck"
        part = os.read(out, 1 << 16)
        if not part:
            break
        data += part
    os.close(out)
    os.waitpid(process, 0)
    result, problem = pickle.loads(data)
    assert problem is None, problem
    return result


def check_whole(folder, ids):
    """Nothing was lost, nothing is damaged, and there is room for more."""
    with Collection.open(folder) as collection:
        assert collection.verify() == []
        assert collection.ids.tolist() == ids
        codes = np.array([list(item.code) for item in collection.items(range(90))], dtype=np.uint8)
        np.testing.assert_array_equal(codes, collection.model.hasher.encode(features(100))[:90])
        assert len(collection.add(features(30, seed=99)).ids) == 30
        assert collection.verify() == []


def grow(collection, how):
    """Write until there is no more room; the ids after each operation that was acknowledged."""
    yield collection.ids.tolist()
    if how == "remove":
        collection.remove(collection.ids[90:])
        yield collection.ids.tolist()
    elif how == "compact":
        collection.compact()
    elif how == "reencode":
        collection.reencode(LSH(n_bits=24, random_state=1).fit(features(50)))
    else:
        for seed in range(1, 11):
            rows = features(300, seed)
            if how == "codes":
                collection.add_codes(collection.model.hasher.encode(rows))
            else:
                collection.add(rows, sources=[f"/a/long/way/to/{seed}/{i}" for i in range(300)])
            yield collection.ids.tolist()


def until_full(folder, how):
    """The ids when the last operation was acknowledged, and what was said then."""
    ids = list(range(100))
    try:
        with Collection.open(folder) as collection:
            for ids in grow(collection, how):  # noqa: B007
                pass
    except CollectionError as error:
        return ids, str(error)
    return ids, ""


# Bytes that any one file may have. The catalogue has some 60,000, its log may have more.
@pytest.mark.parametrize("limit", [0, 1000, 20_000, 50_000, 70_000, 150_000, 400_000])
@pytest.mark.parametrize("how", ["features", "codes", "remove", "reencode", "compact"])
def test_files_that_can_not_grow(folder, children, limit, how):
    def work():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        return until_full(folder, how)

    ids, said = answer_of(children(work))
    if said:
        assert said.startswith(f"{folder}: ")
        assert "\n" not in said
    elif how in ("features", "codes"):
        assert limit == 400_000  # else there was no room for all of them
    check_whole(folder, ids)


FULL_DISK = """
import sys
from pathlib import Path
sys.path.insert(0, {here!r})
from test_damage import until_full
print(*until_full(Path(sys.argv[1]), sys.argv[2]), sep="\\n")
"""


@pytest.mark.crash
@pytest.mark.parametrize(("how", "room"), [("features", 250), ("reencode", 44)])
def test_a_disk_that_is_full(folder, tmp_path, how, room):
    """On a disk of its own, with some KiB more than the collection takes."""
    disk = tmp_path / "disk"
    disk.mkdir()
    script = f"""
        mount -t tmpfs -o size=$(($(du -ks {folder} | cut -f 1) + {room}))k tmpfs {disk} || exit 77
        cp -r {folder} {disk}/photos
        {sys.executable} -c "$0" {disk}/photos {how}
        cp -r {disk}/photos {tmp_path}/after
    """
    here = str(Path(__file__).parent)
    program = FULL_DISK.format(here=here)
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, program],
        capture_output=True,
        text=True,
        check=False,
    )
    if "unshare" in done.stderr or done.returncode == 77:
        pytest.skip("this machine lets nobody mount a disk of his own")
    ids, said = done.stdout.splitlines()
    assert "the disk is full: free some space and try again" in said
    check_whole(tmp_path / "after", json.loads(ids))


def test_a_catalogue_that_can_not_grow(folder):
    with Collection.open(folder) as collection:
        connection = collection._store.catalogue.connection
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(CollectionError, match="the disk is full: free some space"):
            collection.add(features(2000, seed=1))
        assert len(collection) == 100
        assert len(collection.search(code=np.zeros((1, 2), np.uint8), k=200)[0]) == 100
    check_whole(folder, list(range(100)))


def test_a_second_writer_is_told_at_once(folder, children):
    (heard, said), (told, tell) = os.pipe(), os.pipe()

    def work():
        reader = PictureReader(extractor=Slow(said, told), cache=False)
        with Collection.open(folder, reader=reader) as collection:
            return len(collection.add(pixels(3)).ids)

    child = children(work)
    assert os.read(heard, 1) == b"!"  # the other one is in the middle of it
    with Collection.open(folder) as collection:
        start = time.monotonic()
        for write in (
            lambda: collection.add(features(1, seed=5)),
            lambda: collection.add_codes(np.zeros((1, 2), np.uint8)),
            lambda: collection.remove([0]),
            collection.compact,
            lambda: collection.sync(folder.parent),
            lambda: collection.reencode(LSH(n_bits=16, random_state=2).fit(features(50))),
        ):
            with pytest.raises(CollectionError, match=f"process {child[0]} is writing to it; try"):
                write()
        assert time.monotonic() - start < 5
        assert len(collection.search(code=np.zeros((1, 2), np.uint8), k=200)[0]) == 100
        os.write(tell, b"!")
        assert answer_of(child) == 3
        assert len(collection) == 103
        assert collection.add(features(1, seed=5)).ids.tolist() == [103]
        assert collection.verify() == []


def test_a_writer_that_is_killed_leaves_no_lock(folder, children):
    (heard, said), (told, _tell) = os.pipe(), os.pipe()

    def work():
        reader = PictureReader(extractor=Slow(said, told), cache=False)
        with Collection.open(folder, reader=reader) as collection:
            collection.add(pixels(3))

    process, _ = children(work)
    assert os.read(heard, 1) == b"!"
    with Collection.open(folder) as collection:
        with pytest.raises(CollectionError, match=f"process {process} is writing to it"):
            collection.remove([99])
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        assert collection.remove([99]) == 1
    check_whole(folder, list(range(99)))


N_BATCH, N_ROUNDS = 40, 25


def write_in_batches(folder):
    """Batches of the same size come and go, with all that a writer may do in between."""
    codes = np.random.RandomState(0).randint(0, 256, (N_BATCH, 2), dtype=np.uint8)
    with Collection.open(folder) as collection:
        collection.remove(collection.ids)
        for number in range(N_ROUNDS):
            facts = [{"batch": number}] * N_BATCH
            ids = collection.add_codes(codes, metadata=facts, labels=["cat"] * N_BATCH).ids
            if number % 3 == 2:
                collection.remove(collection.find(f"batch = {number - 1}"))
            if number % 10 == 9:
                collection.compact()
            if number % 8 == 7:
                collection.add_codes(np.zeros((5000, 2), np.uint8), labels=["big"] * 5000)
                collection.remove(collection.find("label = 'big'"))
        return int(ids[-1])


def test_readers_see_whole_batches(folder, children):
    child = children(lambda: write_in_batches(folder))
    everything, seen = np.zeros((1, 2), np.uint8), set()
    with Collection.open(folder) as collection:
        while not select.select([child[1]], [], [], 0)[0]:
            with Collection.open(folder) as another:
                for one in (collection, another):
                    items = [match.item for match in one.search(code=everything, radius=16)[0]]
                    seen.add(check_batches(items))
                    assert len(one.find("label = 'cat'")) % N_BATCH in (0, 100 % N_BATCH)
        last = answer_of(child)
        assert collection.ids[-1] == last
        assert collection.verify() == []
    assert len(seen) > 1


def check_batches(items):
    """All of a batch is there, or nothing of it; how many batches there are."""
    counts = Counter(item.metadata.get("batch", item.labels) for item in items)
    for name, count in counts.items():
        assert count == {("big",): 5000, ("cat",): 100}.get(name, N_BATCH)
    return len(counts)


def test_readers_follow_another_model(folder, children):
    def work():
        with Collection.open(folder) as collection:
            for seed in range(1, 30):
                collection.reencode(
                    LSH(n_bits=16 + 8 * (seed % 2), random_state=seed).fit(features(50))
                )

    child = children(work)
    models = set()
    with Collection.open(folder) as collection:
        while not select.select([child[1]], [], [], 0)[0]:
            with Collection.open(folder) as another:
                for one in (collection, another):
                    match = one.search(features(100)[3], k=1)[0]
                    assert match.bits == 0  # query and items by the same model
                    models.add(match.item.code)
        answer_of(child)
    assert len(models) > 1


@pytest.mark.parametrize("version", [0, -1, -(2**31), 1, 2, 3, 5, 2**31 - 1])
def test_a_format_that_nobody_has_written(folder, version):
    connection = sqlite3.connect(folder / "catalogue.sqlite")
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    start = time.monotonic()
    with pytest.raises(CollectionError, match=f"{folder}: "):
        Collection.open(folder)
    assert time.monotonic() - start < 5


def test_tables_whose_definition_is_no_text_any_more(folder):
    path = folder / "catalogue.sqlite"
    data = path.read_bytes()
    for place in range(len(data)):
        if data.startswith((b"CREATE TABLE", b"CREATE UNIQUE"), place):
            path.write_bytes(data[: place + 7] + b"\xcc" + data[place + 8 :])
            with pytest.raises(CollectionError, match=f"{folder}: "):
                Collection.open(folder)


@pytest.mark.parametrize("name", ["model", "index", "catalogue"])
def test_files_that_are_missing_or_empty(folder, name):
    (path,) = (path for path in folder.iterdir() if path.name.startswith(name))
    for damage in (path.unlink, lambda: path.write_bytes(b"")):
        whole = path.read_bytes()
        damage()
        if name == "index":
            with Collection.open(folder) as collection:
                assert len(collection.search(code=np.zeros((1, 2), np.uint8), k=200)[0]) == 100
        else:
            with pytest.raises(CollectionError, match=f"{folder}: "):
                Collection.open(folder)
        path.write_bytes(whole)
    check_whole(folder, list(range(100)))


def test_a_catalogue_from_a_copy_that_is_too_old(folder, tmp_path):
    shutil.copy(folder / "catalogue.sqlite", tmp_path / "old")
    with Collection.open(folder) as collection:
        collection.add(features(10, seed=1))
    shutil.copy(tmp_path / "old", folder / "catalogue.sqlite")
    with pytest.raises(
        CollectionError, match="the catalogue has lost what was written to it after"
    ):
        Collection.open(folder)
