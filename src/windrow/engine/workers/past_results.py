"""Workers behind those that have already computed the results of some keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from windrow.engine.stages.beside import is_result
from windrow.engine.workers.chain import Chain
from windrow.engine.workers.worker import Message, Worker


class LetsResultsPass(Chain):
    """A worker that passes results on, and all other messages to the worker inside."""

    def __init__(self, worker: Worker) -> None:
        super().__init__([worker], [], [True], 0)
        self.results: list[Message] = []

    def push(self, message: Message) -> None:
        if is_result(message):
            self.results.append(message)
        else:
            super().push(message)

    def advance(self, watermark: int) -> list[Message]:
        results, self.results = self.results, []
        return [*results, *super().advance(watermark)]


@dataclass(frozen=True)
class LettingResultsPass:
    """A factory of workers that let results pass."""

    make: Callable[[int], Worker]

    def __call__(self, index: int) -> Worker:
        return LetsResultsPass(self.make(index))


@dataclass(frozen=True)
class FirstThenOthers:
    """A factory of n workers of one kind, then of workers of another kind."""

    n: int
    first: Callable[[int], Worker]
    others: Callable[[int], Worker]

    def __call__(self, index: int) -> Worker:
        return self.first(index) if index < self.n else self.others(index - self.n)
