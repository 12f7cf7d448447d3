"""Everything that a running server has: the service, and the lanes that its work goes through."""

import sys
from pathlib import Path
from typing import Any

from zshash.web.atlas import Atlas
from zshash.web.bodies import MOST_JSON, SLACK
from zshash.web.counting import Counts
from zshash.web.files import page_files
from zshash.web.lanes import Batcher, Budget, Lane
from zshash.web.queries import SearchParameters
from zshash.web.service import MOST_FILES, Question, Service
from zshash.web.settings import Settings

__all__ = ["Server"]

AT_ONCE = 16  # searches that are answered together, while others are read and sent
READERS = 4
LEAST = 2**16  # bytes of a body that are not counted


class Server:
    """A collection that is being served.

    Searches in all items share one thread that answers them together. Filters look at every item
    and have a thread of their own, and so have pictures, whose decoding and hashing takes longest,
    and changes, of which there is one at a time.

    Parameters
    ----------
    folder : Path
        Of the collection.
    settings : Settings
    """

    def __init__(self, folder: Path, settings: Settings) -> None:
        waiting, seconds = settings.waiting, settings.seconds
        self.settings, self.service = settings, Service(folder, settings)
        self.files, self.counts = page_files(), Counts()
        self.atlas = Atlas(self.service.collection)
        self.searches = Batcher[Question, bytes](self.service.search_all, AT_ONCE, 4 * waiting)
        self.reading = Lane("reading", READERS, 2 * waiting, seconds)
        self.filtering = Lane("filtering", 1, waiting // 2, seconds)
        self.pictures = Lane("pictures", settings.threads, waiting // 2, seconds)
        self.writing = Lane("writing", 1, waiting // 4, seconds, finishes=True)
        self.tiny, self.small = Budget(sys.maxsize), Budget(16 * MOST_JSON)
        self.large = Budget(2 * (max(MOST_JSON, MOST_FILES * settings.bytes) + SLACK))
        self._watch()

    def _watch(self) -> None:
        self.counts.watch(
            "zshash_items", "Items in the collection", lambda: len(self.service.collection.index)
        )
        lanes: dict[str, Any] = {"searches": self.searches}
        lanes |= {lane.name: lane for lane in self.lanes}
        for name, lane in lanes.items():
            about = f"Requests for {name} that are worked on or wait"
            self.counts.watch(f"zshash_waiting_{name}", about, lambda lane=lane: lane.n)

    @property
    def lanes(self) -> tuple[Lane, ...]:
        """The lanes with threads of their own."""
        return (self.reading, self.filtering, self.pictures, self.writing)

    def budget(self, size: int) -> Budget:
        """Where a search with so many bytes has to find room; the smallest always do."""
        if size <= LEAST:
            return self.tiny
        return self.small if size <= MOST_JSON else self.large

    async def search(self, question: Question, how: SearchParameters) -> bytes:
        """The answer to a search by code or features, as JSON."""
        if how.label or how.where is not None:
            return await self.filtering.run(self.service.search_filtered, question, how)
        return await self.searches.ask(question)

    def close(self) -> None:
        """End all work, the changes last, and leave the collection."""
        self.atlas.close()
        self.searches.close()
        for lane in self.lanes:
            lane.close()
        self.service.close()
