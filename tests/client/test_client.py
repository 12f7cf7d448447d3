"""The client against the collection that the server serves: the same answers to all queries."""

import re
import socket
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import zshash
from tests.client.canned import BUSY, GOOD, canned
from tests.web.browser.album import make_album, png
from tests.web.browser.knowing import make_knowing
from tests.web.running import running
from zshash.client import ServerError
from zshash.datasets import DataError

__all__ = ["canned"]

TOKEN = "a-token-of-these-tests"
SUM = pytest.approx


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """A collection, and a client of a server over it."""
    folder = make_album(tmp_path_factory.mktemp("client"))
    with running(folder) as address, zshash.Collection.open(folder) as album:
        client = zshash.Client(address)
        yield album, client
        client.close()


@pytest.fixture(scope="module")
def knowing(tmp_path_factory):
    """The same, where the network knows names."""
    folder = make_knowing(tmp_path_factory.mktemp("knowing"))
    with running(folder) as address, zshash.Collection.open(folder) as album:
        client = zshash.Client(address)
        yield album, client
        client.close()


def assert_same(told, found):
    if isinstance(found, list) and not isinstance(found, zshash.Found):
        assert len(told) == len(found)
        for one, other in zip(told, found, strict=True):
            assert_same(one, other)
        return
    assert [match.id for match in told] == [match.id for match in found]
    scores = [match.score for match in found]
    assert [match.score for match in told] == SUM(scores, abs=1e-5)
    assert [match.bits for match in told] == [match.bits for match in found]
    assert [match.labels for match in told] == [match.labels for match in found]
    assert [match.metadata for match in told] == [match.metadata for match in found]
    assert (told.total, told.offset, told.code) == (found.total, found.offset, found.code)
    assert found.model.startswith(told.model)
    assert (told.nothing, told.pictured) == (found.nothing, {match.id for match in found})
    assert (told.values is None) == (found.values is None)
    assert (told.reading is None) == (found.reading is None)


def rows(n):
    return np.random.RandomState(n).randint(0, 12, (n, 64)).astype(np.float32)


QUERIES = {
    "a picture": {"query": png("truck", 99)},
    "pixels": {"query": np.full((32, 32, 3), 90, dtype=np.uint8), "k": 3},
    "pictures": {"query": [png("cat", 99), png("dog", 98)], "k": 4},
    "features": {"query": rows(1)[0]},
    "many features": {"query": rows(40), "k": 7, "offset": 2},
    "no features": {"query": rows(1)[:0]},
    "an item": {"item": 33},
    "items": {"item": [1, 33, 7], "k": 5},
    "a code": {"code": 5},
    "codes": {"code": [5, 6, 7], "k": 3},
    "values": {"values": rows(1)[0], "k": 9},
    "many values": {"values": rows(3), "k": 9},
    "a name": {"name": "truck", "k": 25},
    "names": {"name": ["truck", "cat"], "k": 3},
    "a condition": {"item": 3, "where": "year > 2010", "k": 12},
    "a radius": {"item": 3, "radius": 6},
    "a radius and k": {"query": rows(1)[0], "radius": 20, "k": 3},
    "bits": {"query": rows(2), "distance": "bits"},
    "a page": {"item": 3, "k": 30, "offset": 170},
    "beyond": {"item": 3, "k": 3, "offset": 500},
}


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_the_client_finds_what_the_collection_finds(both, query):
    album, client = both
    how = dict(query)
    if "code" in how:
        codes = album.index.get(np.atleast_1d(how["code"]))
        how["code"] = codes if len(codes) > 1 else codes[0].tobytes()
        how["model"] = album.model.checksum
    if "values" in how:
        values = album.model.project(np.atleast_2d(how["values"]))
        how["values"] = values if len(values) > 1 else values[0]
    assert_same(client.search(**how), album.search(**how))


NAMES = {
    "one": {"name": "dog"},
    "together": {"name": {"dog": 2.0, "cat": 1.0}, "k": 9},
    "not": {"name": "dog", "without": "cat", "k": 9},
    "beside a picture": {"query": png("cat", 99), "name": "truck", "without": ["dog"]},
}


@pytest.mark.parametrize("how", NAMES.values(), ids=NAMES)
def test_names(knowing, how):
    album, client = knowing
    found, told = album.search(**how), client.search(**how)
    assert_same(told, found)
    assert told.reading.left_out == list(found.reading.left_out)


def test_more_than_a_page(both):
    album, client = both
    assert len(client.search(item=3, k=300)) == len(album) == 180
    many = client.search(rows(300), k=2)
    assert_same(many, album.search(rows(300), k=2))


def test_items_and_pictures(both):
    album, client = both
    assert [item.id for item in client.items()] == album.ids.tolist()
    cats = list(client.items("year > 2005", label="cat"))
    assert [item.id for item in cats] == album.find("label = 'cat' and year > 2005").tolist()
    assert cats[0].labels == ("cat",)
    few = client.items()
    assert next(few).id == 0
    few.close()
    assert client.thumbnail(3) == album.thumbnail(3)
    assert client.picture(3)[:2] == b"\xff\xd8"
    assert client.names("tr")[0]["name"] == "truck"
    assert client.info()["items"] == 180


def test_nearest(both):
    album, client = both
    ids, scores = client.nearest(rows(5), k=6)
    for row, best, own in zip(rows(5), ids, scores, strict=True):
        found = album.search(row, k=6)
        assert best.tolist() == [match.id for match in found]
        assert own.tolist() == SUM([match.score for match in found], abs=1e-5)
    ids, scores = client.nearest(rows(1), k=300)
    assert (ids[0, 180:] == -1).all()
    assert np.isnan(scores[0, 180:]).all()


def test_what_a_server_refuses(both):
    _, client = both
    with pytest.raises(ServerError, match="there is no item 5000") as refused:
        client.search(item=5000)
    assert (refused.value.status, refused.value.suggestions) == (404, {})
    with pytest.raises(ServerError, match=r"queries.1: there is no item 5000"):
        client.search(item=[1, 5000])
    with pytest.raises(TypeError, match="exactly one of"):
        client.search()
    with pytest.raises(ValueError, match="is no address such as"):
        zshash.Client("127.0.0.1:8000")
    with pytest.raises(ServerError, match="only reads"):
        client.remove(3)


def test_changes(tmp_path):
    folder = make_album(tmp_path)
    with running(folder, writable=True, token=TOKEN) as address:
        with zshash.Client(address) as client, pytest.raises(ServerError, match="token"):
            client.add(png("cat", 200))
        with zshash.Client(address, TOKEN) as client:
            path = tmp_path / 'a "new".png'
            path.write_bytes(png("truck", 201))
            report = client.add([path, png("cat", 202)], labels=["new"])
            assert report["added"] == [180, 181]
            assert [item.id for item in client.items(label="new")] == [180, 181]
            assert client.label([180], "truck") == [180]
            assert [item.labels for item in client.items("id = 180")] == [("truck",)]
            undo = client.remove([180])
            assert [item.id for item in client.items("id >= 180")] == [181]
            assert client.restore(undo) == [180]
            assert [item.labels for item in client.items("id = 180")] == [("truck",)]
            assert client.label([180, 181], "pet", how="also") == [180, 181]
            assert client.label(180, "truck", how="without") == [180]
            assert client.label(181, None) == [181]
            assert [item.labels for item in client.items("id >= 180")] == [("pet",), ()]
            with pytest.raises(ServerError, match=undo) as again:
                client.restore(undo)
            assert again.value.status == 404
            model = client.search(item=180).model
            state = client.refit()
            assert (state["state"], state["done"]) == ("done", 1), state
            assert client.search(item=180).model != model
            assert client.refit(wait=False)["state"] == "running"


PROGRAM = """
import sys
import zshash
assert zshash.Client("http://127.0.0.1:8000").address
for name in ("fastapi", "starlette", "uvicorn", "pydantic", "PIL", "onnxruntime", "torch"):
    assert name not in sys.modules, name
"""


def test_the_client_needs_no_package_of_the_service():
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, timeout=120)


def test_threads_share_a_client(both):
    _, client = both
    wrong = []

    def ask(number):
        for _ in range(5):
            if client.search(item=number, k=3)[0].id != number:
                wrong.append(number)

    threads = [threading.Thread(target=ask, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_busy_server_is_asked_again(canned):
    with zshash.Client(canned([BUSY, BUSY, GOOD])) as client:
        assert client.info() == {"items": 3}
    refused = pytest.raises(ServerError, match="without saying why")
    with zshash.Client(canned([BUSY, BUSY]), retries=1) as client, refused:
        client.info()


def test_a_server_that_does_not_answer():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with (
            zshash.Client(address, timeout=0.05) as client,
            pytest.raises(TimeoutError, match=f"^{address} does not answer: timed out$"),
        ):
            client.info()
    with (
        zshash.Client(address) as client,
        pytest.raises(ConnectionError, match=f"^{address} does not answer: Connection refused$"),
    ):
        client.info()


def test_a_picture_that_is_not_there(both, tmp_path):
    _, client = both
    missing = str(tmp_path / "nothing.jpg")
    for ask in (client.search, client.add):
        with pytest.raises(DataError, match=r"nothing\.jpg: No such file or directory$"):
            ask(missing)


def test_a_connection_that_was_dropped_is_opened_again(canned):
    with zshash.Client(canned([GOOD], [GOOD], [GOOD])) as client:
        assert client.info() == client.info() == {"items": 3}
        with pytest.raises(ConnectionError, match=r"^http://127\.0\.0\.1:\d+ does not answer: "):
            client.remove(3)  # it may have been done


def test_the_lines_of_the_guide(knowing, tmp_path, monkeypatch, capsys):
    album, client = knowing
    guide = (Path(__file__).parents[2] / "docs" / "guide.md").read_text()
    (lines,) = re.findall(r"```\n(with zshash.Client\(.*?)```", guide, re.DOTALL)
    (tmp_path / "holiday.jpg").write_bytes(png("cat", 99))
    monkeypatch.chdir(tmp_path)
    features = np.random.RandomState(0).rand(4, album.model.hasher.n_features_in_)
    known = {"zshash": zshash, "features": features.astype(np.float32)}
    exec(lines.replace("http://127.0.0.1:8000", client.address), known)
    assert capsys.readouterr().out == ""  # nobody labelled a beach
    assert known["found"] == []  # and there is no year in it
    assert known["ids"].shape == known["scores"].shape == (4, 10)
