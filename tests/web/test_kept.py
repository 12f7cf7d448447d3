import os
import threading
import time

import pytest

from zshash.web.kept import DIGEST, KeptFiles, private_folder


@pytest.fixture
def folder(tmp_path):
    return private_folder(tmp_path / "kept")


def total(folder):
    return sum(path.stat().st_size for path in folder.iterdir())


def test_what_was_put_is_there(folder):
    kept = KeptFiles(folder, 10_000)
    assert kept.get("a") is None
    kept.put("a", b"one")
    kept.put("a", b"two")
    assert kept.get("a") == b"two"
    assert KeptFiles(folder, 10_000).get("a") == b"two"


def test_what_was_read_longest_ago_goes_first(folder):
    kept = KeptFiles(folder, 10_000)
    for number in range(40):
        kept.put(str(number), bytes(1000 - DIGEST))
        for path in folder.iterdir():  # time passes
            found = path.stat()
            os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns - 10**9))
        assert kept.get("0") is not None
        assert total(folder) <= 10_000
    assert kept.get("39") is not None
    assert kept.get("20") is None


def test_what_is_too_large_is_not_kept(folder):
    kept = KeptFiles(folder, 1000)
    kept.put("a", bytes(126))
    assert kept.get("a") is None
    assert KeptFiles(folder, 0).get("a") is None
    nothing = KeptFiles(None, 1000)
    nothing.put("a", b"")
    assert nothing.get("a") is None


def test_what_a_crash_left_is_deleted(folder):
    (folder / "old.new").write_bytes(b"x")
    os.utime(folder / "old.new", (0, time.time() - 7200))
    (folder / "young.new").write_bytes(b"x")
    KeptFiles(folder, 1000).put("a", b"")
    assert {path.name for path in folder.iterdir()} == {"young.new", "a.kept"}


def test_many_at_once(folder):
    """Several processes and threads share a folder, each with its own count."""

    def work(seed):
        kept = KeptFiles(folder, 4000)
        for number in range(100):
            key = str((seed * number) % 17)
            found = kept.get(key)
            assert found in (None, key.encode() * 20)
            kept.put(key, key.encode() * 20)

    threads = [threading.Thread(target=work, args=[seed]) for seed in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert total(folder) <= 4000 + 6 * 4000 / 8


def test_folders_of_others_are_not_used(tmp_path):
    folder = tmp_path / "kept"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    assert private_folder(folder) == folder
    assert folder.stat().st_mode & 0o777 == 0o700
    (tmp_path / "link").symlink_to(folder)
    assert private_folder(tmp_path / "link") is None
    (tmp_path / "file").write_bytes(b"")
    assert private_folder(tmp_path / "file") is None
    assert private_folder(tmp_path / "file" / "inside") is None
