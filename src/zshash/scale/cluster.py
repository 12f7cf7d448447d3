"""A Dask cluster that works on the shards.

A task depends only on its arguments and on results of earlier tasks. If a worker dies, another one
computes the lost results again, and they are the same.
"""

import asyncio
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from zshash._extras import needs
from zshash._warnings import warn_user
from zshash.hashing.steps.dcc import Sums
from zshash.scale.tables import MissingShardError, ShardError
from zshash.scale.workers import Passes, add_in_pairs, itself

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["ClusterError", "OnDask", "connect"]

FAN_IN = 8  # summands of a task; a power of two, so that the tree is as in `add_in_pairs`
PACKAGES = ("zshash", "numba", "scipy")  # packages that codes may depend on, beside NumPy
PATIENCE = 300  # seconds without a result after which the cluster must have workers
WINDOW = 4  # tasks for each thread of the cluster whose results may wait to be fetched


class ClusterError(RuntimeError):
    """A cluster that does not answer or could not do the work; the message says what to do."""


@contextmanager
def connect(address: str, timeout: float = 10.0) -> Iterator["Client"]:
    """A client of the scheduler at an address such as ``tcp://10.0.0.1:8786``.

    Raises
    ------
    ClusterError
        If nothing answers there within `timeout` seconds.
    """
    with needs("dask"):
        from distributed import Client
        from distributed.versions import VersionMismatchWarning
    _check_scheduler(address, timeout)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VersionMismatchWarning)  # a table of all kinds of packages
        client = Client(address, timeout=timeout)
    with client:
        yield client


def _check_scheduler(address: str, timeout: float) -> None:
    """Raise ClusterError unless a scheduler answers: a client of Dask might wait without end."""
    with ThreadPoolExecutor(1) as thread:  # this thread may be running a loop, as in a notebook
        asking = thread.submit(lambda: asyncio.run(asyncio.wait_for(_kind(address), timeout)))
        try:
            found = asking.result()
        except Exception as error:  # other kinds of server cause errors of any type
            is_late = isinstance(error, TimeoutError)
            why = f"not within {timeout:g} s" if is_late else error or type(error).__name__
            raise ClusterError(
                f"{address}: no Dask scheduler answers there ({why}): start one with dask "
                "scheduler, or check the address"
            ) from error
    if found != "Scheduler":
        raise ClusterError(f"{address}: it is a {found} of Dask: give the address of its scheduler")


async def _kind(address: str) -> str:
    from distributed.core import rpc

    async with rpc(address) as server:
        return str((await server.identity())["type"])


def _compare_versions(client: "Client") -> None:
    """Warn if workers have other versions than this process, which may change the results."""
    ask, packages = client._get_versions, list(PACKAGES)
    try:
        found: Any = client.sync(ask, packages=packages, callback_timeout=10)
    except TimeoutError:  # as where a worker has just died; `get_versions` would wait without end
        return
    here = found["client"]["packages"]
    there = {address: facts["packages"] for address, facts in found["workers"].items()}
    for address, own in there.items():
        if not own.get("zshash"):
            raise ClusterError(f"{address}: the worker has no zshash: install it there, too")
    others = {
        f"{name} {own.get(name)}, here {here.get(name)}"
        for own in there.values()
        for name in ("python", "numpy", *PACKAGES)
        if own.get(name) != here.get(name)
    }
    if others:
        warn_user(f"the workers have other versions: {'; '.join(sorted(others))}")


class OnDask:
    """The workers of a Dask cluster."""

    def __init__(self, client: "Client", progress: bool = False) -> None:
        with needs("dask"):
            from distributed import Client
        if not isinstance(client, Client):
            raise TypeError(
                f"client must be a distributed.Client, got {client!r}: Client(ADDRESS) makes one"
            )
        self._client, self._passes = client, Passes(progress)
        with explaining(client):
            n_threads = self._threads()
        if not n_threads:
            raise ClusterError("the Dask cluster has no workers: start some with dask worker")
        _compare_versions(client)

    def _threads(self) -> int:
        return sum(self._client.nthreads().values())

    def keep(self, value: Any) -> Any:
        """A task that returns the value; if its worker dies, the scheduler sends it to another."""
        with explaining(self._client):
            return self._submit(itself, value)

    def map(
        self, function: Callable[..., Any], *columns: Sequence[Any], **shared: Any
    ) -> Iterator[Any]:
        """Results of the function for each shard, in order; few results wait to be fetched."""
        with self._passes.bar(len(columns[0])) as bar, explaining(self._client):
            window = WINDOW * max(self._threads(), 1)
            for first in range(0, len(columns[0]), window):
                part = [column[first : first + window] for column in columns]
                for future in self._map(function, *part, **shared):
                    yield self._result(future)
                    bar.update()

    def fold(self, function: Callable[..., Any], *columns: Sequence[Any], **shared: Any) -> Any:
        """The sum of the function's results over all shards."""
        with self._passes.bar(len(columns[0])) as bar, explaining(self._client):
            return self._add(counted(self._map(function, *columns, **shared), bar))

    def fold_and_keep(
        self, function: Callable[..., Any], *columns: Sequence[Any], **shared: Any
    ) -> tuple[Any, list[Any]]:
        """The sum of the first results, and the second results, which stay on their workers."""
        with self._passes.bar(len(columns[0])) as bar, explaining(self._client):
            both = counted(self._map(function, *columns, **shared), bar)
            kept = self._map(itemgetter(1), both)
            return self._add(self._map(itemgetter(0), both)), kept

    def _add(self, futures: list[Any]) -> Any:
        """The sum of results, added on the workers: in groups, then in groups of these sums."""
        while len(futures) > 1:
            groups = [futures[first : first + FAN_IN] for first in range(0, len(futures), FAN_IN)]
            futures = [self._submit(add_in_pairs, group) for group in groups]
        return aligned(self._result(futures[0]))

    def _result(self, future: Any) -> Any:
        """The result of a task; ClusterError if there are no workers after `PATIENCE` seconds."""
        while True:
            try:
                return future.result(timeout=PATIENCE)
            except TimeoutError:
                if future.status != "pending":
                    raise
                if not self._threads():
                    raise ClusterError(
                        "the Dask cluster has lost all its workers: look at their logs, start "
                        "some with dask worker, and start again"
                    ) from None

    def _map(self, function: Callable[..., Any], *columns: Sequence[Any], **shared: Any) -> Any:
        with _large_tasks():
            return self._client.map(function, *columns, pure=False, **shared)

    def _submit(self, function: Callable[..., Any], *args: Any) -> Any:
        with _large_tasks():
            return self._client.submit(function, *args, pure=False)


def counted(futures: list[Any], bar: Any) -> list[Any]:
    """The futures; each one advances the bar when it is done, if the bar is shown."""
    if not bar.disable:
        for future in futures:
            future.add_done_callback(lambda _: bar.update())
    return futures


def aligned(value: Any) -> Any:
    """The value, with its arrays in aligned memory: elsewhere NumPy's sums round differently."""
    if isinstance(value, np.ndarray):
        return np.array(value)
    return Sums(*map(aligned, vars(value).values())) if isinstance(value, Sums) else value


def _large_tasks() -> Any:
    """Settings of Dask without a warning of large tasks, which may carry arrays such as anchors."""
    import dask

    return dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"})


@contextmanager
def explaining(client: "Client") -> Iterator[None]:
    """Turn errors of the cluster into ClusterError; errors of the work stay as they are."""
    from concurrent.futures import CancelledError

    from distributed import KilledWorker
    from distributed.comm.core import CommClosedError

    try:
        yield
    except MissingShardError as error:
        raise ShardError(f"{error}: all workers must see it under this path") from error
    except KilledWorker as error:
        raise ClusterError(
            "workers died again and again over the same shard, perhaps out of memory: use smaller "
            f"shards, or workers with more memory ({error})"
        ) from error
    except Exception as error:
        is_gone = isinstance(error, CancelledError | CommClosedError | TimeoutError)
        if not is_gone and client.status == "running":
            raise  # an error of the work
        raise ClusterError(
            f"the Dask scheduler is gone ({type(error).__name__}): connect and start again"
        ) from error
