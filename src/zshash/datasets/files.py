"""What all readers do with files."""

from pathlib import Path

from zshash.datasets.data import DataError

__all__ = ["read_lines", "unreadable"]


def read_lines(path: Path) -> list[str]:
    """Lines of a text file."""
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 text") from error
    except OSError as error:
        raise unreadable(path, error) from error


def unreadable(path: str | Path, error: OSError) -> DataError:
    """What to say of a file or a folder that the system does not give.

    >>> raise unreadable("cats", PermissionError(13, "Permission denied"))
    Traceback (most recent call last):
    zshash.datasets.data.DataError: cats: Permission denied
    """
    return DataError(f"{path}: {error.strerror or 'it can not be read'}")
