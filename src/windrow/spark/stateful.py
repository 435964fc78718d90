"""A stage of stateful workers on a stream: a transformWithState keyed by worker.

Before a stream runs, Spark starts a Python process for each such stage, only to ask which state
variables it has. So this file imports nothing of the engine, and the stage's workers are unpacked
once there are rows for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pandas as pd
from pyspark import cloudpickle
from pyspark.sql.streaming.stateful_processor import (
    ExpiredTimerInfo,
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)

from windrow.spark.garbage import spare_modules

if TYPE_CHECKING:
    from windrow.spark.stage_workers import StageWorkers

HEADER, BLOBS = "header", "blobs"
"""The names of the state variables by which Spark keeps a worker's state."""


class SparksState:
    """What Spark keeps for one worker, behind Spark's handle: a store, and a timer."""

    def __init__(self, handle: StatefulProcessorHandle) -> None:
        self._handle = handle
        self._header = handle.getValueState(HEADER, f"{HEADER} binary")
        self._blobs = handle.getMapState(BLOBS, "name string", "blob binary")
        self._initial = handle.getListState("initial", "message binary")

    def header(self) -> bytes | None:
        if not self._header.exists():  # to get what is not there makes Spark complain
            return None
        found = self._header.get()
        return None if found is None else bytes(found[0])

    def set_header(self, header: bytes) -> None:
        self._header.update((header,))

    def get(self, name: str) -> bytes:
        found = self._blobs.getValue((name,))
        assert found is not None, f"the state lacks {name!r}"
        return bytes(found[0])

    def put(self, name: str, blob: bytes) -> None:
        self._blobs.updateValue((name,), (blob,))

    def remove(self, name: str) -> None:
        self._blobs.removeKey((name,))

    def add_initial(self, messages: Iterable[bytes | None]) -> None:
        """Keep messages that are there before the stream begins."""
        for message in messages:
            if message is not None:
                self._initial.appendValue((bytes(message),))

    def take_initial(self) -> list[bytes]:
        """Forget these messages and return them."""
        messages = [bytes(message) for (message,) in self._initial.get()]
        self._initial.clear()
        return messages

    def move_timer(self, before: int | None, to: int) -> None:
        if before is not None:
            self._handle.deleteTimer(before)
        self._handle.registerTimer(to)


class StatefulStage(StatefulProcessor):
    """Has the workers of a stage run, one for each slot, batch by batch.

    A batch comes as packed messages, the watermark as Spark has it. Every worker is called in
    every batch in which the watermark has moved, by its messages or by a timer, which it always
    sets to the next millisecond.
    """

    def __init__(self, workers: StageWorkers) -> None:
        self._packed: bytes = cloudpickle.dumps(workers)  # type: ignore[no-untyped-call]

    @cached_property
    def workers(self) -> StageWorkers:
        workers: StageWorkers = cloudpickle.loads(self._packed)
        return workers

    def init(self, handle: StatefulProcessorHandle) -> None:
        spare_modules()
        self.state = SparksState(handle)

    def handleInputRows(
        self, key: Any, rows: Iterator[pd.DataFrame], timerValues: TimerValues
    ) -> Iterator[pd.DataFrame]:
        yield self.workers.run(int(key[0]), rows, self.state, timerValues)

    def handleExpiredTimer(
        self, key: Any, timerValues: TimerValues, expiredTimerInfo: ExpiredTimerInfo
    ) -> Iterator[pd.DataFrame]:
        expired = expiredTimerInfo.getExpiryTimeInMs()
        yield self.workers.run(int(key[0]), [], self.state, timerValues, expired)

    def handleInitialState(
        self, key: Any, initialState: pd.DataFrame, timerValues: TimerValues
    ) -> None:
        self.state.add_initial(initialState["message"])

    def close(self) -> None:
        return
