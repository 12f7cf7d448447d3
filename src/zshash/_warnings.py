"""Warnings that point at the line of the user's own program."""

import sys
import warnings

__all__ = ["warn_user"]

PACKAGE = __name__.partition(".")[0]


def warn_user(message: str) -> None:
    """Warn as of the first line outside this package that led here."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == PACKAGE:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, UserWarning, stacklevel=level)
