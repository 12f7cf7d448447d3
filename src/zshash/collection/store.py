"""A collection's folder, open: catalogue, index and model, which agree with each other."""

import os
import sqlite3
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from tqdm import tqdm

from zshash.collection.catalogue import FORMAT_VERSION, Catalogue
from zshash.collection.change import Change
from zshash.collection.errors import (
    BusyError,
    CollectionError,
    DamagedError,
    NotYetError,
    reporting,
)
from zshash.collection.files import (
    GENERATION,
    check_model,
    delete,
    model_path,
    note_generation,
    noted_generation,
)
from zshash.collection.locks import WriterLock
from zshash.collection.mirror import Follower, Mirror
from zshash.collection.remembered import Remembered
from zshash.collection.remote import Remote, parsed
from zshash.collection.rows import Ids
from zshash.collection.snapshot import (
    Snapshot,
    earlier_snapshots,
    newest_snapshot,
    snapshot_path,
    write_snapshot,
)
from zshash.collection.state import State
from zshash.encoding import Encoder
from zshash.hashing import ModelError
from zshash.images import PictureReader
from zshash.index import HammingIndex

if TYPE_CHECKING:
    from zshash.index.milvus import Address

__all__ = ["Store"]

LEAST_TAIL = 4096  # rows behind a snapshot that are not worth another one
ATTEMPTS = 3
INDEX = "index"  # the setting that says where the index is, if not in memory
# For somebody who brings a shared index up to date: of readers, of writers, and between two looks.
SECONDS_TO_WAIT, SECONDS_TO_HOLD, SECONDS_BETWEEN = 30.0, 3.0, 0.05


class Store:
    """What all operations on a collection share.

    `reading` and `writing` are how operations begin: inside, index and model are those of the
    catalogue. `changing`, inside `writing`, is one transaction. The index takes its rows over
    after they are on the disk; if that fails, the next operation reads them from there.

    One thread at a time is inside `reading`, `looking` or `changing`. A thread that is `writing`
    keeps others from writing alone: they read while it looks at pictures. What takes long and
    needs no index looks `beside` all that, through a connection of its own.

    Parameters
    ----------
    folder : Path
    reader : PictureReader
        How pictures become features.
    index : str, optional
        Where the index is from now on: an address, or "memory".
    """

    def __init__(self, folder: Path, reader: PictureReader, index: str | None = None) -> None:
        self.folder, self.progress = folder, reader.progress
        self.reader = replace(reader, progress=False)  # the bar is that of the whole operation
        self.lock, self._process = WriterLock(folder), os.getpid()
        self._writers, self._mutex = threading.RLock(), threading.RLock()  # taken in this order
        self._beside = threading.Lock()
        self._spare: Catalogue | None = None
        self._remote: Remote | None = None
        self.remembered = Remembered()
        self._is_open, self._wrote = True, False
        # Both before the catalogue, so that they can not be the later ones.
        snapshot, noted = self._latest(), noted_generation(folder)
        self.catalogue = Catalogue(folder)
        try:
            self._start(snapshot, noted, index)
        except BaseException:
            self._disconnect()
            raise

    def _disconnect(self) -> None:
        self.catalogue.close()
        if self._remote is not None:
            self._remote.close()

    def _latest(self) -> Snapshot | None:
        if not self.folder.is_dir():
            raise CollectionError(f"{self.folder}: there is no such folder")
        with reporting(self.folder):
            return newest_snapshot(self.folder)

    def _start(self, snapshot: Snapshot | None, noted: int, index: str | None) -> None:
        if self.catalogue.version < FORMAT_VERSION:
            with self.lock.held():
                self.catalogue.migrate()
        self.catalogue.check_tables()
        self.about: dict[str, Any] = self.catalogue.setting("about")
        self._mirror: Follower | None = None
        self._place(index)

        def begin(connection: Any, state: State) -> None:
            self._check_lost(snapshot, noted, state)
            self._mirror = self._first(connection, state, snapshot)
            self._encoder = self._load(state)

        with ExitStack() as stack:
            state = self._begin(stack, begin)
        self._saved_n = snapshot.n if snapshot else 0
        self._tail = state.next_id - (snapshot.next_id if snapshot else 0)
        if self._needs_saving:
            self._try_saving()

    def _place(self, wanted: str | None) -> None:
        """Find out where the index is, and write it down where that is new."""
        known = self._known_place()
        text = wanted or known["address"]
        self.address: Address | None = parsed(text) if text else None
        shown = str(self.address) if self.address else None
        if shown == known["address"]:
            self._connect(known["owner"])
            return
        with self.lock.held():
            known = self._known_place()
            self._note_place(known)  # who is interrupted has to know its own index again
            self._connect(known["owner"])
            self._note_place(known | {"address": shown})

    def _known_place(self) -> dict[str, Any]:
        """Where the index is, and what tells it from those of others."""
        if self.catalogue.has_setting(INDEX):
            return dict(self.catalogue.setting(INDEX))
        return {"address": None, "owner": uuid.uuid4().hex}

    def _note_place(self, place: dict[str, Any]) -> None:
        with self.catalogue.writing():
            self.catalogue.put_setting(INDEX, place)

    def _connect(self, owner: str) -> None:
        if self.address:
            with self.catalogue.reading():
                n_bits = self.catalogue.state().n_bits
            self._remote = Remote(self.address, owner, n_bits)

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
        """An index from the snapshot and what came after, else from all rows."""
        if self._remote is not None:
            self._remote.catch_up(connection, self.folder, state, lambda: self._sole(state))
            return self._remote
        if snapshot:
            # A snapshot is whole, but it may be of another catalogue.
            with suppress(ValueError, TypeError):
                mirror = Mirror.of_snapshot(snapshot)
                if mirror.agrees(state):
                    return mirror
                if mirror.can_follow(state) and mirror.follow(connection, self.folder, state):
                    return mirror
        return Mirror.of_rows(connection, self.folder, state)

    def _load(self, state: State) -> Encoder:
        path = check_model(self.folder, state.model)
        try:
            encoder = Encoder(path, self.reader)
        except (ModelError, OSError) as error:
            raise DamagedError(f"{self.folder}: its model can not be used: {error}") from error
        if int(encoder.hasher.n_bits) != state.n_bits:
            raise DamagedError(f"{self.folder}: its model has codes of another length")
        return encoder

    @contextmanager
    def _sole(self, state: State) -> Iterator[None]:
        """The right to write to a shared index, for one who sees the latest state.

        Raises
        ------
        NotYetError
            If somebody else has it, or the state is no longer the latest.
        """
        if not self._writers.acquire(blocking=False):
            raise NotYetError("another thread is writing")
        try:
            with ExitStack() as stack:
                try:
                    stack.enter_context(self.lock.held())
                except BusyError as error:
                    raise NotYetError(str(error)) from error
                with closing(Catalogue(self.folder)) as fresh, fresh.reading():
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
        """The index of the operation at hand."""
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
        """All codes in an index in memory, inside `reading`; it is made where there is none."""
        if isinstance(self._mirror, Mirror):
            return self._mirror.index
        with self.looking() as connection:
            return Mirror.of_rows(connection, self.folder, state).index

    @property
    def encoder(self) -> Encoder:
        """The model of the operation at hand."""
        return self._encoder

    def bar(self, total: int) -> Any:
        """A progress bar over items, where one was asked for and the output is a terminal."""
        return tqdm(total=total, unit=" items", disable=None if self.progress and total else True)

    def close(self) -> None:
        """End the use of the folder; a writer leaves a snapshot behind."""
        with self._writers, self._mutex, self._beside:
            if self._is_open and os.getpid() == self._process:
                if self._wrote and self._tail and not self.is_shared:
                    self._try_saving()
                if self._spare:
                    self._spare.close()
                self._disconnect()
            self._is_open = False

    @contextmanager
    def reading(self) -> Iterator[State]:
        """One state of the catalogue, with index and model to match."""
        with ExitStack() as stack:
            yield self._begin(stack, self._follow)

    @contextmanager
    def looking(self) -> Iterator[sqlite3.Connection]:
        """The catalogue as it is, for statements inside `reading` or `writing`."""
        with self._mutex, self.catalogue.reading() as connection:
            yield connection

    def has_changed(self, state: State) -> bool:
        """Whether items have been changed or removed since; ones that were added do not count."""
        with closing(Catalogue(self.folder)) as fresh, fresh.reading() as connection:
            statement = "SELECT 1 FROM changes WHERE generation > ? LIMIT 1"
            found = connection.execute(statement, [state.generation]).fetchone()
            return found is not None or fresh.state().base > state.generation

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Nobody else reads, inside `writing`."""
        with self._mutex:
            yield

    @contextmanager
    def beside(self) -> Iterator[tuple[sqlite3.Connection, State]]:
        """The catalogue as it is, while other threads read and write; not inside `reading`."""
        with self._beside:
            self._check_usable()
            if self._spare is None:
                self._spare = Catalogue(self.folder)
            with self._spare.reading() as connection:
                yield connection, self._spare.state()

    def check_model(self) -> None:
        """Look whether the model's file is the one that the catalogue speaks of."""
        with self._mutex, ExitStack() as stack:
            self._enter(stack, lambda _, state: check_model(self.folder, state.model))

    def _begin(self, stack: ExitStack, use: Callable[[Any, State], object]) -> State:
        """Enter with nobody else inside, and wait for those who are at work on a shared index."""
        end = time.monotonic() + SECONDS_TO_WAIT
        while True:
            with ExitStack() as trial:
                trial.enter_context(self._mutex)
                self._check_usable()
                try:
                    state = self._enter(trial, use)
                except NotYetError as error:
                    if time.monotonic() > end:
                        raise BusyError(
                            f"{self.folder}: its index is being brought up to date ({error}): try "
                            "again when that is done"
                        ) from error
                else:
                    stack.push(trial.pop_all())
                    return state
            time.sleep(SECONDS_BETWEEN)

    def _enter(self, stack: ExitStack, use: Callable[[Any, State], object]) -> State:
        """Begin a transaction, which `use` is called in; again where its model is gone.

        Then a writer has just put another one in its place.
        """
        attempt = 0
        while True:
            attempt += 1
            with ExitStack() as trial:
                connection = trial.enter_context(self.catalogue.reading())
                state = self.catalogue.state()
                try:
                    use(connection, state)
                except DamagedError:
                    if attempt == ATTEMPTS or model_path(self.folder, state.model).exists():
                        raise
                    continue
                stack.push(trial.pop_all())
                return state

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
        if self._encoder.checksum != state.model:
            self._encoder = self._load(state)

    @contextmanager
    def writing(self) -> Iterator[State]:
        """The right to write, with everything up to date; CollectionError if somebody has it."""
        with self._writers:
            self._check_usable()
            with ExitStack() as stack:
                self._hold(stack)
                stack.enter_context(reporting(self.folder))
                with self.reading() as state:
                    pass
                yield state

    def _hold(self, stack: ExitStack) -> None:
        """Take the lock; readers of a shared index may have it for a moment."""
        end = time.monotonic() + (SECONDS_TO_HOLD if self.is_shared else 0)
        while True:
            try:
                stack.enter_context(self.lock.held())
                return
            except BusyError:
                if time.monotonic() >= end:
                    raise
            time.sleep(SECONDS_BETWEEN)

    @contextmanager
    def changing(self) -> Iterator[Change]:
        """One transaction; the index takes it over when it is on the disk."""
        with self._mutex:
            with self.catalogue.writing() as connection:
                state = self.catalogue.state()
                self._follow(connection, state)
                change = Change(connection, state)
                yield change
                self.catalogue.put_state(change.state)
            self._take_over(change)

    def _take_over(self, change: Change) -> None:
        note_generation(self.folder, change.state.generation)
        self._wrote = True
        self._tail += change.n_rows
        self._pass_on(change)
        if self._needs_saving:
            self.save()

    def _pass_on(self, change: Change) -> None:
        """Have the index take over what the catalogue holds by now."""
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
        """Take over codes that are all new, and the model that made them."""
        with self.reading():
            self._tail = max(self._tail, self.mirror.n)

    @property
    def is_saved(self) -> bool:
        """Whether the latest snapshot holds everything."""
        return not self._tail

    @property
    def _needs_saving(self) -> bool:
        return not self.is_shared and self._tail > max(LEAST_TAIL, self._saved_n // 4)

    def save(self) -> None:
        """Write a snapshot and delete earlier ones; without one, all rows are read next time."""
        if not isinstance(self._mirror, Mirror):
            self._tail = 0  # the server has it all
            return
        with suppress(OSError):
            write_snapshot(self.folder, self._mirror.snapshot())
            self._saved_n, self._tail = self._mirror.n, 0
            delete(earlier_snapshots(self.folder, self._mirror.generation))

    def _try_saving(self) -> None:
        """Write a snapshot, as a reader may, too: all who write one write the same."""
        with suppress(CollectionError), self.reading():
            self.save()

    def _check_usable(self) -> None:
        if os.getpid() != self._process:
            raise CollectionError(
                f"{self.folder}: opened by process {self._process}, and this is process "
                f"{os.getpid()}: open it again here"
            )
        if not self._is_open:
            raise CollectionError(f"{self.folder}: it is closed: open it again")
