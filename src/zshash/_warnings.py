"""Warnings that point at the line of the user's own program."""

import sys
import warnings
from collections.abc import Iterable
from types import FrameType

__all__ = ["listed", "warn_user"]

PACKAGE = __name__.partition(".")[0]
# A scikit-learn pipeline calls this package, and imports by name are asked for by this package.
BETWEEN = (PACKAGE, "importlib", "sklearn", "joblib", "contextlib", "functools")
MAX_LISTED = 20


def listed(words: Iterable[str], last: str = "and") -> str:
    """Words with commas between them; of many words only the first ones.

    >>> listed(["Rex"]), listed(["Rex", "Tom", "Bella"], "or")
    ('Rex', 'Rex, Tom or Bella')
    >>> listed(map(str, range(100, 130)))[-20:]
    '118, 119 and 10 more'
    """
    *first, end = words
    if len(first) >= MAX_LISTED:
        first, end = [*first[:MAX_LISTED]], f"{len(first) + 1 - MAX_LISTED} more"
        last = "and"
    return f"{', '.join(first)} {last} {end}" if first else end


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn, pointing at the nearest calling line of the user's own program."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and (_uncounted(frame) or _is_between(frame)):
        level += not _uncounted(frame)
        frame = frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_between(frame: FrameType) -> bool:
    """Whether the frame runs this package, or another one between it and the user's program."""
    return frame.f_globals.get("__name__", "").partition(".")[0] in BETWEEN


def _uncounted(frame: FrameType) -> bool:
    """Whether the frame is one of an import statement, which a stack level does not count."""
    name = frame.f_code.co_filename
    return "importlib" in name and "_bootstrap" in name
