import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples in every run, however slow the machine: what fails, fails again. To look for
# others: pytest --hypothesis-profile default
settings.register_profile("zshash", derandomize=True, deadline=None)
settings.load_profile("zshash")


@pytest.fixture(scope="session")
def data_folder():
    """Real features and word vectors, where this machine has them."""
    root = Path(__file__).parents[1]
    folder = Path(os.environ.get("ZSHASH_DATA", root / ".." / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no data folder at {folder}; set ZSHASH_DATA to have this test run")
    return folder


@pytest.fixture(scope="module", autouse=True)
def own_path():
    """Where one file of tests looks for packages, such as a server's client, is not for others."""
    before = list(sys.path)
    yield
    sys.path[:] = before


@pytest.fixture(scope="module")
def milvus(milvus_client):
    """The Milvus server that all tests of a process share."""
    if reason := milvus_client.missing():
        pytest.skip(reason)
    return milvus_client.shared()


@pytest.fixture(scope="module")
def milvus_client(own_path):  # noqa: ARG001, which takes the client away again
    """The client library of Milvus can be imported, where `make milvus` has brought it."""
    from tests import milvus_server

    milvus_server.use_client()
    pytest.importorskip("pymilvus", reason="no Milvus client: make milvus brings one")
    return milvus_server


@pytest.fixture(scope="session", autouse=True)
def no_user_s_cache(tmp_path_factory):
    """Networks and features of tests stay out of the user's cache folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ZSHASH_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield
