"""Threads for work beside the event loop, with limited queues: a lane for each kind of work.

Slow or hostile requests fill their own lane; the other lanes go on.
"""

import asyncio
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any, Generic, TypeVar

from zshash.web.errors import ApiError, Busy

__all__ = ["Batcher", "Budget", "Lane"]

Question = TypeVar("Question")
Answer = TypeVar("Answer")
Waiting = tuple[Any, "asyncio.Future[Any]"]


class Lane:
    """Threads and a queue for one kind of work.

    Parameters
    ----------
    name : str
    threads : int
        Number of threads.
    waiting : int
        Number of calls that may wait for a thread; a further call raises `Busy`.
    seconds : float
        Longest time that a caller waits. After that its thread still finishes the work, and the
        work counts as running until then.
    finishes : bool
        Whether a caller waits without limit once its work has begun. Changes to the collection do:
        the caller has to know their outcome.
    """

    def __init__(
        self, name: str, threads: int, waiting: int, seconds: float, finishes: bool = False
    ) -> None:
        self._finishes = finishes
        self.name, self._most, self._seconds = name, threads + waiting, seconds
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=f"zshash-{name}")
        self._n, self._mutex = 0, threading.Lock()

    @property
    def n(self) -> int:
        """Number of calls that are worked on or wait."""
        return self._n

    async def run(self, function: Callable[..., Answer], *args: Any) -> Answer:
        """Call a function in a thread of the lane, and return its result."""
        with self._mutex:
            if self._n >= self._most:
                raise Busy
            self._n += 1
        try:
            future = self._pool.submit(function, *args)
        except RuntimeError as error:  # closed
            self._leave()
            raise Busy from error
        future.add_done_callback(self._leave)
        answer = asyncio.wrap_future(future)
        try:
            done, _ = await asyncio.wait([answer], timeout=self._seconds)
        except asyncio.CancelledError:  # the caller has gone
            future.cancel()
            answer.add_done_callback(_forget)
            raise
        if not done and future.cancel():  # the work has not begun
            raise Busy
        if not done and not self._finishes:
            answer.add_done_callback(_forget)
            raise ApiError(
                422, f"this takes longer than the {self._seconds:g} s that a request may take"
            )
        return await answer

    def _leave(self, _: "Future[Any] | None" = None) -> None:
        with self._mutex:
            self._n -= 1

    def close(self) -> None:
        """Wait for work that has begun, and begin no more."""
        self._pool.shutdown(wait=True, cancel_futures=True)


def _forget(answer: "asyncio.Future[Any]") -> None:
    """Read the error of an answer that nobody waits for, so that asyncio does not log it."""
    if not answer.cancelled():
        answer.exception()


class Budget:
    """Limit for the bytes of all bodies of one kind that are in memory at the same time.

    >>> budget = Budget(100)
    >>> with budget.reserve(60), budget.reserve(60):
    ...     pass
    Traceback (most recent call last):
    zshash.web.errors.Busy: the server is busy: try again in 1 s
    """

    def __init__(self, total: int) -> None:
        self._left = total

    @contextmanager
    def reserve(self, n: int) -> Iterator[None]:
        """Reserve `n` bytes while a body is read and worked on; only the event loop calls this."""
        if n > self._left:
            raise Busy
        self._left -= n
        try:
            yield
        finally:
            self._left += n


class Batcher(Generic[Question, Answer]):
    """One thread that answers, together, all questions that came while it answered others.

    Parameters
    ----------
    answer : callable
        Takes a list of questions and returns as many answers; an answer may be an exception.
    most : int
        Number of questions that are answered together.
    waiting : int
        Number of questions that may wait; a further question raises `Busy`.
    """

    def __init__(
        self,
        answer: Callable[[Sequence[Question]], Sequence[Answer | Exception]],
        most: int,
        waiting: int,
    ) -> None:
        self._answer, self._most, self._waiting = answer, most, waiting
        self._queue: queue.SimpleQueue[Waiting | None] = queue.SimpleQueue()
        self._n = 0
        self._thread = threading.Thread(target=self._work, name="zshash-search", daemon=True)
        self._thread.start()

    @property
    def n(self) -> int:
        """Number of questions that are worked on or wait."""
        return self._n

    async def ask(self, question: Question) -> Answer:
        """Ask a question, and wait for its answer."""
        if self._n >= self._waiting or not self._thread.is_alive():
            raise Busy
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._n += 1
        self._queue.put((question, future))
        return await future

    def _work(self) -> None:
        is_open = True
        while is_open:
            batch = [self._queue.get()]
            with suppress(queue.Empty):
                while len(batch) < self._most:
                    batch.append(self._queue.get_nowait())
            is_open = None not in batch
            questions = [waiting for waiting in batch if waiting is not None]
            if questions:
                self._give(questions, self._answers([question for question, _ in questions]))

    def _answers(self, questions: list[Question]) -> Sequence[Answer | Exception]:
        try:
            return self._answer(questions)
        except Exception as error:  # an error of all questions; the thread must not end
            return [error] * len(questions)

    def _give(self, questions: list[Waiting], answers: Sequence[Any]) -> None:
        loop = questions[0][1].get_loop()
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(self._finish, questions, answers)

    def _finish(self, questions: list[Waiting], answers: Sequence[Any]) -> None:
        self._n -= len(questions)
        for (_, future), answer in zip(questions, answers, strict=True):
            if future.done():  # the client has gone
                continue
            if isinstance(answer, Exception):
                future.set_exception(answer)
            else:
                future.set_result(answer)

    def close(self) -> None:
        """Answer the questions that wait, and end the thread."""
        self._queue.put(None)
        self._thread.join()
