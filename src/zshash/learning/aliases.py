"""Aliases: what a person says that labels mean, such as Rex = dog."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from zshash._warnings import listed, warn_user
from zshash.datasets import DataError
from zshash.datasets.data import read_lines
from zshash.semantics.names import normalise

__all__ = ["AliasError", "MeaningWarning", "aliases_of", "read_aliases"]


class AliasError(DataError):
    """An alias that can not be used; the message says why."""


class MeaningWarning(UserWarning):
    """What labels were taken to mean, where this may not be what a person has in mind."""


def read_aliases(path: str | Path) -> dict[str, str]:
    r"""Read aliases by label from a text file.

    Parameters
    ----------
    path : path-like
        A file in UTF-8 with a label and its meaning in each line, and a tab, "=" or a comma
        between them. Empty lines and lines that begin with "#" do not count.

    Raises
    ------
    AliasError
        If a line has no such form, or a label has two meanings.
    DataError
        If the file can not be read.

    Examples
    --------
    >>> folder = getfixture("tmp_path")
    >>> _ = (folder / "names.txt").write_text("# our pets\nRex = dog\nBella,crane (bird)\n")
    >>> read_aliases(folder / "names.txt")
    {'Rex': 'dog', 'Bella': 'crane (bird)'}
    """
    found: dict[str, str] = {}
    for number, line in enumerate(read_lines(Path(path)), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        label, meaning = _split(line)
        if not label or not meaning:
            raise AliasError(
                f"{path}: line {number} is no label with its meaning, such as Rex = dog: "
                f"{line.strip()!r}"
            )
        if found.setdefault(label, meaning) != meaning:
            raise AliasError(
                f"{path}: line {number}: {label!r} is {meaning!r}, but {found[label]!r} further up"
            )
    return found


def _split(line: str) -> tuple[str, str]:
    """Label and meaning in a line; either is empty if it is missing.

    >>> _split("tabby, tabby cat = cat"), _split('"Tom, Tim",man'), _split("Rex")
    (('tabby, tabby cat', 'cat'), ('Tom, Tim', 'man'), ('Rex', ''))
    """
    mark = next((mark for mark in "\t=" if mark in line), "")
    label, _, meaning = line.partition(mark) if mark else _cells(line)
    return label.strip(), meaning.strip()


def _cells(line: str) -> tuple[str, str, str]:
    """Label, comma and meaning of a line of a CSV file."""
    label, *others = next(csv.reader([line], skipinitialspace=True))
    return label, ",", ",".join(others)


def aliases_of(names: Sequence[str], aliases: Mapping[str, str] | None) -> list[str]:
    """Alias of each name, "" for a name without one.

    A name has an alias if it is written in the same way, or else if it differs only in case,
    accents, hyphens and underscores.

    Warns
    -----
    MeaningWarning
        If there are aliases for labels that are not among the names.

    Examples
    --------
    >>> aliases_of(["Rex", "old_car"], {"Old car": "automobile"})
    ['', 'automobile']
    """
    if not aliases:
        return [""] * len(names)
    alike = {normalise(label): meaning for label, meaning in aliases.items()}
    there = {*names, *map(normalise, names)}
    unused = [label for label in aliases if label not in there and normalise(label) not in there]
    if unused:
        warn_user(f"no label is called {listed(unused, 'or')}", MeaningWarning)
    return [aliases.get(name) or alike.get(normalise(name), "") for name in names]
