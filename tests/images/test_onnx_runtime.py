"""ONNX Runtime writes nothing about its use, which it would do without zshash's guard.

Each case runs in a process of its own with an empty home folder. Variables by which ONNX Runtime
recognizes automatic checks are taken away: it writes nothing there, guard or no guard.
"""

import os
import subprocess
import sys

import pytest

from tests.images.small_network import write_network

FOLDER = ".cache/Microsoft/DeveloperTools/.onnxruntime/"
HIDING = {"CI", "GITHUB_ACTIONS", "TF_BUILD", "XDG_CACHE_HOME", "ORT_DISABLE_TELEMETRY"}
PLAIN = """
import sys
import numpy as np
import onnxruntime
session = onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
session.run(None, {"pixels": np.zeros((1, 3, 32, 32), np.float32)})
"""
GUARDED = """
import subprocess
import sys
import numpy as np
from PIL import Image
from zshash.images import extractor
network = extractor(f"onnx:{sys.argv[1]}")
network.run(np.stack([network.prepare(Image.new("RGB", (32, 32)))]))
"""


@pytest.fixture
def run(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    write_network(tmp_path / "small.onnx")

    def run(code, **variables):
        """Run the code; return its messages and the files that it leaves in the home folder."""
        environment = {key: value for key, value in os.environ.items() if key not in HIDING}
        done = subprocess.run(
            [sys.executable, "-c", code, tmp_path / "small.onnx"],
            capture_output=True,
            check=True,
            text=True,
            env=environment | {"HOME": str(home)} | variables,
        )
        return done.stderr, sorted(
            path.relative_to(home).as_posix() for path in home.rglob("*") if path.is_file()
        )

    return run


@pytest.fixture
def writes_at_all(run):
    _, files = run(PLAIN)
    if sys.platform != "linux" and not files:
        pytest.skip("ONNX Runtime keeps its events elsewhere on this system")
    return files


def test_without_the_guard_it_writes(writes_at_all):
    assert any(path.endswith("/deviceid") for path in writes_at_all)
    if sys.platform == "linux":
        assert all(path.startswith(FOLDER) for path in writes_at_all)


def test_with_the_guard_neither_a_program_nor_its_children_write(run):
    child = f"subprocess.run([sys.executable, '-c', {PLAIN!r}, sys.argv[1]], check=True)"
    assert run(GUARDED + child) == ("", [])


def test_imported_before(run):
    message, files = run(PLAIN + GUARDED + GUARDED)
    assert files
    assert message.count("UserWarning: onnxruntime was imported before zshash") == 1
    assert message.count("ORT_DISABLE_TELEMETRY=1") == 1
    assert message.startswith("<string>:"), "it points at the line of the program"


def test_imported_before_but_switched_off(run):
    assert run(PLAIN + GUARDED, ORT_DISABLE_TELEMETRY="1") == ("", [])


def test_the_user_s_own_value_stays(run):
    message, files = run(GUARDED, ORT_DISABLE_TELEMETRY="0")
    assert message == ""
    assert any(path.endswith("/deviceid") for path in files)
