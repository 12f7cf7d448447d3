import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_folder():
    """Real features and word vectors, where this machine has them."""
    root = Path(__file__).parents[1]
    folder = Path(os.environ.get("ZSHASH_DATA", root / ".." / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no data folder at {folder}; set ZSHASH_DATA to have this test run")
    return folder
