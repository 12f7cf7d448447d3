import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from zshash._threads import all_cores, map_blocks, run_blocks, spread


def blas_threads():
    """Threads of BLAS, without faiss's BLAS, which other tests load and which counts per thread."""
    found = [lib for lib in threadpool_info() if lib["user_api"] == "blas"]
    return [lib["num_threads"] for lib in found if lib.get("threading_layer") != "openmp"]


def test_results_come_in_order():
    def slow_first(n):
        time.sleep(0.01 if n % 2 == 0 else 0)
        return n

    assert list(map_blocks(slow_first, range(20))) == list(range(20))


def test_running_visits_every_item():
    seen = []
    run_blocks(seen.append, range(30))
    assert sorted(seen) == list(range(30))


def test_no_more_than_a_few_items_are_ahead():
    drawn = []

    def items():
        for n in range(1000):
            drawn.append(n)
            yield n

    results = map_blocks(lambda n: n, items())
    next(results)
    assert len(drawn) < 100
    results.close()


def test_an_error_reaches_the_caller_and_the_limit_is_lifted():
    before = blas_threads()

    def fail(n):
        raise ValueError(f"block {n}")

    with pytest.raises(ValueError, match="block 0"):
        list(map_blocks(fail, range(5)))
    assert blas_threads() == before


def test_blas_has_one_thread_inside():
    before = blas_threads()
    inside = list(map_blocks(lambda _: set(blas_threads()), range(2)))
    assert inside == [{1}, {1}]
    assert blas_threads() == before


def test_the_outermost_holder_lifts_the_limit():
    before = blas_threads()
    with all_cores() as (pool, n_threads):
        with all_cores() as inner:
            assert inner == (pool, n_threads) == (pool, max(before))
        assert set(blas_threads()) == {1}
        assert list(map_blocks(lambda n: n, range(3))) == [0, 1, 2]
        assert set(blas_threads()) == {1}
    assert blas_threads() == before


def test_limits_of_the_caller_are_kept():
    names = set()

    def note(_):
        names.add(threading.current_thread().name)
        time.sleep(0.005)

    with threadpool_limits(1):
        list(map_blocks(note, range(8)))
        assert set(blas_threads()) == {1}
    assert len(names) == 1


def test_callers_in_several_threads():
    before = blas_threads()
    rounds = 20
    X = np.random.RandomState(0).standard_normal((50, 50))
    found = [None] * 4

    def work(i):
        for _ in range(rounds):
            found[i] = sum(map_blocks(lambda n: (X[n] @ X).sum(), range(50)))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    assert blas_threads() == before


@pytest.mark.parametrize("n_threads", [1, 2, 5])
@pytest.mark.parametrize("n", [0, 1, 2, 50])
def test_spreading_gives_results_in_order(n, n_threads):
    with threadpool_limits(n_threads):
        assert spread(lambda item: item * item, range(n)) == [item * item for item in range(n)]


def test_spreading_uses_several_threads():
    both = threading.Barrier(2, timeout=10)
    with threadpool_limits(2):
        spread(lambda _: both.wait(), range(2))


@pytest.mark.parametrize("bad", [0, 1, 7])
def test_an_error_while_spreading_is_raised(bad):
    def fail(item):
        if item == bad:
            raise ArithmeticError(item)
        return item

    with threadpool_limits(2):
        with pytest.raises(ArithmeticError):
            spread(fail, range(8))
        assert spread(abs, range(3)) == [0, 1, 2]
