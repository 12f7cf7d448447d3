"""Warnings that point at the line of the user's own program."""

import sys
import warnings
from types import FrameType

__all__ = ["warn_user"]

PACKAGE = __name__.partition(".")[0]


def warn_user(message: str) -> None:
    """Warn, pointing at the nearest calling line outside this package."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and (_uncounted(frame) or _of_this_package(frame)):
        level += not _uncounted(frame)
        frame = frame.f_back
    warnings.warn(message, UserWarning, stacklevel=level)


def _of_this_package(frame: FrameType) -> bool:
    """Whether the frame runs this package, or an import by name that this package asks for."""
    return frame.f_globals.get("__name__", "").partition(".")[0] in (PACKAGE, "importlib")


def _uncounted(frame: FrameType) -> bool:
    """Whether the frame is one of an import statement, which a stack level does not count."""
    name = frame.f_code.co_filename
    return "importlib" in name and "_bootstrap" in name
