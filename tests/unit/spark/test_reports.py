"""What workers tell of a batch, on its way behind the messages."""

from __future__ import annotations

import json

import pytest

from windrow.core.watermark import BEGINNING, END_OF_STREAM
from windrow.engine.workers.worker import Message, Worker
from windrow.spark.listener import readable
from windrow.spark.packed import Exchange, Ticks, rows_of
from windrow.spark.reports import Work


class Idle(Worker):
    def push(self, message: Message) -> None: ...

    def advance(self, watermark: int) -> list[Message]:
        return []


def test_reports_go_to_the_first_worker_and_ticks_to_all() -> None:
    sent = Exchange(3).pack_ticks(Ticks(dropped=2, clock=5, reports=("a", "b")), to_all=True)
    rows = list(rows_of(sent.to_batches()))
    ticks = Ticks()
    for row in rows:
        assert row.message is None
        ticks = ticks.with_more(row.ticks)
    assert ticks == Ticks(dropped=2, clock=5, reports=("a", "b"))
    assert [row.target for row in rows] == [0, 1, 2, 0, 0]


def test_without_ticks_only_reports_are_sent() -> None:
    sent = Exchange(3).pack_ticks(Ticks(reports=("a",)), to_all=False)
    (row,) = rows_of(sent.to_batches())
    assert (row.target, row.ticks) == (0, Ticks(reports=("a",)))


@pytest.mark.parametrize("watermark", [BEGINNING, END_OF_STREAM])
def test_a_watermark_that_is_none_is_not_told(watermark: int) -> None:
    told = json.loads(Work(1, 2).report(Idle(), watermark, windows=3))
    assert "watermark" not in told
    assert (told["stage"], told["worker"], told["windows"], told["rows_held"]) == (1, 2, 3, 0)


def test_only_the_steps_of_a_worker_are_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0

    def later(by: int) -> int:
        nonlocal now
        now += by
        return now

    monkeypatch.setattr("windrow.spark.reports.perf_counter_ns", lambda: now)
    work = Work(0, 0)
    steps = ([later(7)] for _ in range(3))
    for _ in work.timed(steps):
        later(100)
    assert work.nanos == 21


def test_a_failure_is_told_without_stack_traces_and_plans() -> None:
    said = (
        "Job aborted\n\tat org.apache.spark.Scheduler.abort(Scheduler.scala:1)\n"
        "Caused by: no price\n\t... 3 more\n\n=== Streaming Query ===\nIdentifier: x"
    )
    assert readable(said) == "Job aborted\nCaused by: no price"


def test_of_an_error_of_windrow_nothing_else_is_shown() -> None:
    error = "windrow.core.errors.WindrowError: spread failed on window 5.\nHint: look."
    said = f'PythonException:\n  File "calling.py", line 27\n{error}\n SQLSTATE: 38000\n\tat a.b\n'
    assert readable(said) == error
