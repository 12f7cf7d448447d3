"""Records on disk: a JSON list with a line for each run.

=================  =================================================================
key                meaning
=================  =================================================================
data, split, seed  which data set, which of its ten splits, which training samples
n_train            training samples, "all" for all that are not hidden
setup              what ran, as in the tables
method             its class, null for cosines of features
parameters         those that are not its defaults
bits               length of the codes, null for none
names              source of the vectors in a search by name, else missing
map, precision     MAP at the data's k, precision within radius 2
map_asymmetric     MAP with real-valued queries
map_related        mean precision of related categories
map_rule           MAP of a search by name with a collection's own rule
accuracy           how often the right one of the hidden names is told
fit_seconds        how long the fit took
trained_on         "CPU" or "GPU"
=================  =================================================================
"""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from zshash._files import write_whole
from zshash.datasets import DataError
from zshash.experiments.transfer.parts import Cell

__all__ = ["Record", "Records", "key_of"]

Record = dict[str, Any]
SECONDS_BETWEEN_SAVES = 10
NEEDED = ("data", "setup", "bits", "n_train", "split", "seed", "map")


def key_of(record: Mapping[str, Any]) -> tuple[Any, ...]:
    """What tells records apart, as `Cell.key`."""
    data, setup, bits, n_train, split, seed = (record[key] for key in NEEDED[:-1])
    return (data, setup, bits, n_train, record.get("names", ""), split, seed)


class Records:
    """All records of a file, which need not exist yet.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._records = {key_of(record): record for record in _read(path)}
        self._saved = time.monotonic()

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records.values())

    def __len__(self) -> int:
        return len(self._records)

    def missing(self, cells: Sequence[Cell]) -> list[Cell]:
        """Those of the cells that have not been run, or lack the score that is wanted."""
        return [cell for cell in cells if cell.wanted not in self._records.get(cell.key, {})]

    def add(self, record: Record) -> None:
        """Keep a record, in place of an earlier one of the same run."""
        self._records[key_of(record)] = record
        if time.monotonic() - self._saved > SECONDS_BETWEEN_SAVES:
            self.save()

    def save(self) -> None:
        """Write all of them in an order that does not depend on that of the runs."""
        ordered = sorted(self._records.values(), key=lambda record: _order(key_of(record)))
        lines = ",\n".join(_dumps(record) for record in ordered)
        write_whole(self.path, f"[\n{lines}\n]\n".encode())
        self._saved = time.monotonic()


def _order(key: tuple[Any, ...]) -> tuple[Any, ...]:
    """A key whose parts can be compared: numbers before words."""
    return tuple((isinstance(part, str), part) if part is not None else (False, -1) for part in key)


def _read(path: Path) -> list[Record]:
    if not path.exists():
        return []
    try:
        records: list[Record] = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(records, list) or not all(map(_is_record, records)):
            raise ValueError
    except ValueError:
        raise DataError(f"{path}: not a list of runs; remove it or choose another name") from None
    return records


def _is_record(record: Any) -> bool:
    return isinstance(record, dict) and all(key in record for key in NEEDED)


def _dumps(record: Record) -> str:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))
