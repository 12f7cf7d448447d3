"""`zshash serve`, up to where the server begins."""

import socket
import subprocess
import sys

import pytest
from click.testing import CliRunner

from zshash import LSH, Collection
from zshash.cli import main, serving

MISSING = "import sys; sys.modules['fastapi'] = None; from zshash.cli import main; main()"


@pytest.fixture
def folder(tmp_path):
    hasher = LSH(n_bits=16, random_state=0).fit([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    Collection.create(tmp_path / "album", hasher).close()
    return tmp_path / "album"


@pytest.fixture
def served(monkeypatch):
    """What the service would have been started with."""
    calls = []

    def service(name):
        def start(collection, on_start, **settings):
            calls.append((name, collection, settings))
            on_start("http://127.0.0.1:8000/#token=secret")

        return start

    monkeypatch.setattr(serving, "_service", service)
    return calls


def run(*arguments, code=0):
    done = CliRunner().invoke(main, ["serve", *map(str, arguments)])
    assert done.exit_code == code, done.output
    return done.output


def refused(*arguments):
    """The one line that says what is wrong."""
    output = run(*arguments, code=2)
    assert output.count("\n") == 1
    return output


def test_how_a_service_is_started(folder, served, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    assert run(folder) == (
        f"{folder} is at http://127.0.0.1:8000/#token=secret\nCtrl+C ends it.\n"
    )  # fmt: skip
    name, collection, settings = served[0]
    assert (name, collection) == ("web", folder)
    assert settings == {
        "host": "127.0.0.1", "port": 8000, "writable": False, "token": None, "hosts": (),
        "origins": (), "log": None, "bytes": 20 * 2**20, "pixels": 40_000_000, "seconds": 30.0,
        "threads": 2, "workers": 1, "waiting": 64, "picture_cache": 256 * 2**20,
        "paths": False, "places": False,
    }  # fmt: skip
    assert opened == []
    run(
        folder, "--host", "::1", "--port", 0, "--writable", "--token", "x" * 16, "--allow-host",
        "a.example", "--allow-host", "b.example", "--max-bytes", 5, "--max-pixels", 6,
        "--timeout", 7, "--threads", 8, "--queue", 9, "--show-paths", "--show-places", "--open",
        "--workers", 3, "--allow-origin", "https://a.example", "--log", folder / "log",
        "--picture-cache", 11,
    )  # fmt: skip
    assert served[1][2] == {
        "host": "::1", "port": 0, "writable": True, "token": "x" * 16,
        "hosts": ("a.example", "b.example"), "origins": ("https://a.example",),
        "log": str(folder / "log"), "bytes": 5, "pixels": 6, "seconds": 7.0, "threads": 8,
        "workers": 3, "waiting": 9, "picture_cache": 11, "paths": True, "places": True,
    }  # fmt: skip
    assert opened == ["http://127.0.0.1:8000/#token=secret"]


def test_no_collection(tmp_path, served):
    assert "zshash create makes a collection" in refused(tmp_path / "nowhere")
    assert "is no collection: zshash create makes one" in refused(tmp_path)
    assert served == []


@pytest.mark.parametrize(
    "options", [["--port", 65536], ["--port", -1], ["--threads", 0], ["--timeout", 0],
                ["--queue", 0], ["--max-bytes", 0], ["--max-pixels", 0]]
)  # fmt: skip
def test_values_that_make_no_sense(folder, served, options):
    assert options[0] in refused(folder, *options)
    assert served == []


def test_a_port_that_is_taken(folder):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        output = refused(folder, "--port", port)
    assert f"127.0.0.1:{port}: " in output
    assert "choose another host or port" in output


def test_a_token_that_is_too_short(folder, monkeypatch):
    assert "at least 16 characters" in refused(folder, "--writable", "--token", "short")
    monkeypatch.setenv("ZSHASH_TOKEN", "short")
    assert "at least 16 characters" in refused(folder)


def test_a_damaged_collection(folder):
    next(folder.glob("model-*")).write_bytes(b"x")
    assert "is damaged" in refused(folder, "--port", 0)


def test_without_the_extra(folder):
    done = subprocess.run(
        [sys.executable, "-c", MISSING, "serve", str(folder)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "Error: fastapi is not installed: pip install 'zshash[web]'\n"
    assert done.stdout == ""


def test_an_installation_without_services(folder, monkeypatch):
    monkeypatch.setattr(serving, "entry_points", lambda **_: ())
    assert "install zshash again" in refused(folder)
