import gc
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing

import pytest

from tests.interrupting import interrupt, stopped
from zshash import _interrupts
from zshash._interrupts import (
    check,
    current_call,
    guarding,
    holding,
    interruptible,
    is_stopping,
)


@pytest.fixture(autouse=True)
def no_garbage_collection():
    """A signal that arrives inside a callback of the garbage collector is lost, as everywhere."""
    gc.disable()
    yield
    gc.enable()


def press():
    """Press Ctrl-C."""
    signal.raise_signal(signal.SIGINT)


@pytest.fixture(autouse=True)
def handler():
    """Python's own handler, which must be there again after each test."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert current_call() == 0
    signal.signal(signal.SIGINT, before)


def test_a_block_ends_before_it_is_interrupted():
    done = []
    with stopped(), guarding():
        press()
        done.append(1)
        with guarding():
            press()
        done.append(2)
    assert done == [1, 2]
    check()  # nothing is left


def test_checks_let_the_signal_through():
    with stopped(), guarding(), guarding():
        check()
        press()
        check()
        pytest.fail("the signal was lost")
    with guarding():  # and only once
        check()


def test_long_work_is_interrupted_at_once():
    done = []
    with stopped(), guarding():
        with interruptible():
            done.append(1)
            press()
            done.append(2)
        done.append(3)
    assert done == [1]
    with stopped(), guarding():
        press()
        with interruptible():
            pytest.fail("a remembered signal comes first")
    with stopped(), guarding(), interruptible():
        with guarding():
            press()
            done.append(4)
        done.append(5)
    assert done == [1, 4]


def test_the_way_out_is_not_interrupted_again():
    done = []
    with stopped(), guarding():
        try:
            with interruptible():
                press()
        finally:
            press()
            done.append("cleared")
    assert done == ["cleared"]


def test_other_errors_come_with_the_signal():
    def fail():
        with guarding():
            press()
            raise ValueError("wrong")

    with pytest.raises(KeyboardInterrupt) as caught:
        fail()
    assert isinstance(caught.value.__context__, ValueError)


def test_what_was_made_is_undone():
    undone = []
    with guarding(lambda: undone.append(1)):
        pass
    assert undone == []
    with stopped(), guarding(lambda: undone.append(1)):
        press()
    assert undone == [1]
    with stopped(), guarding():
        with guarding(lambda: undone.append(2)):
            press()
        assert undone == [1]  # it is there: the outer block may use it before it ends
    signal.signal(signal.SIGINT, lambda *_: None)
    with guarding(lambda: undone.append(3)):
        press()
    assert undone == [1]
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_handlers_of_the_program():
    """They get the signal, only later, and it is theirs to raise or not."""
    got = []

    def own(number, _):
        got.append(number)

    signal.signal(signal.SIGINT, own)
    with guarding():
        press()
        assert got == []
        assert not is_stopping()
        check()
        assert got == [signal.SIGINT]
        with interruptible():
            press()
            assert len(got) == 2
            press()
            assert len(got) == 3
        press()
        assert len(got) == 3
    assert len(got) == 4
    assert signal.getsignal(signal.SIGINT) is own
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.parametrize("kind", [signal.SIG_IGN, signal.SIG_DFL])
def test_signals_that_python_does_not_handle(kind):
    signal.signal(signal.SIGINT, kind)
    with guarding(), interruptible():
        assert signal.getsignal(signal.SIGINT) is kind
        assert current_call() == 0
    assert signal.getsignal(signal.SIGINT) is kind
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_handlers_that_are_set_inside():
    got = []
    with guarding():
        ours = signal.getsignal(signal.SIGINT)
        signal.signal(signal.SIGINT, lambda *_: got.append(1))
    press()
    assert got == [1]
    signal.signal(signal.SIGINT, ours)  # as by a library that puts back what it has found
    with pytest.raises(KeyboardInterrupt):
        press()
    with stopped(), guarding():
        press()

    with guarding():

        def chained(*_):
            got.append(2)
            ours(*_)

        signal.signal(signal.SIGINT, chained)
    with stopped(), guarding():
        press()
    assert got == [1, 2]
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_other_threads():
    seen = []

    def work():
        with guarding(), interruptible(), holding(threading.RLock()):
            check()
            seen.append((current_call(), is_stopping()))

    with stopped(), guarding():
        press()
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert current_call() > 0
        assert is_stopping()
    assert seen == [(0, False)]


def test_waiting_for_a_lock():
    lock, held, done = threading.RLock(), threading.Event(), threading.Event()

    def hold():
        with lock:
            held.set()
            done.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(60)
    timer = threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT])
    timer.start()
    with stopped(), guarding(), holding(lock):
        pytest.fail("somebody else has the lock")
    done.set()
    thread.join()
    timer.join()
    with guarding(), holding(lock):
        pass


def test_statements_of_sqlite():
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    timer = threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT])
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.set_progress_handler(is_stopping, 1000)
        timer.start()
        with (
            pytest.raises(KeyboardInterrupt),
            guarding(),
            pytest.raises(sqlite3.OperationalError, match="interrupted"),
        ):
            connection.execute(endless).fetchall()
    timer.join()


FORK = """
import os, signal, sys, warnings
warnings.simplefilter("ignore")
from zshash._interrupts import current_call, guarding
with guarding():
    child = os.fork()
    if not child:
        assert current_call() == 0
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        with guarding():
            assert current_call() > 0
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
if not child:
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not copied here")
def test_a_child_process_begins_anew():
    subprocess.run([sys.executable, "-c", FORK], check=True)


def test_every_moment_of_a_block():
    """However the signal falls, the handler is back afterwards, and no signal is lost."""

    def work():
        with guarding(), guarding(), interruptible():
            pass

    at = 1
    while interrupt(work, at):
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        assert current_call() == 0
        assert not _interrupts._now.is_waiting
        assert not _interrupts._now.is_open
        at += 1
    assert at > 10
