"""What `import *` gives is what is documented, and nothing heavy comes with it."""

import importlib
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import zshash

ROOMS = [
    "codes",
    "collection",
    "datasets",
    "experiments",
    "hashing",
    "images",
    "index",
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
    others = {"Collection", "CollectionError", "ModelError", "Selection"}
    others |= {"load", "methods", "save", "select"}
    assert set(zshash.__all__) == {*zshash.methods(), *others}
    assert all(getattr(zshash, name).__doc__ for name in zshash.__all__)


def test_one_version_everywhere():
    citation = (Path(__file__).parents[1] / "CITATION.cff").read_text()
    assert f"\nversion: {zshash.__version__}\n" in citation
    assert version("zshash") == zshash.__version__


def test_the_core_imports_no_extra():
    code = "import sys, zshash, zshash.cli, zshash.experiments.page, zshash.collection\n"
    code += "heavy = {'torch', 'dask', 'fastapi', 'matplotlib', 'PIL', 'onnx', 'onnxruntime'}\n"
    code += "heavy |= {'pooch', 'pyarrow', 'platformdirs', 'pymilvus', 'torchvision', 'timm'}\n"
    code += "print(sorted(heavy & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
