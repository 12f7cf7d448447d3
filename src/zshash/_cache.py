"""Cache folder, for files that can be made or fetched again."""

import os
from pathlib import Path

from zshash._extras import needs

__all__ = ["cache_folder"]


def cache_folder(*parts: str) -> Path:
    """Folder inside the cache folder, made if it does not exist.

    The cache folder is named by the variable ``ZSHASH_CACHE``; without it, it is the usual one of
    this system.
    """
    named = os.environ.get("ZSHASH_CACHE")
    if named:
        folder = Path(named)
    else:
        with needs("images"):
            from platformdirs import user_cache_path
        folder = user_cache_path("zshash")
    folder = folder.joinpath(*parts)
    folder.mkdir(parents=True, exist_ok=True)
    return folder
