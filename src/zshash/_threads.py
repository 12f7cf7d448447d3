"""Blocks of work on all cores.

Threads take a block each and BLAS works with one thread inside it. Blocks are summed in their
own order, so a result does not depend on the number of threads, and no thread waits busily.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import chain, islice
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

__all__ = ["add_up", "all_cores", "map_blocks", "n_threads", "run_blocks", "spread"]

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_blocks(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Results of `function` for each item, in order; a few items are worked on at a time.

    As many threads run as BLAS would use, which environment variables such as
    ``OMP_NUM_THREADS`` and threadpoolctl's limits set. Exhaust one call before the next one,
    or make both inside `all_cores`: the first to be exhausted closes the pool.

    >>> list(map_blocks(lambda n: n * n, range(4)))
    [0, 1, 4, 9]
    """
    with all_cores() as (pool, number):
        first = list(islice(items := iter(items), 2))
        if len(first) < 2:  # not worth starting a thread
            yield from map(function, first)
            return
        waiting: deque[Future[Result]] = deque()
        try:
            for item in chain(first, items):
                waiting.append(pool.submit(function, item))
                if len(waiting) > 2 * number:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def run_blocks(function: Callable[[Item], object], items: Iterable[Item]) -> None:
    """Call `function` for each item as `map_blocks` does, and drop the results."""
    for _ in map_blocks(function, items):
        pass


def add_up(blocks: Iterable[NDArray[np.float32]]) -> NDArray[np.float64]:
    """Sum of float32 matrices in their order, in float64.

    >>> add_up(map_blocks(lambda n: np.full(2, n, dtype=np.float32), range(4)))
    array([6., 6.])
    """
    blocks = iter(blocks)
    total = next(blocks).astype(np.float64)
    for block in blocks:
        total += block
    return total


_own = threading.local()
_holder = threading.Lock()


@contextmanager
def all_cores() -> Iterator[tuple[ThreadPoolExecutor, int]]:
    """Limit BLAS to one thread; yield a pool of as many threads as BLAS had, and their number.

    Inside, every `map_blocks` of the same thread uses this pool. The limit on BLAS belongs to
    the process, and only the thread that set it may lift it: while another thread of the
    program holds it, this one gets a pool of one and leaves the limit as it is.
    """
    if hasattr(_own, "cores"):
        yield _own.cores
    elif not _holder.acquire(blocking=False):
        with ThreadPoolExecutor(1) as pool:
            yield pool, 1
    else:
        try:
            number = n_threads()
            with _blas().limit(limits=1), ThreadPoolExecutor(number) as pool:
                _own.cores = pool, number
                try:
                    yield _own.cores
                finally:
                    del _own.cores
        finally:
            _holder.release()


def n_threads() -> int:
    """Number of threads that BLAS would use."""
    return max([1, *(int(library.num_threads) for library in _blas().lib_controllers)])


def spread(function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Results of a function that uses no BLAS, in order; computed by this and by standing threads.

    It suits work of a millisecond, whose time a new pool would double.

    >>> spread(lambda n: n * n, range(4))
    [0, 1, 4, 9]
    """
    if len(items) < 2 or (number := min(n_threads(), len(items))) < 2:
        return [function(item) for item in items]
    results: dict[int, Result] = {}
    left = iter(range(len(items)))

    def work() -> None:
        for place in left:
            results[place] = function(items[place])

    helpers = [_pool(number - 1).submit(work) for _ in range(number - 1)]
    try:
        work()
    finally:
        for helper in helpers:
            if not helper.cancel():  # it has begun already
                helper.result()
    return [results[place] for place in range(len(items))]


@cache
def _pool(number: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(number, thread_name_prefix="zshash")


if hasattr(os, "register_at_fork"):  # threads do not live on in a child process
    os.register_at_fork(after_in_child=_pool.cache_clear)


@cache
def _blas() -> ThreadpoolController:
    """The BLAS libraries of this process; looked for once, because that takes milliseconds."""
    import scipy.linalg  # noqa: F401, SciPy brings a BLAS of its own

    return ThreadpoolController().select(user_api="blas")
