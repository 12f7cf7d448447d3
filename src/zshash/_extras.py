"""Packages that only some users need; the error for a missing one says how to install it."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

__all__ = ["MissingExtra", "check", "is_installed", "needs"]


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
        raise MissingExtra(_words(error.name, extra)) from error


def check(extra: str) -> None:
    """Raise MissingExtra unless the package that an extra is named after is installed."""
    if not is_installed(extra):
        raise MissingExtra(_words(extra, extra))


def is_installed(package: str) -> bool:
    """Whether a package is installed; it is not imported, which can take seconds."""
    return find_spec(package) is not None


def _words(package: str | None, extra: str) -> str:
    return f"{package} is not installed: pip install 'zshash[{extra}]'"
