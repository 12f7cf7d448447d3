"""The log, other origins and wrong tokens of `zshash serve`, a process or several."""

import json
import re
import time

import pytest
from click.testing import CliRunner

from tests.web.conftest import SECONDS, TOKEN
from tests.web.test_workers import process
from zshash.cli import main
from zshash.web.failures import FREE

pytestmark = pytest.mark.service

ORIGIN = "https://app.example.org"


def lines(path, n):
    """The lines of a log; a line is written just after its answer."""
    end = time.monotonic() + SECONDS
    while path.read_bytes().count(b"\n") < n and time.monotonic() < end:
        time.sleep(0.02)
    return [json.loads(line) for line in path.read_text("ascii").splitlines()]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_log_and_another_origin(folder, tmp_path, workers):
    place = tmp_path / "requests.log"
    options = ("--log", str(place), "--allow-origin", ORIGIN)
    with process(folder, *options, workers=workers) as (_, client):
        for i in range(30):
            headers = {"Origin": ORIGIN, "X-Request-Id": str(i)}
            answer = client.ask("GET", "/api/v1/search?id=3&k=1", headers=headers)
            assert answer.status == 200
            assert answer.headers["access-control-allow-origin"] == ORIGIN
        other = client.ask("GET", "/api/v1/info", headers={"Origin": "https://evil.example"})
        assert "access-control-allow-origin" not in other.headers
        foreign = {"Origin": "https://evil.example"}
        assert client.ask("POST", "/api/v1/search", b"", foreign).status == 403
        preflight = {"Origin": ORIGIN, "Access-Control-Request-Method": "POST"}
        assert client.ask("OPTIONS", "/api/v1/search", headers=preflight).status == 204
        found = lines(place, 33)
    assert {line["id"] for line in found} >= {str(i) for i in range(30)}
    assert sorted(line["status"] for line in found) == [200] * 31 + [204, 403]
    assert TOKEN not in place.read_text()


@pytest.mark.parametrize("workers", [1, 2])
def test_a_log_on_standard_output(folder, workers):
    with process(folder, "--log", "-", workers=workers) as (server, client):
        assert client.get("/healthz").status == 200
        server.terminate()
        told, errors = server.communicate(timeout=SECONDS)
    assert server.returncode == 0, errors
    (line,) = re.findall(r"^\{.*\}$", told, re.MULTILINE)
    assert json.loads(line)["path"] == "/healthz"


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("place", ["nothing/there.log", "."])
def test_a_log_that_can_not_be_written(folder, tmp_path, place, workers):
    path = str(tmp_path / place)
    options = ["--port", "0", "--log", path, "--workers", workers]
    done = CliRunner().invoke(main, ["serve", str(folder), *options])
    assert done.exit_code == 2
    (line,) = done.output.splitlines()
    assert path in line
    assert "choose another file for the log" in line


def test_workers_count_wrong_tokens_together(folder):
    with process(folder) as (_, client):
        for i in range(FREE + 1):
            wrong = {"Authorization": f"Bearer a wrong token {i}"}
            assert client.ask("GET", "/api/v1/info", headers=wrong).status == 401
        for _ in range(6):  # each is a connection of its own, to whichever worker takes it
            assert client.get("/api/v1/info").status == 429
        time.sleep(1.1)
        assert client.get("/api/v1/info").status == 200
