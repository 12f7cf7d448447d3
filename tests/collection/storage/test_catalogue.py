import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from tests.collection.data.make_version_1 import FOLDER
from zshash import Collection, CollectionError
from zshash.collection.storage import catalogue


def edit(folder, *statements):
    with closing(sqlite3.connect(folder / "catalogue.sqlite", isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def version(folder):
    with closing(sqlite3.connect(folder / "catalogue.sqlite")) as connection:
        return connection.execute("PRAGMA user_version").fetchone()[0]


@pytest.fixture
def closed(folder, hasher, X):
    with Collection.create(folder, hasher) as photos:
        photos.add(X)
    return folder


def test_how_it_is_kept(closed):
    with closing(sqlite3.connect(closed / "catalogue.sqlite")) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA application_id").fetchone() == (0x7A736863,)
        assert connection.execute("PRAGMA user_version").fetchone() == (4,)
    with Collection.open(closed) as photos:
        connection = photos._store.catalogue.connection
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
    assert sorted(path.name.split("-")[0] for path in closed.iterdir()) == [
        "catalogue.sqlite", "contents", "generation", "index", "model", "writer.lock",
    ]  # fmt: skip


def test_a_later_version_is_refused(closed):
    edit(closed, "PRAGMA user_version = 5")
    before = (closed / "catalogue.sqlite").read_bytes()
    with pytest.raises(CollectionError, match=r"written by a later zshash .format 5.*: upgrade"):
        Collection.open(closed)
    assert (closed / "catalogue.sqlite").read_bytes() == before


def test_an_earlier_version_is_brought_up_to_date(closed, monkeypatch):
    def to_five(connection):
        connection.execute("CREATE TABLE more (x)")
        connection.execute("INSERT INTO more SELECT id FROM items")

    def to_six(connection):
        connection.execute("UPDATE more SET x = x + 1")

    monkeypatch.setattr(catalogue, "FORMAT_VERSION", 6)
    monkeypatch.setattr("zshash.collection.storage.store.FORMAT_VERSION", 6)
    monkeypatch.setattr(catalogue, "MIGRATIONS", {4: to_five, 5: to_six})
    with Collection.open(closed) as photos:
        assert len(photos) == 60
        connection = photos._store.catalogue.connection
        assert connection.execute("SELECT sum(x) FROM more").fetchone() == (sum(range(1, 61)),)
        assert photos.verify() == []
    assert version(closed) == 6


def test_a_migration_that_fails_leaves_all_as_it_was(closed, monkeypatch):
    def to_five(connection):
        connection.execute("DELETE FROM items")
        raise sqlite3.OperationalError("no such thing")

    with monkeypatch.context() as patch:
        patch.setattr(catalogue, "FORMAT_VERSION", 5)
        patch.setattr("zshash.collection.storage.store.FORMAT_VERSION", 5)
        patch.setattr(catalogue, "MIGRATIONS", {4: to_five})
        with pytest.raises(CollectionError, match="no such thing"):
            Collection.open(closed)
        patch.setattr(catalogue, "MIGRATIONS", {})
        with pytest.raises(CollectionError, match="its format 4 is no longer known"):
            Collection.open(closed)
    assert version(closed) == 4
    with Collection.open(closed) as photos:
        assert len(photos) == 60
        assert photos.verify() == []


@pytest.mark.parametrize(
    "content", [b"", b"SQLite format 3\0", b"x" * 5000, b"SQLite format 3\0" + b"\xff" * 9000]
)
def test_what_is_no_catalogue(closed, content):
    (closed / "catalogue.sqlite").write_bytes(content)
    with pytest.raises(CollectionError, match=str(closed)):
        Collection.open(closed)


def test_tables_that_are_not_ours(closed):
    edit(closed, "CREATE TRIGGER t AFTER INSERT ON items BEGIN DELETE FROM items; END")
    with pytest.raises(CollectionError, match="t is not as it was made"):
        Collection.open(closed)
    edit(closed, "DROP TRIGGER t", "ALTER TABLE items ADD COLUMN more")
    with pytest.raises(CollectionError, match="items is not as it was made"):
        Collection.open(closed)


@pytest.mark.parametrize("key", ["state", "about"])
def test_settings_have_checksums(closed, key):
    edit(closed, f"UPDATE settings SET value = replace(value, '1', '2') WHERE key = '{key}'")
    with pytest.raises(CollectionError, match=f"its setting '{key}' is not whole"):
        Collection.open(closed)


def test_another_program_holds_it(closed, X, monkeypatch):
    monkeypatch.setattr(catalogue, "SECONDS_TO_WAIT", 0.01)
    with (
        Collection.open(closed) as photos,
        closing(sqlite3.connect(closed / "catalogue.sqlite", isolation_level=None)) as rude,
    ):
        rude.execute("BEGIN IMMEDIATE")
        assert photos.search(X[0], k=1)[0].id == 0
        with pytest.raises(CollectionError, match="another program holds its catalogue"):
            photos.remove([0])
        rude.execute("ROLLBACK")
        assert photos.remove([0]) == 1
        assert photos.verify() == []


READ = """
import os, sys
sys.path[:0] = {path!r}
import numpy as np
from zshash import Collection, CollectionError
from zshash.index import HammingIndex
index = HammingIndex(16)
index.add(np.zeros((1, 2), np.uint8))
index.search(index.codes, 1)  # compiled before this is somebody who may not read the packages
if not os.getuid():
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
with Collection.open(sys.argv[1]) as photos:
    print(len(photos), photos.search(code=photos.index.codes[:1], k=1)[0][0].id)
    print(photos.verify())
    try:
        photos.remove([0])
    except CollectionError as error:
        print("CollectionError", error)
"""


@pytest.fixture
def public():
    """A folder that other users can reach, unlike those of pytest."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name) / "photos"
        for path in [Path(name) / "photos", *(Path(name) / "photos").iterdir()]:
            path.chmod(0o755)


@pytest.mark.skipif(os.name != "posix", reason="other systems have other permissions")
@pytest.mark.parametrize("is_open", [False, True], ids=["at rest", "in use"])
def test_folders_that_can_only_be_read(public, closed, is_open):
    shutil.copytree(closed, public)
    (public / "writer.lock").unlink()
    other = Collection.open(public) if is_open else None
    if other:
        other.remove([59])  # which stays in the log
    for path in public.iterdir():
        path.chmod(0o444)
    public.chmod(0o555)
    code = READ.format(path=[path for path in sys.path if path])
    done = subprocess.run(
        [sys.executable, "-c", code, str(public)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    first, second, third = done.stdout.splitlines()
    assert first == ("59 0" if is_open else "60 0")
    assert second == "[]"
    assert third.startswith("CollectionError")
    assert "can not be written to" in third
    if other:
        public.chmod(0o755)
        other.close()


@pytest.mark.skipif(os.name != "posix", reason="other systems have other permissions")
def test_a_folder_of_format_1_that_can_only_be_read(public):
    """Nobody may bring it to the present format, and still it is read."""
    shutil.copytree(FOLDER, public)
    for path in public.iterdir():
        path.chmod(0o444)
    public.chmod(0o555)
    before = (public / "catalogue.sqlite").read_bytes()
    code = READ.format(path=[path for path in sys.path if path])
    done = subprocess.run(
        [sys.executable, "-c", code, str(public)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    first, second, third = done.stdout.splitlines()
    assert (first, second) == ("33 0", "[]")
    assert "can not be written to" in third
    assert (public / "catalogue.sqlite").read_bytes() == before


def test_a_log_that_can_not_be_read_alone(closed, monkeypatch):
    """A process that can not read the log must not take the file alone for the whole catalogue."""
    original = catalogue._connect

    def refuse(path, how):
        if how != "mode=ro&immutable=1":
            error = sqlite3.OperationalError("unable to open")
            error.sqlite_errorcode = sqlite3.SQLITE_CANTOPEN
            raise error
        return original(path, how)

    monkeypatch.setattr(catalogue, "_connect", refuse)
    with Collection.open(closed) as photos:
        np.testing.assert_array_equal(photos.ids, np.arange(60))
    (closed / "catalogue.sqlite-wal").write_bytes(b"x")
    with pytest.raises(CollectionError, match="can not be opened"):
        Collection.open(closed)


def test_a_file_that_is_replaced_under_its_reader(closed, monkeypatch):
    original = catalogue._open
    monkeypatch.setattr(
        catalogue, "_open", lambda path: (catalogue._connect(path, "mode=ro&immutable=1"), True)
    )
    with Collection.open(closed) as reader:
        monkeypatch.setattr(catalogue, "_open", original)
        with Collection.open(closed) as writer:
            writer.remove([7])
        assert len(reader) == 59
        assert 7 not in reader


FOLLOW = """
import os, sys
sys.path[:0] = {path!r}
import numpy as np
from zshash import Collection, CollectionError
from zshash.index import HammingIndex
index = HammingIndex(16)
index.add(np.zeros((1, 2), np.uint8))
index.search(index.codes, 1)  # compiled before this is somebody who may not read the packages
if not os.getuid():
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
with Collection.open(sys.argv[1]) as photos:
    print("open", photos._store.catalogue._reads_file_alone, flush=True)
    for line in sys.stdin:
        try:
            found = photos.search(code=np.zeros((1, 2), np.uint8), k=100)[0]
            same = sorted(match.id for match in found) == photos.find("id >= 0").tolist()
            print(len(photos), same, photos.verify(), flush=True)
        except CollectionError as error:
            print("CollectionError", error, flush=True)
"""


@pytest.fixture
def follower(public, closed):
    """A process that may only read; called, it says what it sees."""
    shutil.copytree(closed, public)
    forbid(public)
    child = subprocess.Popen(
        [sys.executable, "-c", FOLLOW.format(path=[path for path in sys.path if path]), public],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout.readline() == "open True\n"

    def look():
        child.stdin.write("look\n")
        child.stdin.flush()
        return child.stdout.readline().strip()

    with child:
        yield look
        child.stdin.close()
    assert child.returncode == 0


def forbid(folder):
    for path in folder.iterdir():
        path.chmod(0o444)
    folder.chmod(0o555)


def allow(folder):
    folder.chmod(0o755)
    for path in folder.iterdir():
        path.chmod(0o644)


posix = pytest.mark.skipif(os.name != "posix", reason="other systems have other permissions")


@posix
def test_readers_without_permission_follow_a_writer_that_stays_open(public, follower, X):
    assert follower() == "60 True []"
    allow(public)
    with Collection.open(public) as writer:
        writer.remove([7])
        forbid(public)
        assert follower() == "59 True []"
        writer.remove([8, 9])  # its files are open, whatever their permissions say now
        assert follower() == "57 True []"
        allow(public)
        writer.compact()
        assert follower() == "57 True []"
    forbid(public)
    assert follower() == "57 True []"
    allow(public)
    with Collection.open(public) as writer:
        writer.add(X)
        forbid(public)
        assert follower() == "60 True []"
        allow(public)


@posix
def test_a_log_that_may_not_be_read(public, follower):
    """What can not be seen is said; nothing older is served in its place."""
    assert follower() == "60 True []"
    allow(public)
    with Collection.open(public) as writer:
        writer.remove([7])
        forbid(public)
        (public / "catalogue.sqlite-shm").chmod(0)
        for _ in range(2):
            answer = follower()
            assert answer.startswith(f"CollectionError {public}: its catalogue can not be opened")
            assert "permission" in answer
        allow(public)
    forbid(public)
    assert follower() == "59 True []"


def test_a_file_that_is_written_to_while_it_is_read_alone(closed, monkeypatch):
    """SQLite takes no locks then, so what was read may be of two states."""
    original = catalogue._open
    monkeypatch.setattr(
        catalogue, "_open", lambda path: (catalogue._connect(path, "mode=ro&immutable=1"), True)
    )
    with Collection.open(closed) as reader:
        monkeypatch.setattr(catalogue, "_open", original)

        def read():
            with reader._store.reading():
                with Collection.open(closed) as writer:
                    writer.remove([7])
                raise CollectionError("the rows make no sense: restore them from a copy")

        with pytest.raises(CollectionError, match="it was written to while it was being read"):
            read()
        assert len(reader) == 59
