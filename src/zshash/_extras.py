"""Packages that only some users need; the error for a missing one says how to install it."""

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["MissingExtra", "needs"]


class MissingExtra(ImportError):  # noqa: N818, the missing package is the error
    """A package is not installed; the message says how to install it."""


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """Context for imports of packages that an extra of zshash installs.

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
