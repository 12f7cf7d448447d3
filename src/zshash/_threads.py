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
from typing import TypeVar

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


_held = threading.local()
_holder = threading.Lock()


@contextmanager
def serial_blas() -> Iterator[int]:
    """Hold BLAS at one thread; gives the number of threads to work with instead.

    The limit belongs to the process, and only the thread that set it may lift it. While another
    thread of the program holds it, this one works alone and leaves it as it is.
    """
    if hasattr(_held, "n_threads"):
        yield _held.n_threads
    elif not _holder.acquire(blocking=False):
        yield 1
    else:
        blas = _controller().select(user_api="blas")
        n_threads = max([1, *(library.num_threads for library in blas.lib_controllers)])
        _held.n_threads = n_threads
        try:
            with blas.limit(limits=1):
                yield n_threads
        finally:
            del _held.n_threads
            _holder.release()


@cache
def _controller() -> ThreadpoolController:
    """The BLAS libraries of this process; looked for once, because that takes milliseconds."""
    import scipy.linalg  # noqa: F401, SciPy brings a BLAS of its own

    return ThreadpoolController()
