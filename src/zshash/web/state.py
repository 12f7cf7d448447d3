"""Everything that a running server holds: the collection, its map, threads for work, and counts."""

import sys
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any
from weakref import finalize

from zshash.web.atlas import Atlas
from zshash.web.batches import Batch
from zshash.web.bodies import MOST_JSON, SLACK
from zshash.web.changing import Changes
from zshash.web.counting import Counts
from zshash.web.exports import Exports
from zshash.web.failures import Failures
from zshash.web.lanes import Batcher, Budget, Lane
from zshash.web.queries import SearchParameters
from zshash.web.request_log import RequestLog
from zshash.web.review import Review
from zshash.web.served import MOST_FILES, Question, ServedCollection
from zshash.web.sessions import Sessions
from zshash.web.settings import Settings
from zshash.web.upkeep import Upkeep, prepare, warm

__all__ = ["ServerState"]

AT_ONCE = 16  # searches that are answered together, while other requests are read and answered
READERS = 4  # threads for reading
SCRATCH = "zshash-"  # how names of temporary folders begin
LEAST = 2**16  # a body of at most so many bytes needs no reserved memory


class ServerState:
    """State of a running server, shared by all requests.

    Each kind of work has its own threads, so a slow kind does not delay the others. One thread
    answers searches in all items, several at a time. Searches with a filter look at every item and
    have another thread, and so have batches of searches. Pictures take longest, for decoding and
    hashing, and have their own threads. One more thread makes changes to the collection, one change
    at a time.

    Parameters
    ----------
    folder : Path
        Folder of the collection.
    settings : Settings

    Attributes
    ----------
    scratch : Path
        Private folder for what all processes of the server share. Without a folder in the settings,
        this process has one of its own, which goes when the state is closed.
    sessions : Sessions or None
        Sessions of browsers; None if the server has no token.
    failures : Failures
        Wrong tokens, by address.
    log : RequestLog or None
    """

    def __init__(self, folder: Path, settings: Settings) -> None:
        waiting, seconds = settings.waiting, settings.seconds
        self.settings, self.served = settings, ServedCollection(folder, settings)
        self.counts = Counts()
        self.searches = Batcher[Question, bytes](self.served.search_all, AT_ONCE, 4 * waiting)
        self.reading = Lane("reading", READERS, 2 * waiting, seconds)
        self.filtering = Lane("filtering", 1, waiting // 2, seconds)
        self.batches = Lane("batches", 1, waiting // 2, seconds)
        self.pictures = Lane("pictures", settings.threads, waiting // 2, seconds)
        self.writing = Lane("writing", 1, waiting // 4, seconds, finishes=True)
        self.tiny, self.small = Budget(sys.maxsize), Budget(16 * MOST_JSON)
        self.large = Budget(2 * (max(MOST_JSON, MOST_FILES * settings.bytes) + SLACK))
        self.scratch = settings.scratch or Path(mkdtemp(prefix=SCRATCH))
        self._clear = finalize(self, rmtree, self.scratch, ignore_errors=True)
        if settings.scratch:  # others use it, and `serve` removes it
            self._clear.detach()
        self.atlas = Atlas(self.served.collection, folder=self.scratch / "map")
        jobs = self.scratch / "jobs"
        self.changes = Changes(self.served, jobs)
        self.exports, self.review = Exports(self.served), Review(self.served, jobs)
        token, place = settings.token, self.scratch / "sessions"
        self.sessions = None if token is None else Sessions(place, token)
        self.failures = Failures(self.scratch / "failures")
        self.log = None if settings.log is None else RequestLog(settings.log)
        self._watch()
        if settings.workers > 1:
            self.counts.share(self.scratch)
        prepare(self.served.collection, settings)
        warm(self.served)
        self._upkeep = Upkeep(self.served.collection, settings, self.counts.tell)

    def _watch(self) -> None:
        self.counts.watch(
            "zshash_items", "Items in the collection", lambda: len(self.served.collection.index)
        )
        lanes: dict[str, Any] = {"searches": self.searches}
        lanes |= {lane.name: lane for lane in self.lanes}
        for name, lane in lanes.items():
            about = f"Requests for {name} that are worked on or wait"
            self.counts.watch(f"zshash_waiting_{name}", about, lambda lane=lane: lane.n)

    @property
    def lanes(self) -> tuple[Lane, ...]:
        """The lanes, without the thread that answers searches in all items."""
        return (self.reading, self.filtering, self.batches, self.pictures, self.writing)

    def budget(self, size: int) -> Budget:
        """Memory budget for a search whose body has `size` bytes; small bodies have no limit."""
        if size <= LEAST:
            return self.tiny
        return self.small if size <= MOST_JSON else self.large

    async def search(self, question: Question, how: SearchParameters) -> bytes:
        """Answer a search, as JSON, in the lane for its kind."""
        if how.label or how.where is not None:
            return await self.filtering.run(self.served.search_alone, question, how)
        if (
            question.query.name is not None or question.query.words
        ):  # takes longer than other searches
            return await self.reading.run(self.served.search_alone, question, how)
        return await self.searches.ask(question)

    async def search_batch(self, batch: Batch, form: str) -> bytes:
        """Answer many searches, in the form that is wanted, in the lane for batches."""
        return await self.batches.run(self.served.search_batch, batch, form)

    def close(self) -> None:
        """End all work, the changes last, and close the collection."""
        self._upkeep.close()
        self.changes.close()
        self.review.close()
        self.atlas.close()
        self.searches.close()
        for lane in self.lanes:
            lane.close()
        self.served.close()
        if self.log is not None:
            self.log.close()
        self._clear()
