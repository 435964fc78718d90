"""A batch of a streaming query as plain data."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

_OF_WORKER = ("stage", "worker", "rows_in", "rows_out", "rows_held", "keys", "state_bytes")


@dataclass(frozen=True)
class Share:
    """What one worker did in a batch."""

    stage: int
    worker: int
    rows_in: int
    rows_out: int
    rows_held: int
    keys: int
    state_bytes: int
    seconds: float


@dataclass(frozen=True)
class Part:
    """What one Windrow query did: in a chain of queries, a streaming query has several."""

    name: str
    """The name of its observed metrics."""
    stages: tuple[dict[str, Any], ...]
    """What each stage runs (``nodes``), on how many workers (``width``); the intake comes first."""
    windows: int
    late: int
    dropped: int
    watermark: float | None
    """In seconds since 1970; None before the first one."""
    shares: tuple[Share, ...]

    @staticmethod
    def of(name: str, observed: dict[str, Any]) -> Part:
        """A part as the query reports it. What Spark itself computes only has dropped rows."""
        counts = {each: int(observed.get(each) or 0) for each in ("windows", "late", "dropped")}
        watermark = observed.get("watermark")
        shares = [
            Share(
                **{each: int(w.get(each) or 0) for each in _OF_WORKER},
                seconds=int(w["micros"] or 0) / 1e6,
            )
            for w in observed.get("workers") or ()
        ]
        return Part(
            name,
            tuple(json.loads(observed.get("plan") or "[]")),
            **counts,
            watermark=None if watermark is None else watermark / 1e6,
            shares=tuple(sorted(shares, key=lambda share: (share.stage, share.worker))),
        )


@dataclass(frozen=True)
class Batch:
    """A micro-batch; times are in seconds, instants since 1970."""

    number: int
    started: float
    seconds: float
    """From the trigger to the results."""
    rows: int
    rows_per_second: float
    """Of input, since the batch before."""
    parts: tuple[Part, ...]

    @staticmethod
    def of(progress: Any) -> Batch:
        """A batch as the query reports it, on Spark classic or Connect."""
        observed = {name: plain(row) for name, row in (progress.observedMetrics or {}).items()}
        return Batch(
            number=progress.batchId,
            started=datetime.fromisoformat(progress.timestamp).timestamp(),
            seconds=progress.durationMs.get("triggerExecution", 0) / 1000,
            rows=progress.numInputRows or 0,
            rows_per_second=_finite(progress.inputRowsPerSecond),
            parts=tuple(
                Part.of(name, row) for name, row in sorted(observed.items()) if "dropped" in row
            ),
        )

    @property
    def ended(self) -> float:
        """When the results were there."""
        return self.started + self.seconds

    def sum(self, of_part: Callable[[Part], int]) -> int:
        """A sum over all Windrow queries in the streaming query."""
        return sum(map(of_part, self.parts))

    @property
    def watermark(self) -> float | None:
        """The least watermark of the Windrow queries."""
        return min((p.watermark for p in self.parts if p.watermark is not None), default=None)


def plain(value: Any) -> Any:
    """An observed row, and what is in it, as dicts and lists.

    Spark Connect tells the values of a row and their schema in place of their names.
    """
    if hasattr(value, "asDict"):
        value = value.asDict()
    if isinstance(value, dict):
        if value.keys() == {"values", "schema"}:
            return dict(zip(_names(value["schema"]), map(plain, value["values"]), strict=True))
        return {name: plain(each) for name, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list | tuple) else value


def _names(schema: Any) -> Iterable[str]:
    fields = schema["fields"] if isinstance(schema, dict) else schema
    return [field["name"] for field in fields]


def _finite(number: float | None) -> float:
    """Spark reports what it cannot tell as nothing, NaN or infinity."""
    return number if number is not None and abs(number) < float("inf") else 0.0
