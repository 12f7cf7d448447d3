"""Work beside the event loop: bounded, in its own lane, and all of it answered."""

import asyncio
import threading

import pytest

from zshash.web.errors import ApiError, Busy
from zshash.web.lanes import Batcher, Budget, Lane

SECONDS = 20


@pytest.fixture
def lane():
    made = Lane("test", 1, 2, SECONDS)
    yield made
    made.close()


def tell(story):
    """Run a story, which has an end."""
    return asyncio.run(asyncio.wait_for(story, SECONDS))


async def until(condition):
    async with asyncio.timeout(SECONDS):
        while not condition():
            await asyncio.sleep(0.001)


def test_a_lane_gives_what_a_function_gives(lane):
    assert asyncio.run(lane.run(divmod, 7, 2)) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        asyncio.run(lane.run(divmod, 7, 0))
    assert lane.n == 0


def test_a_lane_turns_away_what_has_no_room(lane, gate):
    async def story():
        waiting = [asyncio.create_task(lane.run(gate.wait, SECONDS)) for _ in range(3)]
        await until(lambda: lane.n == 3)
        with pytest.raises(Busy) as refused:
            await lane.run(int)
        assert refused.value.status == 429
        assert refused.value.headers == {"Retry-After": "1"}
        gate.set()
        assert await asyncio.gather(*waiting) == [True] * 3
        await until(lambda: lane.n == 0)
        assert await lane.run(int) == 0

    tell(story())


def test_a_caller_waits_only_so_long_and_its_thread_keeps_its_place(gate):
    lane = Lane("test", 1, 0, 0.05)

    async def story():
        with pytest.raises(ApiError, match=r"longer than the 0\.05 s") as late:
            await lane.run(gate.wait, SECONDS)
        assert late.value.status == 422
        assert lane.n == 1
        with pytest.raises(Busy):
            await lane.run(int)
        gate.set()
        await until(lambda: lane.n == 0)
        assert await lane.run(int) == 0

    tell(story())
    lane.close()


def test_a_caller_that_goes_away_leaves_its_place_if_its_work_has_not_begun(lane, gate):
    ran = []

    async def story():
        first = asyncio.create_task(lane.run(gate.wait, SECONDS))
        await until(lambda: lane.n == 1)
        second = asyncio.create_task(lane.run(ran.append, 1))
        await until(lambda: lane.n == 2)
        second.cancel()
        await until(lambda: lane.n == 1)
        gate.set()
        assert await first

    tell(story())
    assert ran == []


def test_a_closed_lane(lane):
    lane.close()
    with pytest.raises(Busy):
        asyncio.run(lane.run(int))
    assert lane.n == 0


def test_closing_waits_for_what_has_begun(gate):
    lane, done, begun = Lane("test", 1, 1, SECONDS), [], threading.Event()

    def work():
        begun.set()
        assert gate.wait(SECONDS)
        done.append(1)

    async def story():
        task = asyncio.create_task(lane.run(work))
        await until(begun.is_set)
        closing = asyncio.create_task(asyncio.to_thread(lane.close))
        gate.set()
        await asyncio.gather(task, closing)

    tell(story())
    assert done == [1]


def test_a_budget_is_given_back_whatever_happens():
    budget = Budget(100)
    with pytest.raises(ValueError, match="x"), budget.reserve(100):
        int("x")
    with budget.reserve(60):
        with budget.reserve(40), pytest.raises(Busy), budget.reserve(1):
            pass
        with budget.reserve(40):
            pass


class Counted:
    """Doubles numbers, the batches of which it remembers; waits first where it is told to."""

    def __init__(self):
        self.batches, self.begun, self.gate = [], threading.Event(), threading.Event()

    def __call__(self, questions):
        self.batches.append(list(questions))
        self.begun.set()
        assert self.gate.wait(SECONDS)
        if "all" in questions:
            raise KeyError("all of them")
        return [ValueError(one) if isinstance(one, str) else 2 * one for one in questions]


@pytest.fixture
def answer():
    made = Counted()
    yield made
    made.gate.set()


@pytest.fixture
def batcher(answer):
    made = Batcher(answer, 4, 8)
    yield made
    answer.gate.set()
    made.close()


def test_questions_that_wait_are_answered_together(batcher, answer):
    async def story():
        first = asyncio.create_task(batcher.ask(0))
        await until(answer.begun.is_set)
        others = [asyncio.create_task(batcher.ask(i)) for i in range(1, 8)]
        await until(lambda: batcher.n == 8)
        with pytest.raises(Busy):
            await batcher.ask(9)
        answer.gate.set()
        assert await asyncio.gather(first, *others) == [0, 2, 4, 6, 8, 10, 12, 14]
        assert batcher.n == 0

    tell(story())
    assert answer.batches == [[0], [1, 2, 3, 4], [5, 6, 7]]


def test_a_question_at_fault_spoils_no_other(batcher, answer):
    async def story():
        first = asyncio.create_task(batcher.ask(0))
        await until(answer.begun.is_set)
        tasks = [asyncio.create_task(batcher.ask(one)) for one in (1, "bad", 3)]
        await until(lambda: batcher.n == 4)
        answer.gate.set()
        found = await asyncio.gather(first, *tasks, return_exceptions=True)
        assert [found[0], found[1], str(found[2]), found[3]] == [0, 2, "bad", 6]
        assert isinstance(found[2], ValueError)

    tell(story())


def test_a_batch_that_fails_ends_with_its_error_and_the_next_is_answered(batcher, answer):
    answer.gate.set()

    async def story():
        with pytest.raises(KeyError, match="all of them"):
            await batcher.ask("all")
        assert await batcher.ask(5) == 10
        assert batcher.n == 0

    tell(story())


def test_clients_that_go_away_keep_no_place(batcher, answer):
    async def story():
        first = asyncio.create_task(batcher.ask(0))
        await until(answer.begun.is_set)
        gone = [asyncio.create_task(batcher.ask(i)) for i in range(1, 6)]
        stays = asyncio.create_task(batcher.ask(6))
        await until(lambda: batcher.n == 7)
        for task in gone:
            task.cancel()
        answer.gate.set()
        assert await asyncio.gather(first, stays) == [0, 12]
        await until(lambda: batcher.n == 0)
        assert await batcher.ask(7) == 14

    tell(story())


def test_closing_answers_what_has_been_asked(batcher, answer):
    async def story():
        tasks = [asyncio.create_task(batcher.ask(i)) for i in range(6)]
        await until(lambda: batcher.n == 6)
        answer.gate.set()
        await asyncio.to_thread(batcher.close)
        assert await asyncio.gather(*tasks) == [0, 2, 4, 6, 8, 10]
        with pytest.raises(Busy):
            await batcher.ask(1)

    tell(story())


def test_a_loop_that_has_ended_does_not_end_the_thread(batcher, answer):
    async def leave():
        task = asyncio.create_task(batcher.ask(1))
        await until(answer.begun.is_set)
        task.cancel()

    asyncio.run(leave())
    answer.gate.set()
    assert asyncio.run(batcher.ask(2)) == 4
