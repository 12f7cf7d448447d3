"""Wrong tokens, and what follows from them."""

import time

from tests.web.conftest import BEARER, TOKEN
from zshash.web import failures
from zshash.web.failures import FORGOTTEN, FREE, LONGEST, Failures


def guess(client, token, **more):
    headers = {"Authorization": f"Bearer {token}"} | more
    return client.ask("GET", "/api/v1/info", headers=headers)


def test_those_who_guess_wait(serving, caplog):
    client = serving(token=TOKEN)
    member = client.logged_in()
    for i in range(FREE + 1):
        assert guess(client, f"a wrong token {i}").status == 401
    late = guess(client, "one more")
    assert late.status == 429
    assert late.headers["retry-after"] == "1"
    assert "too many wrong tokens" in late.json["detail"]
    assert guess(client, TOKEN).status == 429  # or else the answer would tell that it is right
    assert member.get("/api/v1/info").status == 200
    assert client.get("/healthz").status == 200
    time.sleep(1.1)
    assert guess(client, TOKEN).status == 200
    assert guess(client, "a wrong token again").status == 401
    assert "a wrong token from 127.0.0.1" in caplog.text
    assert "a wrong token 3" not in caplog.text
    assert TOKEN not in caplog.text


def test_an_old_token_locks_nobody_out(serving):
    client = serving(token=TOKEN)
    for _ in range(3 * FREE):
        assert guess(client, "the token of yesterday").status == 401
    assert client.ask("GET", "/api/v1/info", headers=BEARER).status == 200


def test_clients_behind_a_proxy_are_told_apart(serving):
    client = serving(hosts=("photos.example",), token=TOKEN)
    for i in range(FREE + 1):
        guess(client, f"guess {i}", **{"X-Forwarded-For": f"10.0.0.{i}, 192.0.2.1"})
    assert guess(client, TOKEN, **{"X-Forwarded-For": "192.0.2.1"}).status == 429
    assert guess(client, TOKEN, **{"X-Forwarded-For": "192.0.2.1, 192.0.2.2"}).status == 200
    for odd in ("", ",", "x" * 5000, "192.0.2.1:80", "\xff"):
        assert guess(client, TOKEN, **{"X-Forwarded-For": odd}).status == 200


def test_without_a_proxy_nobody_can_give_another_address(serving):
    client = serving(token=TOKEN)
    for i in range(FREE + 1):
        guess(client, f"guess {i}", **{"X-Forwarded-For": f"192.0.2.{i}"})
    assert guess(client, TOKEN, **{"X-Forwarded-For": "192.0.2.99"}).status == 429


def test_the_time_to_wait_grows_and_ends():
    known = Failures()
    waits = []
    for i in range(40):
        known.note("192.0.2.1", str(i), now=0.0)
        waits.append(known.wait("192.0.2.1", now=0.0))
    assert waits[:FREE] == [0.0] * FREE
    assert waits[FREE : FREE + 4] == [1.0, 2.0, 4.0, 8.0]
    assert max(waits) == LONGEST
    assert known.wait("192.0.2.1", now=LONGEST) == 0.0
    known.note("192.0.2.1", "again", now=FORGOTTEN + 1)
    assert known.wait("192.0.2.1", now=FORGOTTEN + 1) == 0.0


def test_the_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(failures, "MOST", 10)
    known = Failures()
    for i in range(1000):
        known.note(f"192.0.2.{i}", "x" * 1000, now=float(i))
    assert len(known._known) == 10
    known.forget("192.0.2.999")
    assert len(known._known) == 9


def test_one_client_has_many_addresses_of_ipv6():
    known = Failures()
    for i in range(FREE + 1):
        known.note(f"2001:db8::{i:x}", str(i), now=0.0)
    assert known.wait("2001:db8::ffff", now=0.0) == 1.0
    assert known.wait("2001:db8:1::", now=0.0) == 0.0
    assert known.wait("fe80::1%eth0", now=0.0) == 0.0
