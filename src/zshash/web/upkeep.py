"""What keeps searches fast: all is ready before the first one, and stays so while items change."""

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from io import BytesIO
from typing import Any

import numpy as np

from zshash.collection import Collection
from zshash.collection.operations.queries import Sample
from zshash.datasets import Dataset
from zshash.index import HammingIndex
from zshash.web.errors import WRONG, ApiError
from zshash.web.queries import SearchParameters
from zshash.web.served import Question, ServedCollection
from zshash.web.settings import Settings

__all__ = ["Upkeep", "prepare", "warm"]

SECONDS_BETWEEN = 0.25  # between looks at the catalogue
MOST_LOOSE = 1 / 32  # of the codes: so many may change before they are prepared again
LEAST_SHARED = 1 << 16  # codes; fewer are not worth a file
log = logging.getLogger("zshash.web")


def prepare(collection: Collection, settings: Settings) -> None:
    """Make the index of a collection ready, if too much has changed since it was."""
    index = collection.index
    if not isinstance(index, HammingIndex):
        index.prepare()
    elif not index.is_prepared or index.n_loose > MOST_LOOSE * len(index):
        is_shared = settings.workers > 1 and len(index) >= LEAST_SHARED
        index.prepare(settings.scratch if is_shared else None)


def warm(served: ServedCollection) -> None:
    """Search once in each way, so that nothing is compiled, loaded or read in a first search."""
    HammingIndex.compile()
    n = int(served.collection.model.hasher.n_features_in_)
    sample = Sample(Dataset(np.ones((1, n), dtype=np.float32)))
    for how in ({"distance": "bits"}, {"distance": "real"}, {"radius": 1}):
        _try(served, "features", SearchParameters(k=1, **how), sample=sample)
    if served.takes_names:
        _try(served, "name", SearchParameters(k=1), name=served.a_name)
    if served.takes_pictures:
        _try(served, "picture", SearchParameters(k=1), picture=_grey())


def _try(served: ServedCollection, kind: str, how: SearchParameters, **given: Any) -> None:
    """Search once; what this collection can not do, a client will be told."""
    with suppress(ApiError, OSError, *WRONG):
        question = Question(kind, how.query(**given), 1)
        if kind == "picture":
            served.prepare(question)
        served.search_alone(question, how)


def _grey() -> bytes:
    """A small grey picture."""
    from PIL import Image

    file = BytesIO()
    Image.new("RGB", (32, 32), (128, 128, 128)).save(file, "PNG")
    return file.getvalue()


class Upkeep:
    """A thread that follows the catalogue, so that searches need not, and keeps the index ready.

    Parameters
    ----------
    collection : Collection
    settings : Settings
    also : callable
        Called each time, too.
    """

    def __init__(
        self, collection: Collection, settings: Settings, also: Callable[[], object]
    ) -> None:
        self._collection, self._settings, self._also = collection, settings, also
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._work, name="zshash-upkeep", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        while not self._is_over.wait(SECONDS_BETWEEN):
            try:
                prepare(self._collection, self._settings)
                self._also()
            except (*WRONG, OSError, MemoryError) as error:  # the next request tells its client
                log.debug("upkeep: %s", error)

    def close(self) -> None:
        """End the thread."""
        self._is_over.set()
        self._thread.join()
