"""The layout of a map, and the items it was made for."""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash.web.layout import Layout

__all__ = ["Basis"]

Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Basis:
    """A layout and the items it was made for: newer items have larger ids than `newest`."""

    layout: Layout
    model: str
    n: int
    newest: int

    def serves(self, model: str, ids: Ids) -> bool:
        """Whether the model is the same and at most a quarter of the items was added or removed."""
        added = len(ids) - int(np.searchsorted(ids, self.newest, side="right"))
        removed = self.n - (len(ids) - added)
        return model == self.model and 4 * (added + removed) <= self.n

    def to_bytes(self) -> bytes:
        """Bytes that `read` reads."""
        file = io.BytesIO()
        facts = {"model": self.model, "n": self.n, "newest": self.newest}
        arrays: dict[str, Any] = self.layout.to_arrays() | facts
        np.savez(file, **arrays)
        return file.getvalue()

    @classmethod
    def read(cls, path: Path) -> "Basis":
        """The layout in a file that another process may have written."""
        with np.load(path, allow_pickle=False) as arrays:
            layout = Layout.from_arrays(dict(arrays))
            return cls(layout, str(arrays["model"]), int(arrays["n"]), int(arrays["newest"]))
