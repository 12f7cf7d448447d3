"""Sessions: who has one, and how they end."""

import os
import time

from tests.web.conftest import BEARER, TOKEN
from zshash.web import sessions
from zshash.web.sessions import LASTS, REFRESHED, Sessions


def authorised(client):
    return client.get("/api/v1/info").json["authorised"]


def test_a_session_that_was_closed_is_worth_nothing(serving):
    client = serving(writable=True, token=TOKEN)
    one, other = client.logged_in(), client.logged_in()
    assert one.headers != other.headers
    assert one.ask("DELETE", "/api/v1/session").status == 204
    assert (authorised(one), authorised(other)) == (False, True)
    assert one.ask("DELETE", "/api/v1/session").status == 204


def test_all_sessions_end_with_the_token_alone(serving):
    client = serving(writable=True, token=TOKEN)
    members = [client.logged_in() for _ in range(3)]
    own = {"Origin": f"http://127.0.0.1:{client.port}"}
    assert members[0].ask("DELETE", "/api/v1/sessions", headers=own).status == 401
    assert client.ask("DELETE", "/api/v1/sessions").status == 401
    assert all(map(authorised, members))
    assert client.ask("DELETE", "/api/v1/sessions", headers=BEARER).status == 204
    assert not any(map(authorised, members))


def test_processes_share_sessions(serving, tmp_path):
    shared = tmp_path / "scratch"
    shared.mkdir()
    one, other = (serving(token=TOKEN, scratch=shared) for _ in range(2))
    member = one.logged_in()
    value = member.headers["Cookie"].partition("=")[2]
    cookie = {"Cookie": f"zshash-{other.port}={value}"}
    assert other.ask("GET", "/api/v1/info", headers=cookie).status == 200
    assert other.ask("DELETE", "/api/v1/session", headers=cookie).status == 204
    assert member.get("/api/v1/info").status == 401
    kept = {path.name: path.read_bytes() for path in (shared / "sessions").iterdir()}
    assert value not in kept


def test_the_folder_does_not_tell_ids(tmp_path):
    known = Sessions(tmp_path / "sessions", TOKEN)
    value = known.open()
    (path,) = (tmp_path / "sessions").iterdir()
    assert value not in path.name
    assert path.read_bytes() == b""
    assert not known.knows(path.name)
    assert not Sessions(tmp_path / "sessions", TOKEN + "!").knows(value)


def test_sessions_end_after_a_while(tmp_path):
    known = Sessions(tmp_path / "sessions", TOKEN)
    value = known.open()
    (path,) = (tmp_path / "sessions").iterdir()
    used = time.time() - REFRESHED - 10
    os.utime(path, (used, used))
    assert known.knows(value)
    assert time.time() - path.stat().st_mtime < 60  # its time has begun again
    used = time.time() - LASTS - 10
    os.utime(path, (used, used))
    assert not known.knows(value)
    assert not path.exists()


def test_there_are_not_too_many(tmp_path, monkeypatch):
    monkeypatch.setattr(sessions, "MOST", 3)
    known = Sessions(tmp_path / "sessions", TOKEN)
    values = []
    for age in range(9, 0, -1):
        values.append(known.open())
        path = known._path(values[-1])
        os.utime(path, (time.time() - age, time.time() - age))
    assert [known.knows(value) for value in values] == [False] * 6 + [True] * 3


def test_odd_ids(tmp_path):
    known = Sessions(tmp_path / "sessions", TOKEN)
    for value in ("", "a" * 5000, "../../etc/passwd", "\0", "\udcff", "é"):
        assert not known.knows(value)
        known.close(value)
