"""A small run of every benchmark, so that none rots."""

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.mark.parametrize("script", sorted(path.name for path in FOLDER.glob("*.py")))
def test_quick_run(script):
    if script == "gpu.py":
        pytest.importorskip("torch")
    done = subprocess.run(
        [sys.executable, FOLDER / script, "--quick"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) > 3
