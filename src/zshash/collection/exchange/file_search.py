"""Searching in a file of codes that ``zshash encode`` wrote, without a collection."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash.collection.exchange.batches import Header
from zshash.collection.exchange.sums import check_sums
from zshash.collection.operations.queries import Query
from zshash.collection.operations.ranking import ask
from zshash.collection.results import Found
from zshash.collection.storage.rows import Item
from zshash.datasets import DataError
from zshash.index import HammingIndex
from zshash.learning.files import load_codes
from zshash.learning.model import Model
from zshash.learning.name_rule import Query as Name

__all__ = ["CodeFile"]


class CodeFile:
    """Packed codes in a file, searched as a collection is; the id of an item is its row.

    Parameters
    ----------
    path : path-like
        A file that ``zshash encode`` wrote; a .npz file also holds paths and labels.
    model : Model
        The model that made the codes.

    Raises
    ------
    DataError
        If the file does not hold codes of this model.
    """

    def __init__(self, path: str | Path, model: Model) -> None:
        self.path, self.model = Path(path), model
        if self.path.suffix.lower() not in (".npz", ".npy"):
            raise DataError(
                f"{path}: neither a collection nor codes that zshash encode wrote (.npz, .npy)"
            )
        said = check_sums(self.path)
        self._codes = load_codes(self.path, model)
        said.check(self.path, len(self._codes.packed), Header(model.n_bits, model.checksum))
        self._index = HammingIndex(n_bits=model.n_bits)
        self._index.add(self._codes.packed)

    def search_each(self, queries: Sequence[Query]) -> list[Found]:
        """Matches of each query; names can not be searched for."""
        if any(query.rerank is not None for query in queries):
            raise DataError(f"{self.path}: a file of codes has no features to rank by")
        asked = ask(self.model, queries, self._refuse_name)
        asked.take_items(self._index.get)
        refuse = self._refuse_ranking
        rankings = asked.rank(self._index, len(self._index), refuse, refuse)
        rows = {row for ranking in rankings for row in ranking.ids.tolist()}
        nothing = [None] * len(rankings)
        return asked.found(rankings, {row: self._item(row) for row in rows}, set(), nothing)

    def _item(self, row: int) -> Item:
        facts = self._codes.describe(row)
        code = self._codes.packed[row].tobytes()
        return Item(row, code, facts.get("path"), labels=tuple(facts.get("labels", ())))

    def _refuse_name(self, query: Query, _: NDArray[np.float64]) -> Name:
        raise DataError(f"{self.path}: {query.title!r} can not be searched for in a file of codes")

    def _refuse_ranking(self, name: Any, k: int) -> Any:
        raise NotImplementedError("a file of codes is not ranked by name")
