"""Copies of pictures to review, and learning again, over HTTP."""

import json
import os
import signal
import sys
import threading
import time

import pytest

from tests.web.conftest import BEARER, JSON, TOKEN
from zshash import Collection
from zshash.images import Limits
from zshash.web.jobs import Job, JobState, write_state

SECONDS = 300  # the process has the lowest priority, and compiles first


def waited(client, path, until, **parameters):
    """The answer, once its state is one of some."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        answer = client.get(path, **parameters)
        assert answer.status == 200
        assert 0 <= answer.json["done"] <= 1
        if answer.json["state"] in until:
            return answer.json
        time.sleep(0.1)
    raise AssertionError(f"{path} stays {answer.json}")


def send(client, route, **order):
    return client.ask("POST", f"/api/v1/{route}", json.dumps(order).encode(), JSON)


@pytest.fixture
def doubled(copied, tmp_path):
    """A collection with two groups of copies: 5 and 7 are each there once more, scaled."""
    from PIL import Image

    with Collection.open(copied) as album:
        album.remove(range(24, 180), undo=False)  # each picture is compared with many others
        for number in (5, 7):
            with Image.open(album.picture(number)) as image:
                wide, high = image.size
                image.convert("RGB").resize((3 * wide, 3 * high)).save(tmp_path / f"{number}.png")
        album.add([tmp_path / "5.png", tmp_path / "7.png"])
    return copied


def ids(group):
    return [item["id"] for item in group["items"]]


def test_copies_are_found_reviewed_and_removed(serving, doubled):
    client = serving(BEARER, writable=True, token=TOKEN)
    found = waited(client, "/api/v1/duplicates", {"ready"})
    first = {tuple(ids(group)): group for group in found["groups"]}
    assert found["total"] == len(found["groups"]) >= 2
    mine = next(group for own, group in first.items() if 180 in own)
    assert mine["keep"] == 180  # it has the most pixels
    assert mine["level"] == "same"
    assert mine["items"][0] == client.get(f"/api/v1/items/{mine['items'][0]['id']}").json

    assert send(client, "duplicates/keep", key=mine["key"]).json == {"key": mine["key"]}
    after = client.get("/api/v1/duplicates").json
    assert after["state"] == "ready"
    assert after["total"] == found["total"] - 1
    assert mine["key"] not in [group["key"] for group in after["groups"]]
    with Collection.open(doubled) as album:
        assert 180 not in [item.id for group in album.duplicates() for item in group.items]
        assert 180 in [i.id for group in album.duplicates(kept=True) for i in group.items]
    assert send(client, "duplicates/forget", key=mine["key"]).status == 200
    assert send(client, "duplicates/forget", key=mine["key"]).status == 404
    assert client.get("/api/v1/duplicates").json["total"] == found["total"]

    others = [number for number in ids(mine) if number != 180]
    undo = send(client, "items/remove", ids=others).json["undo"]
    after = client.get("/api/v1/duplicates").json
    assert (after["state"], after["total"]) == ("ready", found["total"] - 1)
    send(client, "items/restore", undo=undo)
    assert client.get("/api/v1/duplicates").json["groups"] == found["groups"]


def test_pages_and_levels(serving, doubled):
    client = serving(folder=doubled)  # reading is enough
    found = waited(client, "/api/v1/duplicates", {"ready"}, limit=1)
    assert len(found["groups"]) == 1
    assert found["total"] >= 2
    second = client.get("/api/v1/duplicates", limit=1, offset=1).json["groups"]
    assert second[0]["key"] != found["groups"][0]["key"]
    alike = waited(client, "/api/v1/duplicates", {"ready"}, level="alike")
    assert {group["level"] for group in alike["groups"]} <= {"alike"}
    assert all(group["keep"] is None for group in alike["groups"])
    for wrong in ({"level": "never"}, {"limit": 0}, {"limit": 101}, {"offset": -1}, {"k": 5}):
        assert client.get("/api/v1/duplicates", **wrong).status == 422
    assert send(client, "duplicates/keep", key="0" * 16).status == 403


@pytest.mark.parametrize("key", ["", "x", "0" * 15, 5, None, "G" * 16])
def test_wrong_keys(writer, key):
    for route in ("duplicates/keep", "duplicates/forget"):
        assert send(writer, route, key=key).status == 422
    assert send(writer, "duplicates/keep", key="0" * 16).status == 404


def test_learning_again(serving, copied):
    client = serving(BEARER, writable=True, token=TOKEN)
    assert client.get("/api/v1/refit").json["state"] == "idle"
    assert client.get("/api/v1/info").json["n_unlearned"] == 0
    model = client.get("/api/v1/search", id=5).json["query"]["model"]
    send(client, "items/label", ids=list(range(0, 180, 2)), label="other")
    started = client.ask("POST", "/api/v1/refit")
    assert (started.status, started.json["state"]) == (202, "running")
    other = serving(BEARER, writable=True, token=TOKEN)
    assert other.get("/api/v1/search", id=5).status == 200
    done = waited(client, "/api/v1/refit", {"done", "failed"})
    assert (done["state"], done["done"], done["text"][:26]) == (
        "done",
        1.0,
        "learned from 180 pictures ",
    )
    assert client.get("/api/v1/search", id=5).json["query"]["model"] != model
    with Collection.open(copied) as album:
        assert album.verify() == []


def test_readers_can_look_but_not_start(client, serving):
    assert client.get("/api/v1/refit").status == 200
    assert client.ask("POST", "/api/v1/refit").status == 403
    assert serving(writable=True).ask("POST", "/api/v1/refit").status == 401


@pytest.fixture
def job(copied, tmp_path):
    made = Job(copied, tmp_path / "jobs", "refit")
    yield made
    made.close()


def test_one_job_at_a_time_whoever_starts_it(job, copied, tmp_path):
    other = Job(copied, tmp_path / "jobs", "refit")
    assert job.start(3).state == "running"
    first = job._process.pid
    assert other.start(4).generation == 3
    assert other._process is None
    assert job.start(5).generation == 3
    assert job._process.pid == first


def test_a_job_that_is_killed_has_failed(job, copied):
    job.start()
    os.kill(job._process.pid, signal.SIGKILL)
    job._process.wait(SECONDS)
    state = job.state()
    assert (state.state, state.text[:15]) == ("failed", "the process tha")
    with Collection.open(copied) as album:
        assert album.verify() == []
    assert job.start().state == "running"


@pytest.mark.skipif(sys.platform == "win32", reason="one process only knows of its jobs there")
def test_work_begins_anew_when_it_is_done_but_its_process_has_not_ended(job):
    handle = job._take()
    write_state(job.path, JobState("done", "", 1.0, "all is well", 7))
    ending = threading.Timer(0.3, os.close, [handle])
    ending.start()
    assert job.start(8)[-1] == 8
    assert job.state().state == "running"
    ending.join()


def test_pictures_are_read_within_limits_and_nobody_learns_where_they_are(copied, tmp_path):
    small = Job(copied, tmp_path / "jobs", "refit", Limits(pixels=100))
    small.start()
    small._process.wait(SECONDS)
    state = small.state()
    assert state.state == "failed"
    assert "pixels" in state.text
    assert ".png" in state.text
    assert os.sep not in state.text
    small.close()


def test_a_job_ends_with_its_server(job):
    job.start()
    process = job._process
    process.stdin.close()
    assert process.wait(SECONDS) != 0


def test_a_job_that_can_not_be_done_says_why(tmp_path):
    job = Job(tmp_path / "nothing", tmp_path / "jobs", "refit")
    job.start()
    job._process.wait(SECONDS)
    state = job.state()
    assert state.state == "failed"
    assert "there is no such folder" in state.text
    job.close()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"state": 5, "x": 1}'])
def test_a_state_that_can_not_be_read_is_none(job, content):
    job.path.write_bytes(content)
    assert job.state() == JobState()


def test_a_state_is_what_was_written(job):
    write_state(job.path, JobState("done", "", 1.0, "all is well", 7))
    assert job.state() == JobState("done", "", 1.0, "all is well", 7)
