"""How pytest collects tests and doctests where an extra is missing, and in several processes."""

from importlib.util import find_spec
from pathlib import Path

import pytest

DEVICE = Path(__file__).parent / "src" / "zshash" / "scale" / "device"
BY_FIXTURE = ("milvus", "milvus_client")  # tests that use these are marked by them

collect_ignore_glob = []
if find_spec("torch") is None:  # doctests import the modules they are in
    collect_ignore_glob += ["src/zshash/scale/device/*"]
    collect_ignore_glob += [
        f"src/zshash/studies/cnnh2014/{name}.py"
        for name in ("efficientnet", "experiment", "network", "training")
    ]
elif find_spec("triton") is None:
    collect_ignore_glob += ["src/zshash/scale/device/*kernels.py"]


def pytest_collection_modifyitems(config, items):
    """Mark tests by what they need, and say which of them run in one process."""
    several = config.pluginmanager.hasplugin("xdist")
    for item in items:
        _mark(item)
        if several and not item.get_closest_marker("benchmark"):
            item.add_marker(pytest.mark.xdist_group(_group(item)))


def _mark(item):
    """Mark what needs PyTorch or Milvus, as can be told from its place or its fixtures."""
    if DEVICE in item.path.parents:
        item.add_marker("torch")
    for name in BY_FIXTURE:
        if name in getattr(item, "fixturenames", ()):
            item.add_marker(name.partition("_")[0])


def _group(item):
    """Tests of one group share a process, and so a Milvus server or the fixtures of a file."""
    return "milvus" if item.get_closest_marker("milvus") else str(item.path)
