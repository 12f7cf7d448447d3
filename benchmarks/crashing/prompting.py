"""A process like a notebook: its verbs are interrupted, and the same object has to work on."""

import hashlib
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from crashing.looking import Facts, facts_of, faults_of, settle_any
from crashing.signals import (
    Interrupter,
    forget_last,
    is_interrupt,
    keep_last,
    open_files,
    told,
)
from crashing.tally import Tally
from crashing.working import create, kinds_for, operate, small_steps
from crashing.world import N_POOL, READER, Pool, Row, World
from zshash import Collection
from zshash.collection import CollectionError

__all__ = ["Prompt", "add_one", "digest_of"]

READING = ("search", "where", "find", "items", "labels", "verify", "duplicates", "thumbnail")
Ask = Callable[[dict[str, Any]], dict[str, Any]]


def digest_of(found: dict[int, Facts]) -> str:
    """Checksum of all facts of all items."""
    return hashlib.sha256(repr(sorted(found.items())).encode()).hexdigest()


def all_facts(collection: Collection) -> dict[int, Facts]:
    """Facts of all items."""
    return {item.id: facts_of(item) for item in collection.items()}


def add_one(collection: Collection, pool: Pool, number: int, source: str) -> list[int]:
    """Add the features of one number of the pool; the id of its item."""
    added = collection.add(pool.X[[number]], sources=[source])
    return [int(own) for own in added.ids]


class Prompt:
    """Verbs on one object, each interrupted at a random moment, and a check after each.

    Parameters
    ----------
    world, pool
    seed : int
    usual : dict
        Seconds that verbs take, so that interrupts are spread over all of a verb.
    ask : callable
        Lets another process write, and returns what it found.
    """

    def __init__(
        self, world: World, pool: Pool, seed: int, usual: dict[str, float], ask: Ask
    ) -> None:
        small_steps()
        self.world, self.pool, self.usual, self.ask = world, pool, usual, ask
        self.rng, self.seed = np.random.RandomState(seed), seed
        self.tally, self.keyboard = Tally(), Interrupter()
        self.reserved, self.is_armed, self.began, self.doing = N_POOL, False, 0.0, ""

    def run(self, n: int) -> Tally:
        """Interrupt `n` times, or until the first violation."""
        self._create()
        if self.tally.violations:
            return self.tally
        for kind in (*kinds_for(self.world), "reopen", *READING):  # all modules are loaded here
            self._do(kind)
        self.is_armed, self.files = True, open_files()
        for _ in range(4 * n):
            if self.tally.violations or self.tally.attempts["interrupts"] >= n:
                break
            self._attempt(str(self.rng.choice([*READING, *kinds_for(self.world), "reopen"])))
        self.is_armed = False
        if not self.tally.violations:
            self._guard("after the end", self._reopen)
            self._guard("after the end", self._check_all)
        return self.tally

    def say(self, **record: Any) -> None:
        """Take the announcement of a verb, which starts the timer, or its acknowledgement."""
        if "op" in record:
            self.world.pending, self.began = record, time.monotonic()
            if self.is_armed:
                usual = self.usual.get(record["op"], 0.005)
                # A second one comes while the verb cleans up, which takes microseconds or more.
                again = float(10 ** self.rng.uniform(-5.5, -3)) if self.rng.rand() < 0.4 else 0.0
                self.keyboard.start(float(self.rng.uniform(0, 1.2 * usual)), again)
            return
        self.keyboard.stop()
        took, kind = time.monotonic() - self.began, record["done"]
        self.usual[kind] = 0.8 * self.usual.get(kind, took) + 0.2 * took
        for fault in self.world.acknowledge(record, self.pool):
            self.tally.violate("a wrong acknowledgement", fault)

    def _create(self) -> None:
        """Make the collection; the first attempt is interrupted."""
        self.is_armed = True
        try:
            try:
                self.say(op="create")
                self.collection = create(self.world, self.pool)
                self.say(done="create")
            finally:
                self.keyboard.stop()
        except BaseException as error:
            self._count(error, "create")
            self._guard("create", self._create_again)
        self.is_armed = False

    def _create_again(self) -> None:
        try:
            self.collection = Collection.open(self.world.folder, reader=READER)
        except CollectionError:
            self.collection = create(self.world, self.pool)
        self.world.created, self.world.pending = True, None

    def _attempt(self, kind: str) -> None:
        """Do a verb; if it is interrupted, look whether everything works on."""
        self.doing = kind
        try:
            try:
                self._do(kind)
            finally:
                self.keyboard.stop()
        except BaseException as error:
            self._count(error, kind)
            self._after(kind)
            self.is_armed = True

    def _count(self, error: BaseException, kind: str) -> None:
        """Keep the error of an interrupted verb, and count it."""
        keep_last(error)
        self.is_armed = False
        if not is_interrupt(error):
            self.tally.violate("another error", f"{self._what(kind)}: {told(error)}")
        elif not isinstance(error, KeyboardInterrupt):  # Python's own threads may turn it so
            self.tally.attempts[f"interrupts that became {type(error).__name__}"] += 1
        self.tally.attempts["interrupts"] += 1
        twice = " twice" if self.keyboard.sent > 1 else ""
        self.tally.attempts[f"interrupted{twice}: {(self.world.pending or {}).get('op')}"] += 1

    def _do(self, kind: str) -> None:
        if kind == "reopen":
            self.say(op="close")
            self.collection.close()
            self.say(done="close")
            self.say(op="open")
            self.collection = Collection.open(self.world.folder, reader=READER)
            self.say(done="open")
        elif kind in READING:
            self.say(op=kind)
            self._read(kind)
            self.say(done=kind)
        else:
            operate(self.collection, self.world, self.pool, kind, self.rng, self.say)

    def _read(self, kind: str) -> None:
        collection = self.collection
        if kind == "search":
            collection.search(self.pool.X[:5], k=5)
        elif kind == "where":
            collection.search(self.pool.X[0], where="label = 'cat' and i < 50")
        elif kind == "find":
            collection.find("label = 'dog'")
        elif kind == "thumbnail":
            for number in collection.ids[:1].tolist():
                collection.thumbnail(number)
        else:
            getattr(collection, kind)()

    def _after(self, kind: str) -> None:
        """Check that the same object and other processes work on after an interrupt."""
        what = self._what(kind)
        if kind == "reopen":
            self._guard(kind, self._reopen)
        if any(connection.in_transaction for connection in self._connections()):
            self.tally.violate("a transaction is open", what)
        self._guard(kind, self._settle)
        self._guard(kind, self._write)
        self._guard(kind, self._let_another_write)
        self._guard(kind, self._check_all)
        forget_last()
        if leaked := open_files() - self.files:
            self.tally.violate("a descriptor is leaked", f"{what}: {sorted(leaked)}")

    def _connections(self) -> list[Any]:
        store: Any = self.collection._store
        catalogues = [store.catalogue, getattr(store, "_spare", None)]
        return [own.connection for own in catalogues if own is not None]

    def _what(self, kind: str) -> str:
        return f"{kind}, seed {self.seed}, pending {str(self.world.pending)[:80]}"

    def _guard(self, kind: str, step: Callable[[], None]) -> None:
        """Do a step after an interrupt; whatever it raises is a violation."""
        if self.tally.violations:
            return
        what = self._what(kind)
        try:
            step()
        except Exception as error:
            name = step.__name__.strip("_").replace("_", " ")
            self.tally.violate(f"no longer works: {name}", f"{what}: {error!r}")

    def _reopen(self) -> None:
        self.collection.close()
        self.collection = Collection.open(self.world.folder, reader=READER)

    def _settle(self) -> None:
        pending, self.world.pending = self.world.pending, None
        found = all_facts(self.collection)
        for fault in settle_any(self.world, pending, found, self.pool):
            self.tally.violate("items that are not allowed", f"seed {self.seed}: {fault}")

    def _take(self, ids: list[int], number: int, source: str) -> None:
        row = Row("features", number, source)
        if ids != [self.world.next_id]:
            self.tally.violate("other ids than the next ones", f"{ids}, not {self.world.next_id}")
        self.world.take(self.world.items | dict.fromkeys(ids, row))

    def _write(self) -> None:
        self.reserved -= 1
        source = f"same/{self.reserved}"
        ids = add_one(self.collection, self.pool, self.reserved, source)
        self._take(ids, self.reserved, source)

    def _let_another_write(self) -> None:
        self.reserved -= 1
        source = f"other/{self.reserved}"
        answer = self.ask({"number": self.reserved, "source": source})
        if "error" in answer:
            self.tally.violate("another process can not write", answer["error"])
            return
        self._take(answer["ids"], self.reserved, source)
        for problem in answer["verify"]:
            self.tally.violate("verify in another process", problem)
        found = all_facts(self.collection)
        if answer["digest"] != digest_of(found):
            what = f"seed {self.seed}, {self.doing}: {len(found)} items, {answer['n']} there"
            self.tally.violate("another process sees other items", what)

    def _check_all(self) -> None:
        found = all_facts(self.collection)
        faults = settle_any(self.world, None, found, self.pool)
        faults += faults_of(self.collection, self.world, self.pool, found, self.seed)
        for fault in faults:
            kind = "verify" if fault.startswith("verify") else "a wrong answer"
            self.tally.violate(kind, f"seed {self.seed}: {fault}")


def as_json(tally: Tally, usual: dict[str, float]) -> str:
    """Counts of a session as text."""
    parts = (tally.attempts, tally.violations, tally.examples, usual)
    return json.dumps(parts)
