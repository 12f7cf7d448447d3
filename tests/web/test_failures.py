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


def test_the_time_to_wait_grows_and_ends(tmp_path):
    known = Failures(tmp_path)
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


def test_the_number_of_addresses_is_bounded(monkeypatch, tmp_path):
    monkeypatch.setattr(failures, "MOST", 10)
    known = Failures(tmp_path)
    for i in range(300):
        known.note(f"192.0.2.{i}", "x" * 1000, now=float(i))
        assert len(list(tmp_path.iterdir())) <= 10
    known.forget("192.0.2.299")
    known.forget("192.0.2.0")
    assert not known._path("192.0.2.299").exists()
    assert known._path("192.0.2.298").exists()


def test_what_is_kept_of_an_address_is_bounded(monkeypatch, tmp_path):
    monkeypatch.setattr(failures, "ENOUGH", 20)
    known = Failures(tmp_path)
    for i in range(100):
        known.note("192.0.2.1", str(i), now=0.0)
    assert known._path("192.0.2.1").stat().st_size <= 20 * failures.RECORD.size


def test_one_client_has_many_addresses_of_ipv6(tmp_path):
    known = Failures(tmp_path)
    for i in range(FREE + 1):
        known.note(f"2001:db8::{i:x}", str(i), now=0.0)
    assert known.wait("2001:db8::ffff", now=0.0) == 1.0
    assert known.wait("2001:db8:1::", now=0.0) == 0.0
    assert known.wait("fe80::1%eth0", now=0.0) == 0.0


def test_processes_count_together(tmp_path):
    folder = tmp_path / "failures"
    one, other = Failures(folder), Failures(folder)
    for i in range(FREE + 1):
        (one, other)[i % 2].note("192.0.2.1", str(i), now=0.0)
    assert one.wait("192.0.2.1", now=0.0) == other.wait("192.0.2.1", now=0.0) == 1.0
    one.forget("192.0.2.1")
    assert other.wait("192.0.2.1", now=0.0) == 0.0
    assert folder.stat().st_mode & 0o077 == 0


def test_no_token_is_written_to_the_disk(tmp_path):
    known = Failures(tmp_path)
    known.note("192.0.2.1", "a secret that is nearly right", now=0.0)
    (path,) = tmp_path.iterdir()
    assert "192.0.2.1" not in path.name
    assert b"secret" not in path.read_bytes()


def test_odd_files_and_a_full_disk_end_nothing(tmp_path, monkeypatch, caplog):
    known = Failures(tmp_path)
    known._path("192.0.2.1").write_bytes(b"half a record")
    assert known.wait("192.0.2.1") == 0.0

    def fail(*_):
        raise OSError("the disk is full")

    monkeypatch.setattr(failures, "_append", fail)
    known.note("192.0.2.2", "a guess")
    assert "can not be counted: the disk is full" in caplog.text
