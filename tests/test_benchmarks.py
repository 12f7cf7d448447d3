"""A small run of every benchmark, so that none rots."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"


def run(script, *flags):
    return subprocess.run(
        [sys.executable, FOLDER / script, "--quick", *flags],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.benchmark
@pytest.mark.parametrize("script", sorted(path.name for path in FOLDER.glob("*.py")))
def test_quick_run(script):
    if script == "gpu.py":
        pytest.importorskip("torch")
    if script == "power.py" and not shutil.which("cc"):
        pytest.skip("a C compiler is needed")
    done = run(script)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(done.stdout.splitlines()) > 3


@pytest.mark.benchmark
@pytest.mark.skipif(not shutil.which("cc"), reason="a C compiler is needed")
def test_lost_writes_are_noticed():
    done = run("power.py", "--forget-syncs")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "it can not be used" in done.stdout
