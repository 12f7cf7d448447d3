"""Packages that only some users need: a missing one is named with the command that brings it."""

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["MissingExtra", "needs"]


class MissingExtra(ImportError):  # noqa: N818, what is missing is the error
    """A package that is not installed; the message says how to install it."""


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """Around imports that belong to an extra of this package.

    >>> with needs("images"):
    ...     import a_package_that_nobody_has
    Traceback (most recent call last):
    zshash._extras.MissingExtra: a_package_that_nobody_has is not installed: pip install
    'zshash[images]'
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtra(
            f"{error.name} is not installed: pip install 'zshash[{extra}]'"
        ) from error
