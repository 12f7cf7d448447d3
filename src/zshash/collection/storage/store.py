"""An open collection: catalogue, index and model, which are kept in agreement."""

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from zshash._interrupts import check, guarding, holding
from zshash._progress import progress_bar
from zshash.collection.errors import (
    BusyError,
    CollectionError,
    DamagedError,
    NotYetError,
    reporting,
)
from zshash.collection.storage.catalogue import FORMAT_VERSION, NAME, Catalogue
from zshash.collection.storage.change import Change
from zshash.collection.storage.contents import Contents
from zshash.collection.storage.files import (
    GENERATION,
    check_model,
    delete,
    model_path,
    note_generation,
    noted_generation,
)
from zshash.collection.storage.locks import WriterLock
from zshash.collection.storage.mirror import Follower, Mirror
from zshash.collection.storage.place import Home, Place
from zshash.collection.storage.remembered import Remembered
from zshash.collection.storage.remote import Remote, connect
from zshash.collection.storage.rows import Ids
from zshash.collection.storage.snapshot import (
    CONTENTS,
    Snapshot,
    earlier_snapshots,
    newest_snapshot,
    snapshot_path,
    snapshots,
    write_snapshot,
)
from zshash.collection.storage.state import State
from zshash.hashing import ModelError
from zshash.images import PictureReader
from zshash.index import HammingIndex
from zshash.learning.model import Model

__all__ = ["Store"]

LEAST_TAIL = 4096  # rows behind a snapshot that are not worth another one
ATTEMPTS = 3
# While another process brings a shared index up to date: readers wait, writers wait, between tries.
SECONDS_TO_WAIT, SECONDS_TO_HOLD, SECONDS_BETWEEN = 30.0, 3.0, 0.05


class Store:
    """An open folder of a collection, on which all operations work.

    Operations begin with `reading` or `writing`: inside, index and model agree with the catalogue.
    `changing`, inside `writing`, is one transaction. The index takes over its rows after they are
    on the disk; if that fails, the next operation reads them from there.

    One thread at a time is inside `reading`, `looking` or `changing`. While a thread is `writing`,
    others can not write, but they can read while it works on pictures. Work that takes long and
    needs no index runs `beside` all that, through a connection of its own.

    Inside all of these Ctrl-C is remembered, see `zshash._interrupts`: each begins with a `check`.

    Parameters
    ----------
    folder : Path
    reader : PictureReader
        How pictures become features.
    index : str, optional
        Where the index is from now on: an address, or "memory".
    patience : float
        Seconds that a change waits while another process is writing.
    """

    def __init__(
        self,
        folder: Path,
        reader: PictureReader,
        index: str | None = None,
        patience: float = 0.0,
    ) -> None:
        self.folder, self.progress = folder, reader.progress
        self.reader = replace(reader, progress=False)  # one bar is shown for the whole operation
        self.lock, self._process = WriterLock(folder), os.getpid()
        self._patience = patience
        self._writers, self._mutex = threading.RLock(), threading.RLock()  # taken in this order
        self._beside = threading.RLock()
        self._spare: Catalogue | None = None
        self._remote: Remote | None = None
        self.remembered, self._contents = Remembered(), Contents()
        self._is_open, self._wrote = True, False
        with guarding(self._disconnect):
            # Both are read before the catalogue, so that they can not be later than it.
            snapshot, noted = self._latest(), noted_generation(folder)
            try:
                self._home = Home(folder)
                self.catalogue = Catalogue(folder)
                self.catalogue.place.check(Place(self.home / NAME))
                self._start(snapshot, noted, index)
            except BaseException:
                self._disconnect()
                raise

    def _disconnect(self) -> None:
        with ExitStack() as stack:  # closes all, whatever fails
            parts = ("_home", "catalogue", "_spare", "_remote")
            for opened in (getattr(self, part, None) for part in parts):
                if opened is not None:
                    stack.callback(opened.close)

    def _latest(self) -> Snapshot | None:
        if not self.folder.is_dir():
            raise CollectionError(f"{self.folder}: there is no such folder")
        with reporting(self.folder):
            return newest_snapshot(self.folder)

    def _start(self, snapshot: Snapshot | None, noted: int, index: str | None) -> None:
        if self.catalogue.version < FORMAT_VERSION:
            self._try_migrating()
        self.catalogue.check_tables()
        self.about: dict[str, Any] = self.catalogue.setting("about")
        self._mirror: Follower | None = None
        self._remote = connect(self.catalogue, self.lock, index)
        self.address = self._remote.index.address if self._remote else None

        def begin(connection: Any, state: State) -> None:
            self._check_lost(snapshot, noted, state)
            self._mirror = self._first(connection, state, snapshot)
            self._model = self._load(state)

        with ExitStack() as stack:
            state = self._begin(stack, begin)
        self._saved_n = snapshot.n if snapshot else 0
        self._tail = state.next_id - (snapshot.next_id if snapshot else 0)
        is_broken = snapshot is None and snapshots(self.folder)
        if self._needs_saving or (is_broken and not self.is_shared):
            self._try_saving()

    def _try_migrating(self) -> None:
        """Bring an earlier format up to date; who can not write reads it as it is."""
        self.catalogue.check_format()
        try:
            with self.lock.held():
                self.catalogue.migrate()
        except DamagedError:
            raise
        except CollectionError:
            pass  # another process is writing, or this one may not

    def _check_lost(self, snapshot: Snapshot | None, noted: int, state: State) -> None:
        later = [GENERATION] if noted > state.generation else []
        if snapshot and snapshot.generation > state.generation:
            later.append(snapshot_path(self.folder, snapshot.generation).name)
        if later:
            raise DamagedError(
                f"{self.folder}: the catalogue has lost what was written to it after generation "
                f"{state.generation}: restore the folder from a copy, or delete "
                f"{' and '.join(later)} to go on without"
            )

    def _first(self, connection: Any, state: State, snapshot: Snapshot | None) -> Follower:
        """The index at a state, from a server or in memory."""
        if self._remote is not None:
            self._remote.catch_up(connection, self.folder, state, lambda: self._sole(state))
            return self._remote
        return Mirror.latest(connection, self.folder, state, snapshot)

    def _load(self, state: State) -> Model:
        path = check_model(self.folder, state.model)
        try:
            model = Model.load(path, self.reader)
        except (ModelError, OSError) as error:
            raise DamagedError(f"{self.folder}: its model can not be used: {error}") from error
        if int(model.hasher.n_bits) != state.n_bits:
            raise DamagedError(f"{self.folder}: its model has codes of another length")
        return model

    @contextmanager
    def _sole(self, state: State) -> Iterator[None]:
        """The right to write to a shared index, given to a process that sees the latest state.

        Raises
        ------
        NotYetError
            If somebody else has the right, or the state is no longer the latest.
        """
        if not self._writers.acquire(blocking=False):
            raise NotYetError("another thread is writing")
        try:
            with ExitStack() as stack:
                try:
                    stack.enter_context(self.lock.held())
                except BusyError as error:
                    raise NotYetError(str(error)) from error
                with closing(Catalogue(self.folder, self.catalogue)) as fresh, fresh.reading():
                    if fresh.state().generation != state.generation:
                        raise NotYetError("the catalogue has changed meanwhile")
                yield
        finally:
            self._writers.release()

    @property
    def is_shared(self) -> bool:
        """Whether the index lies where other processes change it."""
        return self._remote is not None

    @property
    def mirror(self) -> Follower:
        """The index of the current operation."""
        assert self._mirror is not None
        return self._mirror

    def ids(self) -> Ids:
        """Ids of all items, inside `reading`."""
        if not self.is_shared:
            return self.mirror.index.ids
        with self.looking() as connection:
            rows = connection.execute("SELECT id FROM items ORDER BY id").fetchall()
        return np.array([row[0] for row in rows], dtype=np.int64)

    def in_memory(self, state: State) -> HammingIndex:
        """All codes in an index in memory, inside `reading`; made from all rows if need be."""
        if isinstance(self._mirror, Mirror):
            return self._mirror.index
        with self.looking() as connection:
            return Mirror.of_rows(connection, self.folder, state).index

    @property
    def home(self) -> Path:
        """Path through which files of the folder are written and deleted."""
        return self._home.path

    @property
    def model(self) -> Model:
        """The model of the current operation."""
        return self._model

    def bar(self, total: int, desc: str | None = None) -> Any:
        """Progress bar over items, if one was asked for and the output is a terminal."""
        return progress_bar(total, self.progress, unit=" items", desc=desc, leave=False)

    def close(self) -> None:
        """End the use of the folder; a writer leaves a snapshot behind."""
        with guarding(), holding(self._writers), holding(self._mutex), holding(self._beside):
            try:
                if self._is_open and os.getpid() == self._process:
                    self._end()
            finally:
                self._is_open = False

    def _end(self) -> None:
        try:
            if self._wrote and self._tail and not self.is_shared:
                self._try_saving()
        finally:
            self._disconnect()

    @contextmanager
    def reading(self) -> Iterator[State]:
        """One state of the catalogue; inside, index and model agree with it."""
        with guarding():
            check()
            with ExitStack() as stack:
                yield self._begin(stack, self._follow)

    @contextmanager
    def _reading(self) -> Iterator[State]:
        """Do the same as `reading` inside another block, without a `check`."""
        with ExitStack() as stack:
            yield self._begin(stack, self._follow)

    @contextmanager
    def looking(self) -> Iterator[sqlite3.Connection]:
        """Connection to the catalogue, for statements inside `reading` or `writing`."""
        with self._mutex, self.catalogue.reading() as connection:
            yield connection

    def has_changed(self, state: State) -> bool:
        """Whether items were changed or removed since a state; added items do not count."""
        with closing(Catalogue(self.folder, self.catalogue)) as fresh, fresh.reading():
            now = fresh.state()
            return now.changes != state.changes or now.base > state.generation

    def known(self, contents: Iterable[bytes | None]) -> dict[bytes, int]:
        """Ids of the items that have the given contents, by content."""
        with self.looking() as connection:
            state = self.catalogue.state()
            return self._contents.known(connection, self.folder, state, contents)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other threads from reading, inside `writing`."""
        with self._mutex:
            yield

    @contextmanager
    def beside(self) -> Iterator[tuple[sqlite3.Connection, State]]:
        """Connection of its own, while other threads read and write; not inside `reading`."""
        with guarding(), holding(self._beside):
            check()
            self._check_usable()
            if self._spare is None:
                self._spare = Catalogue(self.folder, self.catalogue)
            with self._spare.reading() as connection:
                yield connection, self._spare.state()

    def check_model(self) -> None:
        """Raise if the model's file is not the one that the catalogue names."""
        with guarding(), ExitStack() as stack:
            self._begin(stack, lambda _, state: check_model(self.folder, state.model))

    def _begin(self, stack: ExitStack, use: Callable[[Any, State], object]) -> State:
        """Begin a transaction as the only thread, and call `use` in it.

        It is tried again while others bring a shared index up to date, and if the model's file is
        gone: then a writer has just replaced the model.
        """
        end, attempts = time.monotonic() + SECONDS_TO_WAIT, 0
        while True:
            stack.enter_context(holding(self._mutex))
            self._check_usable()
            connection = stack.enter_context(self.catalogue.reading())
            state = self.catalogue.state()
            try:
                use(connection, state)
                return state
            except NotYetError as error:
                self._check_time(end, error)
                pause = SECONDS_BETWEEN
            except DamagedError:
                self.catalogue.place.check()  # the files may be of another folder by now
                attempts, pause = attempts + 1, 0
                if attempts == ATTEMPTS or model_path(self.folder, state.model).exists():
                    raise
            stack.close()
            time.sleep(pause)
            check()

    def _check_time(self, end: float, error: NotYetError) -> None:
        if time.monotonic() > end:
            raise BusyError(
                f"{self.folder}: its index is being brought up to date ({error}): try again when "
                "that is done"
            ) from error

    def _follow(self, connection: Any, state: State) -> None:
        if not self.mirror.agrees(state):
            follows = False
            with suppress(ValueError, TypeError):
                follows = (
                    not self.is_shared
                    and self.mirror.can_follow(state)
                    and self.mirror.follow(connection, self.folder, state)
                )
            if not follows:
                self._mirror = self._first(connection, state, newest_snapshot(self.folder))
        if self._model.checksum != state.model:
            self._model = self._load(state)

    @contextmanager
    def writing(self) -> Iterator[State]:
        """The right to write, with everything up to date; CollectionError if another has it."""
        with guarding(), holding(self._writers):
            check()
            self._check_usable()
            with ExitStack() as stack:
                self._hold(stack)
                stack.enter_context(reporting(self.folder))
                if self.catalogue.version < FORMAT_VERSION:  # it could not be written to before
                    with self.alone():
                        self.catalogue.migrate()
                with self._reading() as state:
                    pass
                yield state
                self.catalogue.place.check()  # else what was written may be gone by now

    def _hold(self, stack: ExitStack) -> None:
        """Take the lock, which readers of a shared index may hold for a moment."""
        least = SECONDS_TO_HOLD if self.is_shared else 0
        end = time.monotonic() + max(least, self._patience)
        while True:
            try:
                stack.enter_context(self.lock.held())
                return
            except BusyError:
                if time.monotonic() >= end:
                    raise
            time.sleep(SECONDS_BETWEEN)
            check()

    @contextmanager
    def changing(self) -> Iterator[Change]:
        """One transaction; the index takes over its changes when they are on the disk."""
        with guarding(), holding(self._mutex):
            check()
            with self.catalogue.writing() as connection:
                self._check_place()
                state = self.catalogue.state()
                self._follow(connection, state)
                change = Change(connection, state, self.folder)
                yield change
                change.check_finished()
                self._check_place()
                self.catalogue.put_state(change.state)
            self._take_over(change)

    def _check_place(self) -> None:
        """Raise if others may be writing to what this process writes to."""
        self.catalogue.place.check()
        self.lock.check()

    def _take_over(self, change: Change) -> None:
        self.catalogue.place.check()
        note_generation(self.home, change.state.generation)
        self._wrote = True
        self._tail += change.n_rows
        if change.added is not None and change.n_rows == len(change.contents):
            self._contents.take(change.state, change.added[0], change.contents)
        self._pass_on(change)
        if self._needs_saving:
            self.save()

    def _pass_on(self, change: Change) -> None:
        """Apply a change, which the catalogue has by now, to the index."""
        try:
            if change.state.base == change.state.generation:
                self._reload()
            else:
                self.mirror.apply(change.state, change.added, change.removed)
        except OSError as error:
            if not self.is_shared:
                raise
            raise CollectionError(
                f"{self.folder}: what was written so far is safe in the catalogue, and its index "
                f"takes it over when it is there again: {error}"
            ) from error

    def _reload(self) -> None:
        """Load codes that are all new, and the model that made them."""
        with self._reading():
            self._tail = max(self._tail, self.mirror.n)

    @property
    def is_saved(self) -> bool:
        """Whether the latest snapshot holds everything."""
        return not self._tail

    @property
    def _needs_saving(self) -> bool:
        return not self.is_shared and self._tail > max(LEAST_TAIL, self._saved_n // 4)

    def save(self) -> None:
        """Write a snapshot and delete earlier ones; without it, opening reads all rows."""
        if not isinstance(self._mirror, Mirror):
            self._tail = 0  # the server has all codes
            return
        if self.catalogue.is_writing or not self.catalogue.place.is_same():
            return  # the rows are not on the disk yet, or the folder is not theirs
        with suppress(OSError):
            write_snapshot(self.home, self._mirror.snapshot())
            self._saved_n, self._tail = self._mirror.n, 0
            delete(earlier_snapshots(self.home, self._mirror.generation))
            self._save_contents()

    def _save_contents(self) -> None:
        """Write a snapshot of the known contents, if they are up to date."""
        generation = self._contents.generation
        if generation == self.mirror.generation:
            write_snapshot(self.home, self._contents.snapshot(), CONTENTS)
            delete(earlier_snapshots(self.home, generation, CONTENTS))

    def _try_saving(self) -> None:
        """Write a snapshot if possible. Readers may, too: for one state, all write the same."""
        with suppress(CollectionError), self._reading():
            self.save()

    def _check_usable(self) -> None:
        if os.getpid() != self._process:
            raise CollectionError(
                f"{self.folder}: opened by process {self._process}, and this is process "
                f"{os.getpid()}: open it again here"
            )
        if not self._is_open:
            raise CollectionError(f"{self.folder}: it is closed: open it again")
