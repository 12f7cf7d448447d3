"""Blocks of work on all cores.

Threads take a block each and BLAS works with one thread inside it. Blocks are summed in their
own order, so a result does not depend on the number of threads, and nothing waits in a spin.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

__all__ = ["map_blocks", "serial_blas"]

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_blocks(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Results of `function` for each item, in order; a few items are worked on at a time.

    As many threads run as BLAS would use, which environment variables such as
    ``OMP_NUM_THREADS`` and threadpoolctl's limits set.

    >>> list(map_blocks(lambda n: n * n, range(4)))
    [0, 1, 4, 9]
    """
    with serial_blas() as n_threads, ThreadPoolExecutor(n_threads) as pool:
        waiting: deque[Future[Result]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) > 2 * n_threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


class _Limit:
    """How many calls hold BLAS at one thread now, and what to give back after the last."""

    lock = threading.Lock()
    holders = 0
    n_threads = 1
    limiter: Any = None


@contextmanager
def serial_blas() -> Iterator[int]:
    """Hold BLAS at one thread; gives the number of threads it had.

    The limit belongs to the process, so the first to come sets it and the last to go lifts it.
    """
    with _Limit.lock:
        if _Limit.holders == 0:
            blas = _controller().select(user_api="blas")
            _Limit.n_threads = max([1, *(library.num_threads for library in blas.lib_controllers)])
            _Limit.limiter = blas.limit(limits=1)
        _Limit.holders += 1
        n_threads = _Limit.n_threads
    try:
        yield n_threads
    finally:
        with _Limit.lock:
            _Limit.holders -= 1
            if _Limit.holders == 0:
                _Limit.limiter.restore_original_limits()


@cache
def _controller() -> ThreadpoolController:
    """The BLAS libraries of this process; looked for once, because that takes milliseconds."""
    import scipy.linalg  # noqa: F401, SciPy brings a BLAS of its own

    return ThreadpoolController()
