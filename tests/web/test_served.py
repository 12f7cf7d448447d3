"""What is slow fills its own lane; models and items that change meanwhile give right answers."""

import json
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from tests.web.browser.album import png
from tests.web.conftest import BEARER, SECONDS, TOKEN
from zshash import ITQ, Collection, CollectionError
from zshash.collection import Query
from zshash.collection.operations import copies, searching
from zshash.collection.operations.queries import Sample
from zshash.collection.storage.store import Store
from zshash.datasets import Dataset
from zshash.hashing import save
from zshash.web import Settings
from zshash.web.errors import ApiError, describe
from zshash.web.queries import ItemsQuery
from zshash.web.served import Question, ServedCollection

PNG = "image/png"


@pytest.fixture
def begun():
    return threading.Event()


@pytest.fixture
def beside():
    """Calls functions in threads; what they gave when all have ended."""
    threads, results = [], []

    def start(function, *args, **options):
        threads.append(threading.Thread(target=lambda: results.append(function(*args, **options))))
        threads[-1].start()

    def end():
        for thread in threads:
            thread.join(SECONDS)
        return results

    yield start, end
    end()


def blocked(monkeypatch, where, name, begun, gate):
    """A function that waits at a gate before it works."""
    own = getattr(where, name)

    def wait(*args, **options):
        begun.set()
        assert gate.wait(SECONDS)
        return own(*args, **options)

    monkeypatch.setattr(where, name, wait)


def waiting(client, lane):
    for line in client.get("/metrics").body.decode().splitlines():
        if line.startswith(f"zshash_waiting_{lane} "):
            return float(line.split()[1])
    raise AssertionError(f"nothing is known of {lane}")


def until(condition):
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def all_other_searches_work(client):
    assert client.get("/api/v1/search", id=1).json["total"] == 60
    assert client.get("/api/v1/search", name="truck").json["total"] == 60
    assert client.get("/api/v1/search", code="0" * 12, radius=48).json["total"] == 60
    assert client.ask("POST", "/api/v1/search", b'{"id": 3}', {"Content-Type": "application/json"}
                      ).status == 200  # fmt: skip
    assert client.get("/api/v1/items/3").status == 200
    assert client.get("/api/v1/items/3/thumbnail").status == 200
    assert client.get("/api/v1/why", name="wolf").status == 200


def test_slow_pictures_delay_no_search_and_are_bounded(serving, monkeypatch, begun, gate, beside):
    start, end = beside
    client = serving(threads=1, waiting=4)  # it has tried a picture before it answers
    blocked(monkeypatch, ServedCollection, "prepare", begun, gate)
    for _ in range(3):  # one is worked on, two may wait
        start(client.post, "/api/v1/search", png("cat", 5), PNG, k=1)
    until(lambda: waiting(client, "pictures") == 3)
    busy = client.post("/api/v1/search", png("cat", 5), PNG)
    assert busy.status == 429
    assert busy.headers["retry-after"] == "1"
    assert busy.json["detail"] == "the server is busy: try again in 1 s"
    all_other_searches_work(client)
    assert client.get("/api/v1/search", id=1, where="year > 2004").status == 200
    gate.set()
    assert [answer.status for answer in end()] == [200] * 3
    until(lambda: waiting(client, "pictures") == 0)
    assert client.post("/api/v1/search", png("cat", 5), PNG).status == 200


def test_a_slow_filter_delays_nothing_else(serving, monkeypatch, begun, gate, beside):
    start, end = beside
    own = Store.beside

    @contextmanager
    def slow(self):
        with own(self) as found:
            begun.set()
            assert gate.wait(SECONDS)
            yield found

    client = serving(waiting=4, writable=True, token=TOKEN, headers=BEARER)
    monkeypatch.setattr(Store, "beside", slow)
    start(client.get, "/api/v1/search", id=1, where="year > 2004")
    assert begun.wait(SECONDS)
    all_other_searches_work(client)
    assert client.post("/api/v1/search", png("cat", 5), PNG).status == 200
    added = client.form("/api/v1/items", [("picture", "a.png", png("cat", 55))])
    assert added.json["added"] == [180]
    for _ in range(2):
        start(client.get, "/api/v1/items", label="cat")
    until(lambda: waiting(client, "filtering") == 3)
    assert client.get("/api/v1/items", label="cat").status == 429
    gate.set()
    assert [answer.status for answer in end()] == [200] * 3


def test_adding_slowly_delays_no_search(serving, monkeypatch, begun, gate, beside):
    start, end = beside
    blocked(monkeypatch, copies, "add_pictures", begun, gate)
    client = serving(BEARER, writable=True, token=TOKEN)
    start(client.form, "/api/v1/items", [("picture", "a.png", png("cat", 55))])
    assert begun.wait(SECONDS)
    all_other_searches_work(client)
    assert client.post("/api/v1/search", png("cat", 5), PNG).status == 200
    assert client.get("/api/v1/search", id=1, where="year > 2004").status == 200
    assert client.get("/api/v1/info").json["items"] == 180
    gate.set()
    assert [answer.json["added"] for answer in end()] == [[180]]


def test_what_takes_too_long_is_told_so(serving, monkeypatch, begun, gate):
    client = serving(seconds=0.1, threads=1)
    blocked(monkeypatch, ServedCollection, "prepare", begun, gate)
    answer = client.post("/api/v1/search", png("cat", 5), PNG)
    assert answer.status == 422
    assert answer.json["detail"] == "this takes longer than the 0.1 s that a request may take"
    assert waiting(client, "pictures") == 1


def asking(kind, features=None, **query):
    """A question; features are searched for by real values unless something else is said."""
    if features is not None:
        query["sample"] = Sample(Dataset(features[None]))
    return Question(kind, Query(**{"k": 60, "most": 60} | query))


def test_questions_of_a_batch_spoil_no_other(copied):
    served = ServedCollection(copied, Settings())
    good = [asking("id", item=5, most=3), asking("code", code=bytes(6), most=3)]
    bad = [
        asking("id", item=5000, most=3),
        asking("code", code=bytes(3), most=3),
        asking("features", np.full(64, np.nan, dtype=np.float32), most=3),
        asking("features", np.zeros(63, dtype=np.float32), most=3),
    ]
    alone = [served.search_all([question])[0] for question in good]
    answers = served.search_all([good[0], *bad, good[1]])
    assert [describe(answer, [copied]).status for answer in answers[1:5]] == [404, 422, 422, 422]
    for answer, expected in zip([answers[0], answers[5]], alone, strict=True):
        assert answer.partition(b',"seconds"')[0] == expected.partition(b',"seconds"')[0]
    with pytest.raises(CollectionError, match="there is no item 5000"):
        served.search_all(bad[:1])
    with pytest.raises(ApiError):
        served.search_all(bad[2:3])
    served.close()


def test_questions_by_bits_and_by_values_share_a_batch(copied, photos):
    served = ServedCollection(copied, Settings())
    features = np.random.RandomState(5).rand(3, 64).astype(np.float32)
    values = photos.model.hasher.project(features)
    questions = [
        asking("features", features[0], most=5),
        asking("id", item=5, most=3),
        asking("picture", values=values[1], most=4, offset=1, k=2),
        asking("features", features[2], most=6, radius=20),
        asking("picture", values=values[2], most=4, distance="bits"),
    ]
    found = [json.loads(answer) for answer in served.search_all(questions)]
    alone = [json.loads(served.search_all([question])[0]) for question in questions]
    for answer, expected in zip(found, alone, strict=True):
        assert answer["query"] == expected["query"]
        assert answer["total"] == expected["total"]
        for one, other in zip(answer["results"], expected["results"], strict=True):
            assert one == other | {"score": pytest.approx(other["score"], rel=1e-5)}
    for answer, is_real in zip(found, [True, False, True, False, False], strict=True):
        by_bits = [one["score"] == 1 - 2 * one["bits"] / 48 for one in answer["results"]]
        assert all(by_bits) == (not is_real)
    best = photos.search(features[1], k=4, distance="real")[1:3]
    for one, match in zip(found[2]["results"], best, strict=True):
        assert (one["id"], one["score"]) == (match.id, pytest.approx(match.score))
        assert one["bits"] == match.bits
    assert found[4]["query"]["code"] == photos.model.encode(features[2:]).tobytes().hex()
    served.close()


def other_model(photos, folder, n_bits):
    """A model for the same features with other codes, as a file."""
    rng = np.random.RandomState(1)
    hasher = ITQ(n_bits=n_bits, random_state=1).fit(rng.randn(200, 64))
    save(hasher, folder / "other", notes=photos.model.notes)
    return folder / "other"


@pytest.mark.parametrize("n_bits", [48, 32])
def test_a_model_that_changes_between_encoding_and_searching(
    serving, copied, photos, tmp_path, monkeypatch, n_bits
):
    """As where another process encodes all items again while a picture is looked at."""
    path, picture = other_model(photos, tmp_path, n_bits), png("truck", 99)
    own, calls = ServedCollection.prepare, []

    def prepare(self, question):
        own(self, question)
        if not calls:
            with Collection.open(copied) as other:
                assert other.reencode(path) == 180
        calls.append(question.query.projected.values)

    client = serving()
    assert client.get("/api/v1/search", id=1).status == 200
    monkeypatch.setattr(ServedCollection, "prepare", prepare)
    answer = client.post("/api/v1/search", picture, PNG, k=9, distance="bits")
    assert answer.status == 200
    assert [values.shape for values in calls] == [(48,)]
    with Collection.open(copied) as other:
        assert other.n_bits == n_bits
        expected = other.search(picture, k=9, distance="bits")
        assert answer.json["query"]["code"] == expected.code.hex()
    assert [(one["id"], one["bits"]) for one in answer.json["results"]] == [
        (match.id, match.bits) for match in expected
    ]
    assert client.get("/api/v1/info").json["bits"] == n_bits


@pytest.mark.parametrize("n_bits", [48, 32])
def test_a_model_that_changes_while_questions_wait(copied, photos, tmp_path, monkeypatch, n_bits):
    path = other_model(photos, tmp_path, n_bits)
    served, own, calls = ServedCollection(copied, Settings()), searching.ask, []

    def ask(*args):
        asked = own(*args)
        if not calls:
            calls.append(1)
            with Collection.open(copied) as other:
                other.reencode(path)
        return asked

    monkeypatch.setattr(searching, "ask", ask)
    features = np.random.RandomState(2).rand(64).astype(np.float32)
    questions = [asking("id", item=5, most=4), asking("features", features, most=4)]
    answers = served.search_all(questions[:1]) + served.search_all(questions[1:])
    with Collection.open(copied) as other:
        expected = other[5].code.hex(), other.model.encode(features[None]).tobytes().hex()
    for answer, code in zip(answers, expected, strict=True):
        assert f'"code":"{code}"'.encode() in answer.partition(b'"results"')[0]
    served.close()


def test_pictures_of_a_collection_that_was_moved(serving, copied, tmp_path):
    writer = serving(BEARER, writable=True, token=TOKEN)
    assert writer.form("/api/v1/items", [("picture", "a.png", png("cat", 55))]).status == 201
    moved = copied.rename(tmp_path / "elsewhere")
    client = serving(folder=moved)
    assert client.get("/api/v1/items/180/picture").headers["content-type"] == "image/jpeg"
    with Collection.open(moved) as collection:
        assert not Path(collection[180].source).exists()


def test_sizes_are_taken_without_keeping_others_waiting(copied, monkeypatch, begun, gate, beside):
    """Thousands of copies take a while to be looked at."""
    from zshash.collection.operations import maintenance

    start, end = beside
    blocked(monkeypatch, maintenance, "bytes_used", begun, gate)
    gate.set()
    served = ServedCollection(copied, Settings())
    gate.clear()
    begun.clear()
    start(served.info, True)
    assert begun.wait(SECONDS)
    assert len(served.collection.search(code=bytes(6), k=3)) == 3
    gate.set()
    assert end()[0]["items"] == 180
    served.close()


def test_items_that_go_away_are_left_out_of_their_page(copied, monkeypatch):
    own = Collection.pictured

    def pictured(self, ids):
        found = own(self, ids)
        if 3 in self:
            with Collection.open(copied) as other:
                other.remove([3, 5])
        return found

    monkeypatch.setattr(Collection, "pictured", pictured)
    served = ServedCollection(copied, Settings())
    try:
        answer = served.items(ItemsQuery(limit=8))
    finally:
        served.close()
    assert [item["id"] for item in answer["items"]] == [0, 1, 2, 4, 6, 7]
