import os
import shutil
import subprocess
import sys
from pathlib import Path

import zshash


def test_import_where_nothing_can_be_cached(tmp_path):
    """As in a container whose user owns neither the package nor a home."""
    package = tmp_path / "site" / "zshash"
    shutil.copytree(
        Path(zshash.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__")
    )
    (package / "_compiled.py").write_text(
        (package / "_compiled.py").read_text().replace("from numba import njit", REFUSING)
    )
    code = "import numpy as np, zshash.metrics as m\n"
    code += "print(m.mean_average_precision([[1]], [[2]]))"
    environment = {**os.environ, "PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
    )
    assert done.stdout.strip() == "0.75", done.stderr


REFUSING = """import numba


def njit(cache=False, **options):
    if cache:
        raise RuntimeError("cannot cache function: no locator available")
    return numba.njit(**options)
"""
