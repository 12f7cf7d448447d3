"""Where things are kept that can be made or fetched again."""

import os
from pathlib import Path

from zshash._extras import needs

__all__ = ["cache_folder"]


def cache_folder(*parts: str) -> Path:
    """A folder, made if it is not there, in the one that ``ZSHASH_CACHE`` names.

    Without that variable, it is where programs of this system keep what they can do without.
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
