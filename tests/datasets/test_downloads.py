"""Downloads from a server on this machine, of small archives in the published layouts."""

import hashlib
import io
import pickle
import tarfile
import threading
import zipfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from zshash.datasets import DataError, downloads, fetch, open_data
from zshash.datasets.downloads import ELSEWHERE, KNOWN, Archive, download
from zshash.datasets.opening import NAMES

NOISE = np.random.RandomState(0).bytes(10_000)


class Handler(SimpleHTTPRequestHandler):
    """Server of files that counts requests, and hangs up halfway for names that ask for it."""

    requests: list[str]

    def do_GET(self):
        self.requests.append(self.path)
        if "cut" not in self.path:
            return super().do_GET()
        content = (self.folder / self.path[1:]).read_bytes()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2])
        return None

    def log_message(self, *_):
        pass


@pytest.fixture
def server(tmp_path, monkeypatch):
    """Serve a folder: `server.archive(name, content)` is the address of a file in it."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    folder = tmp_path / "served"
    folder.mkdir()
    handler = type("Here", (Handler,), {"requests": [], "folder": folder})
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=folder)) as running:
        running.requests = handler.requests

        def archive(name, content):
            (folder / name).write_bytes(content)
            url = f"http://127.0.0.1:{running.server_port}/{name}"
            return Archive(url, f"sha256:{hashlib.sha256(content).hexdigest()}")

        running.archive = archive
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def tar(**files):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def zipped(**files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def cifar10():
    batch = pickle.dumps({"data": np.zeros((2, 3072), np.uint8), "labels": [0, 9]}, 2)
    files = {f"data_batch_{number}": batch for number in range(1, 6)} | {"test_batch": batch}
    files["batches.meta"] = pickle.dumps({"label_names": [f"name {i}" for i in range(10)]}, 2)
    return tar(**{f"cifar-10-batches-py/{name}": content for name, content in files.items()})


def leftovers(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_data_set_by_its_name(server, tmp_path, monkeypatch):
    cache = tmp_path / "cache"
    monkeypatch.setenv("ZSHASH_CACHE", str(cache))
    archive = server.archive("cifar-10-python.tar.gz", cifar10())
    monkeypatch.setitem(downloads.KNOWN, "cifar10", (archive,))
    pictures = open_data("cifar10")
    assert pictures.sources.shape == (12, 32, 32, 3)
    assert pictures.root == fetch("cifar10").resolve()
    assert pictures.root.is_relative_to(cache / "datasets" / "cifar10")
    assert len(server.requests) == 1  # once
    assert leftovers(cache / "datasets" / "cifar10") == ["files"]


def test_files_that_are_no_archives_stay_packed(server, tmp_path):
    archives = [server.archive(f"{part}-idx-ubyte.gz", b"\x1f\x8b rest") for part in "ab"]
    folder = download("mnist", archives, tmp_path)
    assert leftovers(folder) == ["a-idx-ubyte.gz", "b-idx-ubyte.gz"]
    assert (folder / "a-idx-ubyte.gz").read_bytes() == b"\x1f\x8b rest"


def test_zip_archives(server, tmp_path):
    archive = server.archive("tiny.zip", zipped(**{"tiny/val/images/1.JPEG": b"1", "top": b"2"}))
    folder = download("tiny-imagenet", [archive], tmp_path)
    assert (folder / "tiny" / "val" / "images" / "1.JPEG").read_bytes() == b"1"
    assert (folder / "top").read_bytes() == b"2"


def test_a_wrong_checksum(server, tmp_path):
    folder = tmp_path / "cache"
    folder.mkdir()
    archive = server.archive("data.tar.gz", tar(a=b"a"))
    wrong = Archive(archive.url, "sha256:" + "0" * 64)
    with pytest.raises(
        DataError, match=r"^cifar10: the file from http://127.* is not the one that was"
    ):
        download("cifar10", [wrong], folder)
    assert leftovers(folder) == []


def test_a_connection_that_breaks(server, tmp_path):
    folder = tmp_path / "cache"
    folder.mkdir()
    archive = server.archive("cut.tar.gz", cifar10())
    with pytest.raises(DataError, match=r"cifar10: .*127\.0\.0\.1.*cut\.tar\.gz.* a folder"):
        download("cifar10", [archive], folder)
    assert leftovers(folder) == []


def test_an_interrupted_unpacking_is_not_taken_for_whole(server, tmp_path):
    folder = tmp_path / "cache"
    (folder / ".fetching-killed" / "files").mkdir(parents=True)
    archive = server.archive("data.tar.gz", tar(a=b"a", b=b"b"))
    assert leftovers(download("cifar10", [archive], folder)) == ["a", "b"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("half.tar.gz", tar(a=bytes(10_000), b=NOISE)[:5000]),
        ("half.zip", zipped(a=bytes(10_000), b=NOISE)[:5000]),
        ("nothing.zip", b"nothing"),
    ],
)
def test_a_damaged_archive(server, tmp_path, name, content):
    archive = server.archive(name, content)
    folder = tmp_path / "cache"
    folder.mkdir()
    with pytest.raises(DataError, match=f"^cifar10: {name} can not be unpacked: it is damaged"):
        download("cifar10", [archive], folder)
    assert leftovers(folder) == []


@pytest.mark.parametrize("place", ["../outside", "/tmp/outside", "a/../../outside", "c:\\outside"])
def test_zip_archives_stay_in_their_folder(server, tmp_path, place):
    folder = tmp_path / "cache"
    folder.mkdir()
    archive = server.archive("bad.zip", zipped(**{"good": b"1", place: b"2"}))
    with pytest.raises(DataError, match=r"bad\.zip can not be unpacked: .* not safe"):
        download("tiny-imagenet", [archive], folder)
    assert leftovers(folder) == []


def test_tar_archives_stay_in_their_folder(server, tmp_path):
    folder = tmp_path / "a" / "b" / "c"
    folder.mkdir(parents=True)
    archive = server.archive("bad.tar.gz", tar(**{"good": b"1", "../../outside": b"2"}))
    with pytest.raises(DataError, match=r"bad\.tar\.gz can not be unpacked: .* not safe"):
        download("cifar10", [archive], folder)
    assert leftovers(folder) == []
    assert not list(tmp_path.rglob("outside"))


def test_two_at_the_same_time(server, tmp_path):
    archives = [server.archive("data.tar.gz", tar(a=bytes(10**6))), server.archive("b", b"2")]
    with ThreadPoolExecutor(4) as pool:
        folders = set(pool.map(lambda _: download("cifar10", archives, tmp_path), range(4)))
    assert folders == {tmp_path / "files"}
    assert leftovers(tmp_path / "files") == ["a", "b"]
    assert leftovers(tmp_path) == ["files", "served"]


def test_no_such_file_on_the_server(server, tmp_path):
    archive = server.archive("a.zip", b"")
    gone = Archive(archive.url.replace("a.zip", "b.zip"), archive.checksum)
    with pytest.raises(DataError, match=r"b\.zip \(the server answered 404\): try again, or"):
        download("tiny-imagenet", [gone], tmp_path)


def test_no_network(tmp_path, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as free:
        url = f"http://127.0.0.1:{free.server_port}/a.zip"
    with pytest.raises(DataError) as caught:
        download("tiny-imagenet", [Archive(url, "md5:0")], tmp_path)
    message = str(caught.value)
    assert message == (
        f"tiny-imagenet: could not be downloaded from {url} (no connection): try again, "
        "or read the data from a folder that holds them"
    )


@pytest.mark.parametrize("name", sorted(ELSEWHERE))
def test_what_has_no_free_address(name, monkeypatch):
    monkeypatch.setattr(downloads, "INSTALLED", {})
    origin = "openclipart-png" if name == "clipart" else "https://"
    with pytest.raises(
        DataError, match=f"^{name}: .*{origin}.* then read the data from that folder$"
    ):
        fetch(name)


def test_what_a_package_installed(tmp_path, monkeypatch):
    monkeypatch.setattr(downloads, "INSTALLED", {"clipart": tmp_path})
    assert fetch("clipart") == tmp_path
    monkeypatch.setattr(downloads, "INSTALLED", {"clipart": tmp_path / "none"})
    with pytest.raises(DataError, match=r"^clipart: its drawings are in Debian's package op"):
        fetch("clipart")


def test_unknown_names():
    with pytest.raises(DataError, match="cifar11: not one of the known data sets cifar10, "):
        fetch("cifar11")


def test_every_name_has_an_origin():
    assert {*KNOWN, *ELSEWHERE} == set(NAMES)
    for archives in KNOWN.values():
        for archive in archives:
            kind, digest = archive.checksum.split(":")
            assert len(bytes.fromhex(digest)) == hashlib.new(kind).digest_size
