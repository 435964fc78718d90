"""Reports of streams as Spark gives them, made by hand."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

from windrow.monitoring.batch import Batch
from windrow.monitoring.history import History

PLAN = [
    {"nodes": ["emit hash(symbol) mod 4"], "width": None},
    {"nodes": ["WinSeq x 4"], "width": 4},
]


class Clock:
    """Says what it is set to."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def report(stage: int, worker: int, rows: int = 100, micros: int = 20_000) -> dict[str, Any]:
    """What a worker tells."""
    own = {"stage": stage, "worker": worker, "rows_in": rows, "rows_out": rows // 10}
    return {**own, "rows_held": 2 * rows, "keys": 1, "state_bytes": 1_024, "micros": micros}


def observed(workers: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """The observed metrics of a batch."""
    totals = {
        "dropped": 3, "windows": 40, "late": 2, "watermark": 1_000_000_000,
    }  # fmt: skip
    return {**totals, "workers": workers, "plan": json.dumps(PLAN), **more}


def progress(
    number: int = 0,
    second: float = 0.0,
    rows: int = 400,
    metrics: dict[str, Any] | None = None,
    milliseconds: int = 500,
) -> SimpleNamespace:
    """A progress report of a batch that starts at a second after 1000 of 1970."""
    minutes, seconds = divmod(1000 + second, 60)
    workers = [report(0, worker) for worker in range(4)]
    return SimpleNamespace(
        batchId=number,
        timestamp=f"1970-01-01T00:{int(minutes):02}:{seconds:06.3f}Z",
        durationMs={"addBatch": milliseconds - 50, "triggerExecution": milliseconds},
        numInputRows=rows,
        inputRowsPerSecond=float(rows),
        observedMetrics={"windrow": observed(workers)} if metrics is None else metrics,
    )


def skewed(name: str, hot: int, slow: int, batches: int = 30) -> tuple[History, Clock]:
    """The history of a query with a hot and a slow worker, one batch per second."""
    clock = Clock(1000.0)
    history = History(clock)
    for number in range(batches):
        workers = [
            report(0, i, 4_000 if i == hot else 500, 300_000 if i == slow else 40_000)
            for i in range(4)
        ]
        watermark = int((999 + number) * 1e6)
        metrics = {"windrow": observed(workers, watermark=watermark)}
        batch = Batch.of(progress(number, number, 5_500, metrics))
        history.progressed("run of " + name, "id of " + name, name, batch)
        clock.now = batch.ended
    return history, clock
