"""Several processes over one album: they share the work, one may die, and all end together."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from http.client import HTTPException
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.web.browser.album import png
from tests.web.conftest import BEARER, SECONDS, TOKEN, Client
from zshash.cli import main
from zshash.web import Settings

pytestmark = pytest.mark.service

COMMAND = "import zshash.web.run as r; r.GRACE = 1; from zshash.cli import main; main()"


@contextmanager
def process(folder, *options, workers=2, **environment):
    """`zshash serve` with several workers, and a client with its token."""
    command = [sys.executable, "-c", COMMAND, "serve", str(folder), "--port", "0"]
    with subprocess.Popen(
        [*command, "--workers", str(workers), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"ZSHASH_TOKEN": TOKEN} | environment,
        text=True,
    ) as started:
        try:
            line = started.stdout.readline()
            found = re.search(r"http://\S+?/", line)
            assert found, started.stderr.read()
            yield started, Client(found[0], BEARER)
        finally:
            if started.poll() is None:
                started.send_signal(signal.SIGTERM)
                started.communicate(timeout=SECONDS)


def children(process):
    """Ids of the processes that a process has started."""
    text = Path(f"/proc/{process}/task/{process}/children").read_text()
    return sorted(int(number) for number in text.split())


def until(condition):
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def is_alive(process):
    with suppress(ProcessLookupError):
        os.kill(process, 0)
        return True
    return False


def test_a_worker_that_is_killed_under_load_is_replaced(folder):
    """Requests in flight may fail with their connection; no other one does."""
    wrong, lost, over = [], [], threading.Event()

    def ask(client):
        while not over.is_set():
            try:
                status = client.get("/api/v1/search?id=3&k=3").status
                if status != 200:
                    wrong.append(status)
            except (OSError, HTTPException) as error:
                lost.append((time.monotonic(), error))

    with process(folder) as (server, client):
        before = children(server.pid)
        assert len(before) == 2
        threads = [threading.Thread(target=ask, args=[client]) for _ in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(0.3)
        os.kill(before[0], signal.SIGKILL)
        until(lambda: len(set(children(server.pid)) - {before[0]}) == 2)
        recovered = time.monotonic()
        time.sleep(1)
        over.set()
        for thread in threads:
            thread.join()
        assert before[1] in children(server.pid)
    assert wrong == []
    assert len(lost) <= 4
    assert all(when < recovered for when, _ in lost)


def test_what_one_worker_has_added_all_of_them_find(copied):
    with process(copied, "--writable") as (server, client):
        for seed in range(400, 406):
            files = [("picture", f"{seed}.png", png("cat", seed))]
            added = client.form("/api/v1/items", files).json["added"]
            for _ in range(6):  # each is a connection of its own, to whichever worker takes it
                assert client.get(f"/api/v1/items/{added[0]}").status == 200
                found = client.get("/api/v1/search", id=added[0], k=1).json["results"]
                assert found[0]["bits"] == 0
        assert client.ask("DELETE", f"/api/v1/items/{added[0]}").status == 204
        for _ in range(6):
            assert client.get(f"/api/v1/items/{added[0]}").status == 404
        assert len(children(server.pid)) == 2


def test_workers_wait_for_each_other_when_they_write(copied):
    answers = []

    def add(client, seed):
        files = [("picture", f"{seed}.png", png("cat", seed))]
        answers.append(client.form("/api/v1/items", files))

    with process(copied, "--writable") as (_, client):
        threads = [threading.Thread(target=add, args=[client, seed]) for seed in range(500, 512)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [answer.status for answer in answers] == [201] * 12
        assert client.get("/api/v1/info").json["items"] == 192


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_all_end_together(folder, how, tmp_path):
    with process(folder, TMPDIR=str(tmp_path)) as (server, client):
        workers = children(server.pid)
        (scratch,) = tmp_path.glob("zshash-*")
        assert scratch.stat().st_mode & 0o777 == 0o700
        assert client.get("/healthz").status == 200
        server.send_signal(how)
        _, errors = server.communicate(timeout=SECONDS)
        assert server.returncode == 0, errors
        assert "Traceback" not in errors
    assert not any(map(is_alive, workers))
    assert not scratch.exists()


def test_no_worker_outlives_the_first_process(folder):
    with process(folder) as (server, _):
        workers = children(server.pid)
        server.send_signal(signal.SIGKILL)
        server.wait(SECONDS)
    until(lambda: not any(map(is_alive, workers)))


def test_numbers_are_those_of_all_workers(folder):
    def asked():
        text = client.get("/metrics").body.decode()
        found = re.search(r'requests_total\{.*route="/healthz",status="200"\} ([0-9.]+)', text)
        return float(found[1]) if found else 0

    with process(folder) as (server, client):
        for _ in range(20):
            assert client.get("/healthz").status == 200
        until(lambda: asked() == 20)
        os.kill(children(server.pid)[0], signal.SIGKILL)
        time.sleep(0.2)
        assert asked() == 20  # counts never fall


def test_two_servers_over_one_album(copied):
    with process(copied, "--writable") as (_, first), process(copied) as (_, second):
        files = [("picture", "a.png", png("cat", 700))]
        (number,) = first.form("/api/v1/items", files).json["added"]
        assert second.get(f"/api/v1/items/{number}").status == 200


def test_a_port_that_is_taken(folder):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = CliRunner().invoke(
            main, ["serve", str(folder), "--port", str(port), "--workers", "2"]
        )
    assert done.exit_code == 2
    assert "choose another host or port" in done.output
    assert "Traceback" not in done.output


def test_an_album_that_is_damaged_is_told_once(copied):
    next(copied.glob("model-*")).write_bytes(b"x")
    done = CliRunner().invoke(main, ["serve", str(copied), "--port", "0", "--workers", "2"])
    assert done.exit_code == 2
    assert "is damaged" in done.output


@pytest.mark.parametrize("number", ["0", "-1", "1000", "two", "1.5"])
def test_numbers_of_workers_that_make_no_sense(folder, number):
    done = CliRunner().invoke(main, ["serve", str(folder), "--workers", number])
    assert done.exit_code == 2
    assert "--workers" in done.output


@pytest.mark.parametrize("number", [0, -1, 1000, 1.5, "2"])
def test_settings_refuse_such_numbers(number):
    with pytest.raises(ValueError, match="workers must be a whole number from 1 to 64"):
        Settings(workers=number)
