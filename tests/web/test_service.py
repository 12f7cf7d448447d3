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
from zshash import ITQ, Collection, save
from zshash.collection import Page, keeping
from zshash.collection.store import Store
from zshash.web import Settings
from zshash.web.errors import ApiError
from zshash.web.service import Question, Service

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
    assert client.get("/api/search", id=1).json["total"] == 60
    assert client.get("/api/search", name="truck").json["total"] == 60
    assert client.get("/api/search", code="0" * 12, radius=48).json["total"] == 60
    assert client.ask("POST", "/api/search", b'{"id": 3}', {"Content-Type": "application/json"}
                      ).status == 200  # fmt: skip
    assert client.get("/api/items/3").status == 200
    assert client.get("/api/items/3/thumbnail").status == 200
    assert client.get("/api/why", name="wolf").status == 200


def test_slow_pictures_delay_no_search_and_are_bounded(serving, monkeypatch, begun, gate, beside):
    start, end = beside
    blocked(monkeypatch, Service, "project_picture", begun, gate)
    client = serving(threads=1, waiting=4)
    for _ in range(3):  # one is worked on, two may wait
        start(client.post, "/api/search", png("cat", 5), PNG, k=1)
    until(lambda: waiting(client, "pictures") == 3)
    busy = client.post("/api/search", png("cat", 5), PNG)
    assert busy.status == 429
    assert busy.headers["retry-after"] == "1"
    assert busy.json["detail"] == "the server is busy: try again in 1 s"
    all_other_searches_work(client)
    assert client.get("/api/search", id=1, where="year > 2004").status == 200
    gate.set()
    assert [answer.status for answer in end()] == [200] * 3
    until(lambda: waiting(client, "pictures") == 0)
    assert client.post("/api/search", png("cat", 5), PNG).status == 200


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
    start(client.get, "/api/search", id=1, where="year > 2004")
    assert begun.wait(SECONDS)
    all_other_searches_work(client)
    assert client.post("/api/search", png("cat", 5), PNG).status == 200
    added = client.form("/api/items", [("picture", "a.png", png("cat", 55))])
    assert added.json["added"] == [180]
    for _ in range(2):
        start(client.get, "/api/items", label="cat")
    until(lambda: waiting(client, "filtering") == 3)
    assert client.get("/api/items", label="cat").status == 429
    gate.set()
    assert [answer.status for answer in end()] == [200] * 3


def test_adding_slowly_delays_no_search(serving, monkeypatch, begun, gate, beside):
    start, end = beside
    blocked(monkeypatch, keeping, "add_pictures", begun, gate)
    client = serving(BEARER, writable=True, token=TOKEN)
    start(client.form, "/api/items", [("picture", "a.png", png("cat", 55))])
    assert begun.wait(SECONDS)
    all_other_searches_work(client)
    assert client.post("/api/search", png("cat", 5), PNG).status == 200
    assert client.get("/api/search", id=1, where="year > 2004").status == 200
    assert client.get("/api/info").json["items"] == 180
    gate.set()
    assert [answer.json["added"] for answer in end()] == [[180]]


def test_what_takes_too_long_is_told_so(serving, monkeypatch, begun, gate):
    blocked(monkeypatch, Service, "project_picture", begun, gate)
    client = serving(seconds=0.1, threads=1)
    answer = client.post("/api/search", png("cat", 5), PNG)
    assert answer.status == 422
    assert answer.json["detail"] == "this takes longer than the 0.1 s that a request may take"
    assert waiting(client, "pictures") == 1


def test_questions_of_a_batch_spoil_no_other(copied):
    service = Service(copied, Settings())
    page = Page(3, None, 0, 60)
    good = [Question("id", page, id=5), Question("code", page, code=bytes(6))]
    bad = [
        Question("id", page, id=5000),
        Question("code", page, code=bytes(3)),
        Question("features", page, np.full(64, np.nan, dtype=np.float32)),
        Question("features", page, np.zeros(63, dtype=np.float32)),
    ]
    alone = [service.search_all([question])[0] for question in good]
    answers = service.search_all([good[0], *bad, good[1]])
    assert [type(answer) for answer in answers[1:5]] == [ApiError] * 4
    assert [answer.status for answer in answers[1:5]] == [404, 422, 422, 422]
    for answer, expected in zip([answers[0], answers[5]], alone, strict=True):
        assert answer.partition(b',"seconds"')[0] == expected.partition(b',"seconds"')[0]
    with pytest.raises(ApiError):
        service.search_all(bad[:1])
    service.close()


def test_questions_by_bits_and_by_values_share_a_batch(copied, photos):
    service = Service(copied, Settings())
    features = np.random.RandomState(5).rand(3, 64).astype(np.float32)
    values = photos.hasher.project(features)
    questions = [
        Question("features", Page(5, None, 0, 60), features[0], is_asymmetric=True),
        Question("id", Page(3, None, 0, 60), id=5),
        Question("picture", Page(4, None, 1, 2), values=values[1], is_asymmetric=True),
        Question("features", Page(6, 20, 0, 60), features[2]),
        Question("picture", Page(4, None, 0, 60), values=values[2]),
    ]
    found = [json.loads(answer) for answer in service.search_all(questions)]
    alone = [json.loads(service.search_all([question])[0]) for question in questions]
    for answer, expected in zip(found, alone, strict=True):
        assert answer["query"] == expected["query"]
        assert answer["total"] == expected["total"]
        for one, other in zip(answer["results"], expected["results"], strict=True):
            assert one == other | {"distance": pytest.approx(other["distance"], rel=1e-5)}
    assert [one["unit"] for one in found] == ["score", "bits", "score", "bits", "bits"]
    best = photos.search(features[1], k=4, distance="asymmetric")[1:3]
    for one, match in zip(found[2]["results"], best, strict=True):
        assert (one["id"], one["distance"]) == (match.item.id, pytest.approx(match.distance))
    assert found[4]["query"]["code"] == photos.encode(features[2]).tobytes().hex()
    service.close()


def other_model(photos, folder, n_bits):
    """A model for the same features with other codes, as a file."""
    rng = np.random.RandomState(1)
    hasher = ITQ(n_bits=n_bits, random_state=1).fit(rng.randn(200, 64))
    save(hasher, folder / "other", notes=photos.notes)
    return folder / "other"


@pytest.mark.parametrize("n_bits", [48, 32])
def test_a_model_that_changes_between_encoding_and_searching(
    serving, copied, photos, tmp_path, monkeypatch, n_bits
):
    """As where another process encodes all items again while a picture is looked at."""
    path, picture = other_model(photos, tmp_path, n_bits), png("truck", 99)
    own, calls = Service.project_picture, []

    def encode(self, picture):
        encoded = own(self, picture)
        if not calls:
            with Collection.open(copied) as other:
                assert other.reencode(path) == 180
        calls.append(1)
        return encoded

    client = serving()
    assert client.get("/api/search", id=1).status == 200
    monkeypatch.setattr(Service, "project_picture", encode)
    answer = client.post("/api/search", picture, PNG, k=9)
    assert answer.status == 200
    assert len(calls) == 2
    with Collection.open(copied) as other:
        assert other.n_bits == n_bits
        assert answer.json["query"]["code"] == other.encode(picture).tobytes().hex()
        expected = [(match.item.id, match.distance) for match in other.search(picture, k=9)]
    assert [(one["id"], one["distance"]) for one in answer.json["results"]] == expected
    assert client.get("/api/info").json["bits"] == n_bits


@pytest.mark.parametrize("n_bits", [48, 32])
def test_a_model_that_changes_while_questions_wait(copied, photos, tmp_path, monkeypatch, n_bits):
    path = other_model(photos, tmp_path, n_bits)
    service, own, calls = Service(copied, Settings()), Service._hashed, []

    def codes(self, encoder, questions):
        if not calls:
            calls.append(1)
            with Collection.open(copied) as other:
                other.reencode(path)
        return own(self, encoder, questions)

    monkeypatch.setattr(Service, "_hashed", codes)
    features = np.random.RandomState(2).rand(64).astype(np.float32)
    page = Page(4, None, 0, 60)
    questions = [Question("id", page, id=5), Question("features", page, features)]
    answers = service.search_all(questions[:1]) + service.search_all(questions[1:])
    with Collection.open(copied) as other:
        expected = other.index.get([5])[0].tobytes().hex(), other.encode(features).tobytes().hex()
    for answer, code in zip(answers, expected, strict=True):
        assert f'"code":"{code}"'.encode() in answer.partition(b'"results"')[0]
    service.close()


def test_pictures_of_a_collection_that_was_moved(serving, copied, tmp_path):
    writer = serving(BEARER, writable=True, token=TOKEN)
    assert writer.form("/api/items", [("picture", "a.png", png("cat", 55))]).status == 201
    moved = copied.rename(tmp_path / "elsewhere")
    client = serving(folder=moved)
    assert client.get("/api/items/180/picture").headers["content-type"] == "image/jpeg"
    with Collection.open(moved) as collection:
        assert not Path(collection[180].source).exists()


def test_sizes_are_taken_without_keeping_others_waiting(copied, monkeypatch, begun, gate, beside):
    """Thousands of copies take a while to be looked at."""
    from zshash.collection import checking

    start, end = beside
    blocked(monkeypatch, checking, "bytes_used", begun, gate)
    gate.set()
    service = Service(copied, Settings())
    gate.clear()
    begun.clear()
    start(service.info, True)
    assert begun.wait(SECONDS)
    assert len(service.collection.search_codes(np.zeros((1, 6), np.uint8), k=3)[0]) == 3
    gate.set()
    assert end()[0]["items"] == 180
    service.close()
