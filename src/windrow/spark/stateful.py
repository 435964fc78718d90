"""A stage of stateful workers on a stream: a transformWithState keyed by worker."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.streaming.stateful_processor import (
    ExpiredTimerInfo,
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)

from windrow.core.watermark import BEGINNING
from windrow.engine.stages.messages import unpack
from windrow.engine.state.log import NotAnAncestor
from windrow.engine.state.stored_worker import StoredWorker
from windrow.spark.garbage import spare_modules
from windrow.spark.idleness import Idleness
from windrow.spark.packed import Ticks
from windrow.spark.reports import Work
from windrow.spark.stages import Stage
from windrow.spark.watermark import Watermark

HEADER, BLOBS = "header", "blobs"
"""The names of the state variables by which Spark keeps a worker's state."""
_MOST_KEPT = 256
"""Workers whose state a Python process keeps in memory."""


_kept: OrderedDict[tuple[str | None, str, int], StoredWorker] = OrderedDict()
"""Between batches a Python process keeps its workers: a copy that is behind catches up.

Nothing depends on it: what is not here, or has come from a failed attempt, is read anew.
"""


class _HandleStore:
    """The state store of one worker, behind Spark's handle."""

    def __init__(self, handle: StatefulProcessorHandle) -> None:
        self._header = handle.getValueState(HEADER, f"{HEADER} binary")
        self._blobs = handle.getMapState(BLOBS, "name string", "blob binary")

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


@dataclass(frozen=True)
class Received:
    """What a worker is sent in a batch."""

    messages: tuple[bytes, ...] = ()
    """Oldest first."""
    ticks: Ticks = field(default_factory=Ticks)

    @staticmethod
    def of(frames: Iterable[pd.DataFrame]) -> Received:
        messages: list[tuple[int, bytes]] = []
        ticks = Ticks()
        for frame in frames:
            found = zip(frame["low"], frame["message"], strict=True)
            messages += [(int(low), bytes(m)) for low, m in found if m is not None]
            latest = (int(frame[name].max()) for name in ("greatest", "clock", "greatest_right"))
            greatest, clock, right = latest
            reports = tuple(frame["report"].dropna())
            more = Ticks(int(frame["dropped"].sum()), greatest, clock, right, reports)
            ticks = ticks.with_more(more)
        messages.sort(key=lambda each: each[0])
        return Received(tuple(message for _, message in messages), ticks)


class StatefulStage(StatefulProcessor):
    """Runs the workers of a stage, one for each slot, batch by batch.

    A batch comes as packed messages, the watermark as Spark has it. Every worker is called in
    every batch in which the watermark has moved, by its messages or by a timer, which it always
    sets to the next millisecond.
    """

    def __init__(
        self,
        stage: Stage,
        identity: dict[str, Any],
        number: int,
        watermark: Watermark | None,
        idleness: Idleness | None,
        keeps_workers: bool,
    ) -> None:
        self.stage, self.identity, self.number = stage, identity, number
        self.name = json.dumps([identity, number])
        self.watermark, self.idleness, self.keeps_workers = watermark, idleness, keeps_workers
        self.follows_spark = watermark is not None and watermark.is_sparks

    def init(self, handle: StatefulProcessorHandle) -> None:
        spare_modules()
        self.handle = handle
        self.store = _HandleStore(handle)
        self.initial = handle.getListState("initial", "message binary")

    def handleInputRows(
        self, key: Any, rows: Iterator[pd.DataFrame], timerValues: TimerValues
    ) -> Iterator[pd.DataFrame]:
        yield self._run(int(key[0]), Received.of(rows), timerValues)

    def handleExpiredTimer(
        self, key: Any, timerValues: TimerValues, expiredTimerInfo: ExpiredTimerInfo
    ) -> Iterator[pd.DataFrame]:
        expired = expiredTimerInfo.getExpiryTimeInMs()
        yield self._run(int(key[0]), Received(), timerValues, expired)

    def handleInitialState(
        self, key: Any, initialState: pd.DataFrame, timerValues: TimerValues
    ) -> None:
        for message in initialState["message"]:
            if message is not None:
                self.initial.appendValue((bytes(message),))

    def close(self) -> None:
        return

    def _run(
        self,
        slot: int,
        received: Received,
        timer_values: TimerValues,
        expired: int | None = None,
    ) -> pd.DataFrame:
        slots = self.stage.here.slots
        index = slots.index(slot) if slot in slots else -1
        name = (_query_id(), self.name, slot)
        with (work := Work(self.stage.number, index)):
            kept = self._caught_up(name, max(index, 0))
            worker, is_new = kept.worker, kept.is_new
            if is_new:
                for (message,) in self.initial.get():
                    worker.push(unpack(bytes(message)))
                self.initial.clear()
            for message in received.messages:
                worker.push(work.took(unpack(message)))
            dropped, windows = worker.dropped, worker.fired
            reached = self._reached(kept.extra, received, timer_values)
            given = work.gave(worker.advance(reached))
            if self.follows_spark:
                self._set_timer(kept.extra, timer_values.getCurrentWatermarkInMs() + 1, expired)
            kept.save(self.store)
            self._keep(name, kept)
            messages = self.stage.following.pack(self.stage.hand_on({index: given}))
        report = work.report(
            worker,
            reached,
            late=worker.dropped - dropped,
            windows=worker.fired - windows,
            state_bytes=kept.n_bytes,
        )
        ticks = received.ticks.with_more(Ticks(worker.dropped - dropped, reports=(report,)))
        # The first worker tells those behind it, so that all of them see the watermark move.
        has_news = is_new or ticks.clock or ticks.tell_time
        told = self.stage.following.pack_ticks(ticks, bool(has_news) and index == 0)
        return pa.concat_tables([messages, told]).to_pandas()

    def _caught_up(self, name: tuple[str | None, str, int], index: int) -> StoredWorker:
        """The worker in its stored state."""
        kept = _kept.pop(name, None)
        if kept is not None:
            try:
                kept.load(self.store)
            except NotAnAncestor:
                kept = None
        if kept is None:
            assert self.stage.workers is not None
            kept = StoredWorker(self.stage.workers.make(index), self.identity, self.number)
            kept.load(self.store)
        return kept

    def _keep(self, name: tuple[str | None, str, int], kept: StoredWorker) -> None:
        """Keep the worker for the next batch; not before its state is stored."""
        if self.keeps_workers:
            _kept[name] = kept
            while len(_kept) > _MOST_KEPT:
                _kept.popitem(last=False)

    def _reached(self, extra: dict[str, Any], received: Received, timer_values: TimerValues) -> int:
        """How far time has come."""
        if self.watermark is None:
            return BEGINNING
        sparks = timer_values.getCurrentWatermarkInMs() if self.follows_spark else None
        reached = self.watermark.reached(extra, sparks, received.ticks)
        if self.idleness is None:
            return reached
        return max(reached, self.idleness.watermark(extra, received.ticks))

    def _set_timer(self, extra: dict[str, Any], timer: int, expired: int | None) -> None:
        set_before = extra.get("timer")
        if set_before == timer:
            return
        # One that has expired Spark deletes itself, and complains if it is gone.
        if set_before not in (None, expired):
            self.handle.deleteTimer(set_before)
        self.handle.registerTimer(timer)
        extra["timer"] = timer


def _query_id() -> str | None:
    """Which streaming query runs: its stages, and more queries of ours, may share a process."""
    context = TaskContext.get()
    return None if context is None else context.getLocalProperty("sql.streaming.queryId")
