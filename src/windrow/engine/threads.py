"""Threads of one process that share the work of a query. The caller's is one of them."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Any, Generic, NoReturn, TypeAlias, TypeVar

T = TypeVar("T")
Task: TypeAlias = Callable[[], T]

AHEAD = 2
"""Results that may wait beside one per thread, so that helpers go on while the caller is busy."""


def cores_here() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Threads:
    """At most ``n`` threads at work: the caller's, and ``n - 1`` helpers.

    A task that no helper has begun is done by the caller when it needs the result, so nobody waits
    while there is something to do. Errors are raised in the caller, in the order of tasks. A caller
    that leaves, for example because of an interrupt, waits only for tasks that have begun.

    >>> with Threads(2) as threads:
    ...     threads.all([lambda: 1, lambda: 2]), list(threads.ahead([lambda: 3, lambda: 4]))
    ([1, 2], [3, 4])
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self._helpers = ThreadPoolExecutor(n - 1, "windrow") if n > 1 else None
        self._ahead: _Ahead[Any] | None = None

    def __enter__(self) -> Threads:
        return self

    def __exit__(self, *_: object) -> None:
        if self._ahead is not None:
            self._ahead.stop()
        if self._helpers is not None:
            self._helpers.shutdown(cancel_futures=True)

    def all(self, tasks: Sequence[Task[T]]) -> list[T]:
        """The results of independent tasks."""
        if self._helpers is None or len(tasks) < 2:
            return [task() for task in tasks]
        results = [_Result(task) for task in tasks]
        begun = [self._helpers.submit(result.find) for result in results[1:]]
        results[0].find()
        for result, future in zip(results[:0:-1], begun[::-1], strict=True):
            if future.cancel():
                result.find()
        return [result.get() for result in results]

    def ahead(self, tasks: Iterable[Task[T]]) -> Iterator[T]:
        """The results of tasks in their order, found before they are asked for.

        At most ``n + AHEAD`` results wait. One thread at a time asks for the next task, which may
        be work, too.
        """
        if self._helpers is None:
            return (task() for task in tasks)
        ahead = _Ahead(iter(tasks), self._helpers, self.n + AHEAD)
        self._ahead = ahead
        return ahead.results()


class _Result(Generic[T]):
    """What a task returns or raises."""

    def __init__(self, task: Task[T] | None = None) -> None:
        self.task = task
        self.found: Future[T] = Future()

    def find(self) -> None:
        """Do the task. Interrupts are raised at once, errors when the result is asked for."""
        assert self.task is not None
        try:
            self.found.set_result(self.task())
        except BaseException as e:
            self.found.set_exception(e)
            if not isinstance(e, Exception):
                raise

    def get(self) -> T:
        return self.found.result()


class _End(Exception):
    """There is no further task."""


class _Ahead(Generic[T]):
    """Does tasks before their results are asked for, as long as fewer than ``n`` results wait."""

    def __init__(self, tasks: Iterator[Task[T]], helpers: ThreadPoolExecutor, n: int) -> None:
        self.tasks, self.helpers, self.n = tasks, helpers, n
        self.lock = Lock()
        self.unbegun: deque[_Result[T]] = deque()

    def results(self) -> Iterator[T]:
        waiting: deque[_Result[T]] = deque()
        submitted: deque[Future[None]] = deque()
        while True:
            while len(waiting) < self.n:
                result = _Result[T]()
                waiting.append(result)
                self.unbegun.append(result)
                submitted.append(self.helpers.submit(self._find_next))
            while not waiting[0].found.done() and submitted:
                if submitted.popleft().cancel():
                    self._find_next()
            try:
                found = waiting.popleft().get()
            except _End:
                return
            yield found

    def _find_next(self) -> None:
        with self.lock:
            result = self.unbegun.popleft()
            try:
                result.task = next(self.tasks, _end)
            except BaseException as e:
                result.found.set_exception(e)
                if isinstance(e, Exception):
                    return
                raise
        result.find()

    def stop(self) -> None:
        """Ask for no further task."""
        with self.lock:
            if isinstance(self.tasks, Generator):
                self.tasks.close()
            self.tasks = iter(())


def _end() -> NoReturn:
    raise _End
