"""Another model in the middle of a write: the collection never has codes of two models.

The lock of the writer keeps other writers away. On some network file systems it does nothing: here
somebody re-encodes all items at each moment of each call. Afterwards every code is compared with
that of the catalogue's model, made from the features or the picture of its item.
"""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from unittest import mock

import numpy as np
import pytest

from tests.collection.conftest import Colours, draw
from zshash import LSH, Collection
from zshash.collection import CollectionError, OtherModel
from zshash.collection.errors import BusyError
from zshash.collection.exchange import numpy_files, parquet_files
from zshash.collection.exchange.exchange import export_codes, import_codes
from zshash.collection.operations import adding, copies, reencoding, syncing
from zshash.collection.storage import locks, store
from zshash.collection.storage.locks import WriterLock
from zshash.collection.storage.rows import content_of
from zshash.collection.storage.tables import all_rows
from zshash.datasets import DataError
from zshash.hashing import save
from zshash.images import PictureReader

MOMENTS = [
    (store.Store, "reading"),
    (store.Store, "looking"),
    (store.Store, "writing"),
    (store.Store, "changing"),
    (store.Store, "save"),
    (WriterLock, "held"),
    (adding, "sift"),
    (adding, "extract"),
    (adding, "encode"),
    (adding, "write"),
    (adding, "look_at_all"),
    (copies, "_write"),
    (syncing, "make_plan"),
    (syncing, "extract"),
    (syncing, "encode"),
    (reencoding, "store_model"),
    (reencoding, "check_possible"),
    (numpy_files, "read_numpy"),
    (parquet_files, "_check_rows"),
    (parquet_files, "_batch"),
]
"""Functions before which somebody may re-encode."""
STEPS = {"0": 1, "5": 1, "7": 2}
"""By name of a model: of how many moments one is tried; codes of another length are told easily."""


@pytest.fixture(scope="module")
def models(X, tmp_path_factory):
    """Files of two models of the same length, and of one of another length."""
    folder, notes = tmp_path_factory.mktemp("models"), {"extractor": {"name": "colours"}}
    notes["extractor"]["fingerprint"] = Colours.fingerprint
    made = []
    for seed, n_bits in [(0, 16), (5, 16), (7, 24)]:
        save(LSH(n_bits=n_bits, random_state=seed).fit(X), folder / str(seed), notes=notes)
        made.append(folder / str(seed))
    return made


@pytest.fixture(params=[1, 2], ids=["same length", "other length"])
def other(request, models):
    return models[request.param]


@pytest.fixture
def make(tmp_path, models, reader):
    """Collections with some pictures and features, each in a folder of its own."""
    for seed in range(4):
        draw(tmp_path / "first" / f"{seed}.png", seed)
    number = iter(range(10**6))

    def new(X=None, *, pictures=True):
        folder = tmp_path / f"album-{next(number)}"
        made = Collection.create(folder, models[0], keep_features=True, reader=reader, thumbnails=8)
        if pictures:
            made.add(str(tmp_path / "first"))
        if X is not None:
            made.add(X[:6])
        return made

    return new


class Interloper:
    """Re-encodes a collection before one of the moments of a call; -1 only counts them."""

    def __init__(self, folder, model, moment):
        self.folder, self.model, self.moment = folder, model, moment
        self.n, self.has_come, self._is_here = 0, False, False

    def __call__(self):
        if self._is_here:
            return
        if self.n == self.moment:
            self._is_here = True
            reader = PictureReader(extractor=Colours(), cache=False)
            with (
                mock.patch.object(locks, "_lock"),  # two writers hold it
                suppress(CollectionError),  # an item without a picture can not be encoded again
                Collection.open(self.folder, reader=reader) as collection,
            ):
                collection.reencode(self.model)
                self.has_come = True
            self._is_here = False
        self.n += 1


def interrupt(patch, interloper):
    for owner, name in MOMENTS:
        patch.setattr(owner, name, before(interloper, getattr(owner, name)))


def before(interloper, function):
    def called(*args, **kwargs):
        interloper()
        return function(*args, **kwargs)

    return called


def check_codes(folder, X, known=None):
    """Every code is that of the catalogue's model; how many items there are."""
    by_content = {content_of(row): row for row in np.ascontiguousarray(X, dtype="<f4")}
    with Collection.open(folder, reader=PictureReader(extractor=Colours())) as collection:
        assert collection.verify() == []
        for item in collection.items():
            if item.content in by_content and item.size is None:
                features = by_content[item.content][None]
            elif item.source is not None:
                features = Colours().extract([collection.picture(item.id)])
            else:
                assert collection.model.checksum == known
                continue
            assert item.code == collection.model.encode(features)[0].tobytes()
        return len(collection)


def at_each_moment(make, other, monkeypatch, work, X):
    """Results of a call with a re-encoding at each of its moments: items added, or the error."""
    moment, came = -1, 0
    while True:
        collection = make(X)
        folder, known = collection.path, collection.model.checksum
        n_before, error, done = len(collection), None, None
        interloper = Interloper(folder, other, moment)
        with monkeypatch.context() as patch:
            interrupt(patch, interloper)
            try:
                done = work(collection)
            except (CollectionError, DataError) as raised:
                error = raised
        collection.close()
        n = check_codes(folder, X, None if interloper.has_come else known)
        if interloper.has_come:
            came += 1
            yield error, done, n - n_before
        moment += STEPS[other.name] if moment >= 0 else 1
        if moment > 0 and moment >= interloper.n and not interloper.has_come:
            assert came > 2
            return


def test_features(make, other, X, monkeypatch):
    monkeypatch.setattr(adding, "FEATURES_AT_ONCE", 4)
    for error, done, n in at_each_moment(make, other, monkeypatch, lambda own: own.add(X[:16]), X):
        assert error is None
        assert (len(done.ids), len(done.duplicates), n) == (10, 6, 10)


def test_pictures(make, other, X, tmp_path, monkeypatch):
    monkeypatch.setattr(adding, "PICTURES_AT_ONCE", 2)
    for seed in range(2, 7):
        draw(tmp_path / "more" / f"{seed}.png", seed)
    work = lambda own: own.add(str(tmp_path / "more"))  # noqa: E731
    for error, done, n in at_each_moment(make, other, monkeypatch, work, X):
        assert error is None
        assert (len(done.ids), len(done.duplicates), n) == (3, 2, 3)


def test_files(make, other, X, tmp_path, monkeypatch):
    files = [draw(tmp_path / "own" / f"{seed}.png", seed).read_bytes() for seed in (3, 8, 9)]
    work = lambda own: own.add_files(files)  # noqa: E731
    for error, done, n in at_each_moment(make, other, monkeypatch, work, X):
        assert error is None
        assert (len(done.ids), len(done.duplicates), n) == (2, 1, 2)


def lay_out(folder, files):
    """Make a folder hold these pictures and no others."""
    for path in list(folder.iterdir()) if folder.exists() else []:
        path.unlink()
    for name, seed in files.items():
        draw(folder / f"{name}.png", seed)


def test_a_folder(make, other, X, tmp_path, monkeypatch):
    """Files are new, changed, moved and gone."""
    monkeypatch.setattr(syncing, "AT_ONCE", 1)
    monkeypatch.setattr(adding, "PICTURES_AT_ONCE", 2)

    def begin(X):
        lay_out(tmp_path / "synced", {"0": 20, "1": 21, "2": 22, "3": 23, "4": 24})
        made = make(X)
        made.add(str(tmp_path / "synced"))
        lay_out(tmp_path / "synced", {"0": 20, "1": 31, "2": 32, "x": 23, "y": 25, "z": 26})
        return made

    work = lambda own: own.sync(tmp_path / "synced")  # noqa: E731
    for error, done, n in at_each_moment(begin, other, monkeypatch, work, X):
        assert error is None
        assert [len(own) for own in done[:4]] == [2, 2, 1, 1]
        assert n == 1


def made_elsewhere(make, tmp_path, suffix):
    """File of codes of pictures that the collections do not have."""
    for seed in range(40, 46):
        draw(tmp_path / "elsewhere" / f"{seed}.png", seed)
    path = tmp_path / f"codes{suffix}"
    with make(pictures=False) as collection:
        collection.add(str(tmp_path / "elsewhere"))
        export_codes(collection, path)
    return path


@pytest.mark.parametrize("suffix", [".npz", ".parquet", ".npy", ".faiss"])
def test_import(make, other, X, tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(parquet_files, "BATCH_ROWS", 2)
    path = made_elsewhere(make, tmp_path, suffix)
    results = set()
    for error, _, n in at_each_moment(
        make, other, monkeypatch, lambda own: import_codes(own, path), X
    ):
        assert error is None or "another model" in str(error) or "bits" in str(error)
        assert n in ((6,) if error is None else (0, 2, 4))
        results.add(type(error))
    assert OtherModel in results or STEPS[other.name] > 1


def test_codes(make, other, X, monkeypatch):
    monkeypatch.setattr(adding, "CODES_AT_ONCE", 4)

    def work(collection):
        rows = np.ascontiguousarray(X[20:30], dtype="<f4")
        model = known["model"]
        contents = [content_of(row) for row in rows]
        return collection.add_codes(model.encode(rows), contents=contents, model=model.checksum)

    with make() as collection:
        known = {"model": collection.model}
    for error, _, n in at_each_moment(make, other, monkeypatch, work, X):
        assert isinstance(error, OtherModel) if n == 0 else error is None
        assert n in (0, 10)


def test_another_reencoding(make, models, X, monkeypatch):
    """Two processes give all items codes, each of another model: all are of the last one."""
    work = lambda own: own.reencode(models[2])  # noqa: E731
    for other in models[1:]:
        for error, _, n in at_each_moment(make, other, monkeypatch, work, X):
            assert error is None
            assert n == 0


def test_the_model_before_comes_back(make, models, X, monkeypatch):
    """Its file is deleted by the one who replaced it, unless it is the collection's model again."""
    seen = set()
    for moment in range(40):
        with make(X) as collection:
            interloper = Interloper(collection.path, models[0], moment)
            with monkeypatch.context() as patch:
                interrupt(patch, interloper)
                collection.reencode(models[1])
        check_codes(collection.path, X)
        with Collection.open(collection.path) as collection:
            seen.add(collection.model.checksum)
    assert len(seen) == 2


CHILD = """
import sys, time
from pathlib import Path
from zshash import Collection
from zshash.collection.storage import locks
locks._lock = lambda handle: None
folder, models = Path(sys.argv[1]), sys.argv[2:]
print("ready", flush=True)
while True:
    for model in models:
        try:
            with Collection.open(folder) as collection:
                collection.reencode(model)
        except ValueError as error:
            print(error, file=sys.stderr, flush=True)
        time.sleep(0.01)
"""


def test_two_processes_without_a_lock(tmp_path, models, monkeypatch):
    """One re-encodes without a pause, the other adds features."""
    rows = np.random.RandomState(3).randn(2000, 12).astype("<f4")
    folder = tmp_path / "album"
    Collection.create(folder, models[0], keep_features=True).close()
    monkeypatch.setattr(adding, "FEATURES_AT_ONCE", 10)
    monkeypatch.setattr(locks, "_lock", lambda handle: None)  # noqa: ARG005
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(folder), *map(str, models[::-1])],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        assert child.stdout.readline() == b"ready\n"
        n, seen = add_for_a_while(folder, rows)
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
    assert len(seen) > 1
    assert n > 50
    assert check_codes(folder, rows) == n


def add_for_a_while(folder, rows):
    """How many items there are, and the models that were seen."""
    n, seen, end = 0, set(), time.monotonic() + 4
    with Collection.open(folder) as collection:
        while time.monotonic() < end and n < len(rows):
            part = rows[n : n + 25]
            try:
                n += len(collection.add(part).ids)
                seen.add(collection.model.checksum)
            except (OtherModel, BusyError):
                n = len(collection)
    return n, seen


def write(own, *steps):
    with own.writing(), own.changing() as change:
        change.remove([0])
        for step in steps:
            step(change)


def test_whoever_writes_codes_says_whose_they_are(make, X):
    with make(X) as collection:
        own, n = collection._store, len(collection)
        rows = [row for rows in all_rows(own.catalogue.connection, own.folder) for row in rows]
        strange = [row._replace(code=b"??") for row in rows]
        for wrong in (
            lambda change: change.add([], collection.index.codes, "0" * 64),
            lambda change: change.replace(rows[1:2], collection.index.codes[:1]),
            lambda change: change.replace(strange[1:]),
            lambda change: change.rewrite(rows, "0" * 64),
        ):
            with pytest.raises(OtherModel, match="nothing of this batch was written"):
                write(own, wrong)
        steps = (
            lambda change: change.take_model("0" * 64, 16),
            lambda change: change.rewrite(rows[1:2], "0" * 64),
        )
        with pytest.raises(CollectionError, match=f"{n - 2} items were not encoded again"):
            write(own, *steps)
        assert len(collection) == n
        assert collection.verify() == []


def test_codes_of_a_model_that_is_named(make, X):
    with make(X) as collection:
        own = collection.model
        codes = own.encode(X[10:12])
        for name in (own.checksum, own.checksum[:12]):
            assert len(collection.add_codes(codes, model=name, sources=["a", "b"]).ids) == 2
        with pytest.raises(OtherModel, match="another model than the collection has"):
            collection.add_codes(codes, model="0" * 64)
        assert len(collection) == 14
