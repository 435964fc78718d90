"""The workers of a stage on a stream, with their state in Spark's state store."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.streaming.stateful_processor import TimerValues

from windrow.core.watermark import BEGINNING
from windrow.engine.stages.messages import unpack
from windrow.engine.state.log import NotAnAncestor
from windrow.engine.state.store import Store
from windrow.engine.state.stored_worker import StoredWorker
from windrow.spark.idleness import Idleness
from windrow.spark.packed import Ticks
from windrow.spark.reports import Work
from windrow.spark.stages import Stage
from windrow.spark.stateful import SparksState
from windrow.spark.watermark import Watermark

_MOST_KEPT = 256
"""Workers whose state a Python process keeps in memory."""


_kept: OrderedDict[tuple[str | None, str, int], StoredWorker] = OrderedDict()
"""Between batches a Python process keeps its workers: a copy that is behind catches up.

Nothing depends on it: what is not here, or has come from a failed attempt, is read anew.
"""


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


@dataclass(frozen=True)
class StageWorkers:
    """Runs the worker of a slot over what has come for it in a batch."""

    stage: Stage
    identity: dict[str, Any]
    number: int
    """Which of the query's stateful stages it is."""
    watermark: Watermark | None
    idleness: Idleness | None
    keeps_workers: bool

    @cached_property
    def _name(self) -> str:
        return json.dumps([self.identity, self.number])

    @property
    def follows_spark(self) -> bool:
        """Whether Spark's watermark moves time on."""
        return self.watermark is not None and self.watermark.is_sparks

    def run(
        self,
        slot: int,
        frames: Iterable[pd.DataFrame],
        state: SparksState,
        timer_values: TimerValues,
        expired: int | None = None,
    ) -> pd.DataFrame:
        """What the worker gives; ``expired`` is the timer that has called it."""
        received = Received.of(frames)
        slots = self.stage.here.slots
        index = slots.index(slot) if slot in slots else -1
        name = (_query_id(), self._name, slot)
        with (work := Work(self.stage.number, index)):
            kept = self._caught_up(name, max(index, 0), state)
            worker, is_new = kept.worker, kept.is_new
            if is_new:
                for message in state.take_initial():
                    worker.push(unpack(message))
            for message in received.messages:
                worker.push(work.took(unpack(message)))
            dropped, windows = worker.dropped, worker.fired
            reached = self._reached(kept.extra, received, timer_values)
            given = work.gave(worker.advance(reached))
            if self.follows_spark:
                timer = timer_values.getCurrentWatermarkInMs() + 1
                _set_timer(kept.extra, state, timer, expired)
            kept.save(state)
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

    def _caught_up(
        self, name: tuple[str | None, str, int], index: int, store: Store
    ) -> StoredWorker:
        """The worker in its stored state."""
        kept = _kept.pop(name, None)
        if kept is not None:
            try:
                kept.load(store)
            except NotAnAncestor:
                kept = None
        if kept is None:
            assert self.stage.workers is not None
            kept = StoredWorker(self.stage.workers.make(index), self.identity, self.number)
            kept.load(store)
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


def _set_timer(extra: dict[str, Any], state: SparksState, timer: int, expired: int | None) -> None:
    set_before = extra.get("timer")
    if set_before != timer:
        # One that has expired Spark deletes itself, and complains if it is gone.
        state.move_timer(None if set_before == expired else set_before, timer)
        extra["timer"] = timer


def _query_id() -> str | None:
    """Which streaming query runs: its stages, and more queries of ours, may share a process."""
    context = TaskContext.get()
    return None if context is None else context.getLocalProperty("sql.streaming.queryId")
