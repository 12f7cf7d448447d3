"""What `import *` gives is what is documented, and nothing heavy comes with it."""

import importlib
import pydoc
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import zshash

LIST = "atexit.register(lambda: print('loaded:', sorted(slow & set(sys.modules))))"

ROOMS = [
    "codes",
    "collection",
    "datasets",
    "evaluation",
    "hashing",
    "images",
    "index",
    "learning",
    "metrics",
    "scale",
    "semantics",
]


@pytest.mark.parametrize("room", ROOMS)
def test_every_listed_name_exists_and_is_documented(room):
    module = importlib.import_module(f"zshash.{room}")
    assert module.__doc__
    for name in module.__all__:
        assert getattr(module, name).__doc__, name


def test_top_level_names():
    others = {
        "Client",
        "Collection",
        "CollectionError",
        "Found",
        "Match",
        "Model",
        "ModelError",
        "Selection",
    }
    others |= {"fit", "load", "methods", "select"}
    assert set(zshash.__all__) == {*zshash.methods(), *others}
    assert all(getattr(zshash, name).__doc__ for name in zshash.__all__)


def test_dir_lists_public_names_and_rooms():
    assert {*zshash.__all__, *ROOMS} <= set(dir(zshash))
    for room in ROOMS:
        assert getattr(zshash, room).__name__ == f"zshash.{room}"
    with pytest.raises(AttributeError, match="no attribute 'hash'"):
        zshash.hash  # noqa: B018


def test_help_shows_an_example():
    assert ">>> model = zshash.fit(" in pydoc.render_doc(zshash)


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("import zshash", 0),
        ("from zshash.cli import main; main(['--version'])", 0),
        ("from zshash.cli import main; main(['--help'])", 0),
        ("from zshash.cli import main; main([])", 2),
        ("from zshash.cli import main; main(['serch'])", 2),
    ],
)
def test_a_quick_start(code, status):
    """Nothing that takes long to load is loaded before it is asked for."""
    code = f"import atexit, sys; slow = {{'numpy', 'scipy', 'sklearn', 'numba'}}\n{LIST}; {code}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    assert done.stdout.endswith("loaded: []\n")


def test_one_version_everywhere():
    citation = (Path(__file__).parents[1] / "CITATION.cff").read_text()
    assert f"\nversion: {zshash.__version__}\n" in citation
    assert version("zshash") == zshash.__version__


def test_the_core_imports_no_extra():
    code = "import sys, zshash, zshash.cli, zshash.studies.demo.page, zshash.collection\n"
    code += "heavy = {'torch', 'dask', 'fastapi', 'matplotlib', 'PIL', 'onnx', 'onnxruntime'}\n"
    code += "heavy |= {'pooch', 'pyarrow', 'platformdirs', 'pymilvus', 'torchvision', 'timm'}\n"
    code += "print(sorted(heavy & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
