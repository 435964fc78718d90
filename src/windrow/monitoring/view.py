"""What the page in the browser shows, as JSON data."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import islice
from typing import Any, TypeAlias

from windrow.monitoring.batch import Batch, Part
from windrow.monitoring.history import History, Run

RECENT = 20
"""Rates, and the shares of workers, are of so many batches."""
_CURVE = 240
"""The batches that curves show."""
_OFTEN = 2.0
"""A worker stands out that has so many times what the others of its stage have on average."""
_LEAST_SECONDS = 0.05
"""Workers that are busy for less of each second than this are not slow."""
Json: TypeAlias = dict[str, Any]


def view(history: History) -> Json:
    """All queries, the newest first."""
    with history.lock:
        now = history.clock()
        return {"now": now, "queries": [_query(run, now) for run in history.runs()]}


def _query(run: Run, now: float) -> Json:
    recent = _recent(run)
    span = _span(recent)
    is_live = run.ended is None and not run.is_idle
    last = run.last
    return {
        "run": run.run_id,
        "id": run.query_id,
        "name": run.label,
        "state": run.state,
        "message": run.message,
        "started": run.started,
        "ended": run.ended,
        "totals": dict(run.totals),
        "last": {
            "rows_per_second": sum(b.rows for b in recent) / span if is_live else 0.0,
            "windows_per_second": (
                sum(b.sum(lambda p: p.windows) for b in recent) / span if is_live else 0.0
            ),
            "latency": run.latencies[-1] if run.latencies else None,
            "seconds": None if last is None else last.seconds,
            "lag": run.watermark_lag(now),
            **_state(run),
        },
        "curves": _curves(run),
        "parts": (
            [] if last is None else [_part(part, recent, span, is_live) for part in last.parts]
        ),
    }


def _state(run: Run) -> Json:
    if not run.held:
        return {}
    held = run.held[-1]
    return {"rows_held": held.rows, "keys": held.keys, "state_bytes": held.bytes}


def _recent(run: Run) -> list[Batch]:
    return list(islice(run.batches, max(0, len(run.batches) - RECENT), None))


def _span(batches: list[Batch]) -> float:
    """The seconds from the first start to the last end."""
    return max(batches[-1].ended - batches[0].started, 1e-3) if batches else 1.0


def _curves(run: Run) -> dict[str, list[Any]]:
    skipped = max(0, len(run.batches) - _CURVE)
    shown = list(islice(run.batches, skipped, None))
    held = list(islice(run.held, skipped, None))
    return {
        "time": [b.ended for b in shown],
        "rows_per_second": [b.rows_per_second for b in shown],
        "seconds": [b.seconds for b in shown],
        "latency": list(islice(run.latencies, skipped, None)),
        "lag": [None if b.watermark is None else b.ended - b.watermark for b in shown],
        "windows": [b.sum(lambda p: p.windows) for b in shown],
        "dropped": [b.sum(lambda p: p.dropped) for b in shown],
        "rows_held": [each.rows for each in held],
        "state_bytes": [each.bytes for each in held],
    }


def _part(part: Part, recent: list[Batch], span: float, is_live: bool) -> Json:
    """A Windrow query: its stages with their rates, and the workers of each."""
    shares = (
        share for batch in recent for p in batch.parts if p.name == part.name for share in p.shares
    )
    done: dict[int, dict[int, list[float]]] = defaultdict(lambda: defaultdict(lambda: [0, 0, 0.0]))
    for share in shares:
        sums = done[share.stage][share.worker]
        for i, more in enumerate((share.rows_in, share.rows_out, share.seconds)):
            sums[i] += more
    intake, *stages = part.stages or ({"nodes": [], "width": None},)
    return {
        "name": part.name,
        "intake": intake["nodes"],
        "stages": [
            {
                "nodes": stage["nodes"],
                "rows_in_per_second": (
                    sum(w[0] for w in done[number].values()) / span if is_live else 0.0
                ),
                "rows_out_per_second": (
                    sum(w[1] for w in done[number].values()) / span if is_live else 0.0
                ),
                "workers": _workers(done[number], stage["width"], span),
            }
            for number, stage in enumerate(stages)
        ],
    }


def _workers(done: dict[int, list[float]], width: int, span: float) -> list[Json]:
    """The workers of a stage with their part of its rows and time; those that stand out."""
    rows = [done[worker][0] for worker in range(width)]
    seconds = [done[worker][2] for worker in range(width)]
    hot = {i for i in _outstanding(rows) if rows[i] >= width}
    slow = {i for i in _outstanding(seconds) if seconds[i] / span >= _LEAST_SECONDS}
    return [
        {
            "worker": worker,
            "rows": rows[worker],
            "rows_share": rows[worker] / (sum(rows) or 1),
            "busy": seconds[worker] / span,
            "seconds_share": seconds[worker] / (sum(seconds) or 1),
            "is_hot": worker in hot,
            "is_slow": worker in slow,
        }
        for worker in range(width)
    ]


def _outstanding(values: list[float]) -> Iterable[int]:
    """Which values are more than twice the average of the others."""
    others = max(1, len(values) - 1)
    return [
        i
        for i, value in enumerate(values)
        if len(values) > 1 and value > _OFTEN * (sum(values) - value) / others
    ]
