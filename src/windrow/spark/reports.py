"""What the workers of a stream tell of each batch: the metrics that Spark observes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from time import perf_counter_ns, time_ns
from types import TracebackType
from typing import Any

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as F

from windrow.core.watermark import BEGINNING, END_OF_STREAM
from windrow.engine.workers.worker import Message, Worker

_LONGS = (
    "rows_in", "rows_out", "windows", "late", "rows_held", "keys", "state_bytes", "micros",
    "watermark", "watermark_lag",
)  # fmt: skip
_REPORT = ", ".join(["stage int", "worker int", *(f"{name} bigint" for name in _LONGS)])
"""A report as Spark reads it."""


@dataclass
class Work:
    """What a worker does in a batch, as it does it; ``with`` times it."""

    stage: int
    worker: int
    rows_in: int = 0
    rows_out: int = 0
    nanos: int = field(default=0, init=False)

    def __enter__(self) -> None:
        self._since = perf_counter_ns()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.nanos += perf_counter_ns() - self._since

    def timed(self, steps: Iterator[list[Message]]) -> Iterator[list[Message]]:
        """The steps of the worker; the time between them is not its own."""
        while True:
            with self:
                given = next(steps, None)
            if given is None:
                return
            yield given

    def took(self, message: Message) -> Message:
        """Count a message that the worker takes, and return it."""
        self.rows_in += _rows_of(message)
        return message

    def gave(self, messages: list[Message]) -> list[Message]:
        """Count messages that the worker gives, and return them."""
        self.rows_out += sum(map(_rows_of, messages))
        return messages

    def report(self, worker: Worker, watermark: int = BEGINNING, **more: int) -> str:
        """The report of the batch."""
        told: dict[str, Any] = {
            "stage": self.stage,
            "worker": self.worker,
            "rows_in": self.rows_in,
            "rows_out": self.rows_out,
            "rows_held": worker.n_held,
            "keys": worker.n_keys,
            "micros": self.nanos // 1000,
            **more,
        }
        if BEGINNING < watermark < END_OF_STREAM:
            told["watermark"] = watermark
            # By this clock: with its own, Spark would compile the metrics anew for each batch.
            told["watermark_lag"] = time_ns() // 1000 - watermark
        return json.dumps(told, separators=(",", ":"))


def _rows_of(message: Message) -> int:
    """The rows of a table, or those that a batch of windows shares."""
    return len(message if isinstance(message, pa.Table) else message.tuples)


def read_report(report: Column) -> Column:
    """A report as a struct; null where there is none."""
    return F.from_json(report, _REPORT)


def totals(plan: str, report: Column, first: int) -> list[Column]:
    """What is observed of reports beside the dropped rows.

    Every stage that holds the keys of a query holds them all: those of the ``first`` count.
    """
    sums = {name: report[name] for name in ("windows", "late", "rows_held")}
    sums["keys"] = F.when(report["stage"] == first, report["keys"])
    sums["state_bytes"] = report["state_bytes"]
    return [
        *(F.coalesce(F.sum(of), F.lit(0)).alias(name) for name, of in sums.items()),
        F.min(report["watermark"]).alias("watermark"),
        F.max(report["watermark_lag"]).alias("watermark_lag"),
        F.collect_list(report).alias("workers"),
        F.lit(plan).alias("plan"),
    ]
