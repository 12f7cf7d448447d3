"""Work beside the event loop: a few threads for each kind, and only so many that wait for them.

Whatever is slow or hostile fills its own lane; the others go on.
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
    """Threads for one kind of work.

    Parameters
    ----------
    name : str
    threads : int
    waiting : int
        How many calls may wait for a thread; one more is `Busy`.
    seconds : float
        How long a caller waits. Its thread goes on, and keeps its place in the lane until it is
        done.
    finishes : bool
        Whether a caller waits longer once its turn has come, as for changes: it has to know what
        became of them.
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
        """Calls that are worked on or wait."""
        return self._n

    async def run(self, function: Callable[..., Answer], *args: Any) -> Answer:
        """What a function gives, called by a thread of the lane."""
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
        except asyncio.CancelledError:  # nobody waits for it any more
            future.cancel()
            answer.add_done_callback(_forget)
            raise
        if not done and future.cancel():  # its turn has not come
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
        """Wait for what has begun; nothing begins any more."""
        self._pool.shutdown(wait=True, cancel_futures=True)


def _forget(answer: "asyncio.Future[Any]") -> None:
    """Take note of an answer that nobody waits for any more."""
    if not answer.cancelled():
        answer.exception()


class Budget:
    """Bytes that all bodies of a kind may take together.

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
        """Room for a body while it is read and worked on; used by the event loop alone."""
        if n > self._left:
            raise Busy
        self._left -= n
        try:
            yield
        finally:
            self._left += n


class Batcher(Generic[Question, Answer]):
    """One thread that answers all questions that have come in while it answered those before.

    Parameters
    ----------
    answer : callable
        Takes a list of questions and gives as many answers, or exceptions in their places.
    most : int
        Questions at a time.
    waiting : int
        How many may wait; one more is `Busy`.
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
        """Questions that are worked on or wait."""
        return self._n

    async def ask(self, question: Question) -> Answer:
        """The answer to a question."""
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
        except Exception as error:  # of all of them, and the thread has to live on
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
        """Answer what has been asked, and end."""
        self._queue.put(None)
        self._thread.join()
