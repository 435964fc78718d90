"""Threads share tasks: in order, a few at a time, and with the errors that one thread would see."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from functools import partial

import pytest

from windrow.engine.threads import AHEAD, Task, Threads

WAIT = 15
"""Seconds after which a test that hangs fails.

An interrupt that comes just before its thread begins to wait is noticed only then.
"""


def fails(message: str) -> int:
    raise ValueError(message)


def are_left() -> bool:
    return any(thread.name.startswith("windrow") for thread in threading.enumerate())


@pytest.mark.parametrize("n", [1, 2, 5])
def test_results_come_in_the_order_of_tasks(n: int) -> None:
    tasks = [partial(divmod, i, 7) for i in range(50)]
    expected = [divmod(i, 7) for i in range(50)]
    with Threads(n) as threads:
        assert threads.all(tasks) == expected
        assert list(threads.ahead(tasks)) == expected
        assert list(threads.ahead([])) == threads.all([]) == []
    assert not are_left()


def test_tasks_are_done_at_the_same_time() -> None:
    both = threading.Barrier(2)
    with Threads(2) as threads:
        assert sorted(threads.all([partial(both.wait, WAIT)] * 2)) == [0, 1]
        assert sorted(threads.ahead([partial(both.wait, WAIT)] * 2)) == [0, 1]


def test_tasks_are_found_while_the_caller_is_busy() -> None:
    found = threading.Event()
    with Threads(2) as threads:
        results = threads.ahead(iter([lambda: None, found.set]))
        next(results)
        assert found.wait(WAIT)


def test_only_a_few_tasks_are_asked_for_in_advance() -> None:
    asked = []

    def tasks() -> Iterator[Task[int]]:
        for i in range(100):
            asked.append(i)
            yield partial(int, i)

    with Threads(3) as threads:
        for taken, _ in enumerate(threads.ahead(tasks()), 1):
            assert len(asked) <= taken + 3 + AHEAD


@pytest.mark.parametrize("n", [1, 2, 4])
def test_the_first_error_in_the_order_of_tasks_is_raised(n: int) -> None:
    tasks = [partial(int, 1), partial(fails, "first"), partial(fails, "second"), partial(int, 2)]
    with Threads(n) as threads:
        with pytest.raises(ValueError, match="first"):
            threads.all(tasks)
        results = threads.ahead(tasks)
        assert next(results) == 1
        with pytest.raises(ValueError, match="first"):
            next(results)
    assert not are_left()


@pytest.mark.parametrize("n", [1, 3])
def test_an_error_in_finding_a_task_is_raised_behind_the_results_before_it(n: int) -> None:
    def tasks() -> Iterator[Task[int]]:
        yield partial(int, 1)
        fails("no task")

    with Threads(n) as threads:
        results = threads.ahead(tasks())
        assert next(results) == 1
        with pytest.raises(ValueError, match="no task"):
            next(results)


def test_a_caller_that_leaves_ends_what_gives_tasks() -> None:
    ended = []

    def tasks() -> Iterator[Task[int]]:
        try:
            while True:
                yield partial(int, 1)
        finally:
            ended.append(True)

    with pytest.raises(ValueError, match="left"), Threads(3) as threads:
        for _ in threads.ahead(tasks()):
            fails("left")
    assert ended == [True]
    assert not are_left()


@pytest.mark.parametrize("way", ["all", "ahead"])
def test_an_interrupt_reaches_a_caller_that_waits(way: str) -> None:
    is_helped, is_called, released = (threading.Event() for _ in range(3))
    caller = threading.get_ident()

    def interrupts_the_caller() -> None:
        if threading.get_ident() == caller:
            is_called.set()
            assert is_helped.wait(WAIT)
            return
        is_helped.set()
        assert is_called.wait(WAIT)
        signal.pthread_kill(caller, signal.SIGINT)
        assert released.wait(WAIT)

    with Threads(2) as threads:
        tasks = [interrupts_the_caller] * 2
        with pytest.raises(KeyboardInterrupt):
            threads.all(tasks) if way == "all" else list(threads.ahead(tasks))
        released.set()
    assert not are_left()
