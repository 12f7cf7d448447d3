"""A server in a process of its own, and how it ends."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from urllib.parse import unquote

import pytest

from tests.web.browser.album import png
from tests.web.conftest import BEARER, SECONDS, TOKEN, Client
from zshash import Collection
from zshash.web import Settings, serve
from zshash.web.run import _address

pytestmark = pytest.mark.service

COMMAND = "import zshash.web.run as r; r.GRACE = 1; from zshash.cli import main; main()"


@contextmanager
def process(folder, *options):
    """`zshash serve` on a free port, and a client with its token."""
    command = [sys.executable, "-c", COMMAND, "serve", str(folder), "--port", "0", *options]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ | {
            "ZSHASH_TOKEN": TOKEN}, text=True
    ) as started:  # fmt: skip
        try:
            address = re.search(r"http://\S+?/", started.stdout.readline())[0]
            yield started, Client(address, BEARER)
        finally:
            started.kill()


def add(client, seed):
    files = [("picture", f"{seed}.png", png("cat", seed))]
    return client.form("/api/v1/items", files, [("label", f"number {seed}")]).json["added"]


def check(folder, seeds):
    """Whether all that was acknowledged is there, and everything is whole."""
    with Collection.open(folder) as photos:
        assert photos.verify() == []
        for number, seed in seeds.items():
            item = photos[number]
            assert item.labels == (f"number {seed}",)
            assert photos.picture(number).read_bytes() == png("cat", seed)
            assert photos.thumbnail(number) is not None
        return len(photos)


def test_what_was_acknowledged_survives_a_kill(copied):
    seeds = {}
    with process(copied, "--writable") as (server, client):
        for seed in range(300, 304):
            seeds |= dict.fromkeys(add(client, seed), seed)
        assert client.ask("DELETE", "/api/v1/items/0").status == 204
        server.send_signal(signal.SIGKILL)
        assert server.wait(SECONDS) == -signal.SIGKILL
    assert list(seeds) == [180, 181, 182, 183]
    assert check(copied, seeds) == 183
    with Collection.open(copied) as photos:
        assert 0 not in photos
    with process(copied, "--writable") as (_, client):
        assert client.get("/api/v1/info").json["items"] == 183
        assert add(client, 303) == []
        assert add(client, 304) == [184]


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_server_that_is_told_to_end_does_so_in_good_order(copied, how):
    seeds, enough = {}, threading.Event()

    def write(client):
        try:
            for seed in range(300, 1000):
                seeds.update(dict.fromkeys(add(client, seed), seed))
                if len(seeds) == 3:
                    enough.set()
        except OSError:  # the server has gone
            pass

    with process(copied, "--writable") as (server, client):
        slow = socket.create_connection(("127.0.0.1", client.port), timeout=SECONDS)
        slow.sendall(
            f"POST /api/v1/items HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
            "Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 9999\r\n\r\n--x"
            .encode()
        )  # fmt: skip
        writer = threading.Thread(target=write, args=[client])
        writer.start()
        assert enough.wait(SECONDS)
        server.send_signal(how)
        _, errors = server.communicate(timeout=SECONDS)
        writer.join(SECONDS)
        assert slow.recv(100).startswith(b"HTTP/1.1 503 ")
        slow.close()
        assert server.returncode == 0, errors
        assert "Traceback" not in errors
    assert len(seeds) >= 3
    assert check(copied, seeds) - 180 in (len(seeds), len(seeds) + 1)
    assert list(copied.glob("index-*.codes"))  # what it had in mind is written down


def test_a_port_that_is_taken(folder):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match="choose another host or port") as error:
            serve(folder, port=port)
    assert error.value.filename == f"127.0.0.1:{port}"


def test_the_address_holds_the_token_where_one_is_needed():
    assert _address(Settings(port=80)) == "http://127.0.0.1:80/"
    with_token = f"http://127.0.0.1:80/#token={TOKEN}"
    assert _address(Settings(port=80, token=TOKEN)) == with_token
    assert _address(Settings(port=80, token=TOKEN, writable=True)) == with_token
    odd = "ab+d/ghi=jkl&nop%20qr st"
    assert unquote(_address(Settings(port=80, token=odd)).partition("#token=")[2]) == odd
    assert "+" not in _address(Settings(port=80, token=odd))
    assert _address(Settings(host="::1", port=80)) == "http://[::1]:80/"
    everywhere = f"http://{socket.gethostname()}:80/#token="
    assert _address(Settings(host="0.0.0.0", port=80)).startswith(everywhere)
