"""A Milvus server for tests and benchmarks, which nothing but this machine can reach.

The server listens on all addresses and can not be told otherwise. So it runs in a network
namespace of its own, where there is nothing but a loopback device and every port is free. A relay
beside it takes connections from a socket that was opened outside, on 127.0.0.1, and hands them on.

``make milvus`` makes the environment that the server comes from, and its client: that one brings
pandas, which scikit-learn would import wherever it is installed. This file runs twice: as a module
of the tests, and inside the namespace by that environment's Python.
"""

import atexit
import ctypes
import fcntl
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from pathlib import Path

ENVIRONMENT = Path(__file__).parents[1] / ".venv-milvus"
BINARIES = ENVIRONMENT / "server"
PORT, HEALTH = 19530, 9091  # inside the namespace
SECONDS_TO_START = 120.0
QUICK = {  # what a server waits for: seconds in all that a test does, else
    "common.session.ttl": 3,
    "proxy.timeTickInterval": 40,
    "queryCoord.checkInterval": 100,
    "queryCoord.distPullInterval": 100,
}
PARTS = ("rootCoord", "proxy", "queryCoord", "queryNode", "indexNode", "dataCoord", "dataNode")
READY = b"ready\n"
CHUNK = 1 << 18


def missing() -> str:
    """Why there can be no server here, "" where there can."""
    if not (ENVIRONMENT / "ready").is_file():
        return "no Milvus server here: make milvus brings one"
    trial = subprocess.run(["unshare", "-rn", "true"], capture_output=True, check=False)
    return "" if trial.returncode == 0 else "this machine lets nobody make a network namespace"


def use_client() -> None:
    """Have the client library of that environment found, after all that this one has."""
    for folder in map(str, ENVIRONMENT.glob("lib/python*/site-packages")):
        if folder not in sys.path:
            sys.path.append(folder)


class Server:
    """A server with its data in a folder, which can be stopped and started again.

    Attributes
    ----------
    address : str
        Host and port, the same throughout.
    """

    def __init__(self, folder: Path, settings: dict[str, int] | None = None) -> None:
        self.folder, self._settings = folder, settings or {}
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.address = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it answers."""
        number = self._socket.fileno()
        python = ENVIRONMENT / "bin" / "python"
        self._process = subprocess.Popen(
            ["unshare", "-rn", python, __file__, str(number), self.folder, *self._options],
            pass_fds=[number],
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        if self._process.stdout.readline() != READY:
            self.stop()
            raise RuntimeError(f"Milvus does not start: see {self.folder / 'logs'}")

    @property
    def _options(self) -> list[str]:
        return [f"{key}={value}" for key, value in self._settings.items()]

    @property
    def pid(self) -> int:
        """The process of the server itself."""
        return int((self.folder / "server.pid").read_text())

    def stop(self) -> None:
        """Kill it, as a crash would; its data stays."""
        if self._process is not None:
            self._process.kill()  # and the server with it
            self._process.communicate()
            self._process = None

    def close(self) -> None:
        """Stop it for good."""
        self.stop()
        self._socket.close()


@contextmanager
def running(folder: Path) -> Iterator[Server]:
    """A server that is gone afterwards, whatever happens."""
    server = Server(folder)
    try:
        server.start()
        yield server
    finally:
        server.close()


def shared() -> Server:
    """The one server of a run of tests, which goes when this process does."""
    use_client()
    return _shared()


@cache
def _shared() -> Server:
    folder = tempfile.TemporaryDirectory(prefix="milvus-")
    server = Server(Path(folder.name), QUICK)
    atexit.register(folder.cleanup)
    atexit.register(server.close)  # before its folder goes
    server.start()
    return server


def _die_with_parent() -> None:
    """Have the system kill this process when its parent is gone."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def _raise_loopback() -> None:
    """Set the flags UP and RUNNING of the device lo."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh22x", b"lo", 0x1 | 0x40))


def _unpack() -> None:
    """Unpack the server's programs, which come compressed, where they are not yet."""
    milvus = import_module("milvus")  # only where the server comes from
    milvus._initialize_data_files(BINARIES)


def _launch(folder: Path, options: list[str]) -> subprocess.Popen[bytes]:
    """Start the server's own program with a configuration in the folder."""
    milvus = import_module("milvus")
    folder.mkdir(parents=True, exist_ok=True)
    config = milvus.MilvusServerConfig(data_dir=str(folder))
    for part in PARTS:
        config.set(f"{part}.ip", "127.0.0.1")
    config.set("log.stdout", "false")
    config.set("log.level", "warn")
    for option in options:
        config.set(*option.split("="))
    config.resolve()
    (folder / "run").mkdir(exist_ok=True)
    environment = os.environ | {
        "DEPLOY_MODE": "STANDALONE",
        "METRICS_PORT": str(HEALTH),
        "MILVUS_RUN_DIR": str(folder / "run"),
        "LD_LIBRARY_PATH": str(BINARIES / "bin"),
    }
    with (folder / "logs" / "output.log").open("ab") as log:
        process = subprocess.Popen(
            [BINARIES / "bin" / "milvus", "run", "standalone"],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            preexec_fn=_die_with_parent,
        )
    (folder / "server.pid").write_text(str(process.pid))
    return process


def _wait(process: subprocess.Popen[bytes]) -> bool:
    """Whether the server says that it is well."""
    end = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < end and process.poll() is None:
        with (
            suppress(OSError),
            urllib.request.urlopen(f"http://127.0.0.1:{HEALTH}/healthz", timeout=10) as answer,
        ):
            if b"OK" in answer.read():
                return True
        time.sleep(0.1)
    return False


def _relay(listening: socket.socket) -> None:
    """Hand connections on, as long as there is somebody to hand them to."""
    while True:
        client, _ = listening.accept()
        try:
            server = socket.create_connection(("127.0.0.1", PORT), timeout=10)
        except OSError:
            client.close()
            continue
        server.settimeout(None)
        for one, other in ((client, server), (server, client)):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=_pump, args=(one, other), daemon=True).start()


def _pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(CHUNK):
            target.sendall(data)
    for end in (source, target):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


def _inside(number: int, folder: Path, options: list[str]) -> None:
    _die_with_parent()
    _raise_loopback()
    process = _launch(folder, options)
    if not _wait(process):
        process.kill()
        raise SystemExit(1)
    threading.Thread(target=_relay, args=(socket.socket(fileno=number),), daemon=True).start()
    sys.stdout.buffer.write(READY)
    sys.stdout.buffer.flush()
    process.wait()


if __name__ == "__main__":
    if sys.argv[1:] == ["unpack"]:
        _unpack()
    else:
        _inside(int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
