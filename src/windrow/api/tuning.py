"""Tuning: the best plans by prediction run on a sample, and the fastest of them wins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from windrow.api.query import Query
from windrow.api.sources import Source, source_of
from windrow.core.errors import WindrowError, near_names

if TYPE_CHECKING:
    from windrow.planner.plans import Plan
    from windrow.planner.predict import Prediction

SAMPLE_ROWS = 1_000_000
"""How many rows are taken of a query's own input."""
_TRIED = 4
"""How many plans run, at most."""
_ROUNDS = 2
"""How often each runs; the best time counts. A round of all plans comes before the next."""


def tuned(query: Query, sample: Any) -> Query:
    """The query with the fastest of the best plans; see :func:`windrow.tune`."""
    if not isinstance(query, Query):
        hint = "for joins, measure layouts with layout= or degree=."
        raise WindrowError("tune takes a window query", type(query).__name__, hint)
    complete = query.window_query()
    decision = query.source.decision(complete, None)
    predictions = decision.predictions()[:_TRIED]
    source = query.source.sample(SAMPLE_ROWS) if sample is None else _checked(query, sample)
    runs = {p.plan: _run(query, source, p.plan) for p in predictions}
    times = _timed(runs)
    fastest = min(times, key=lambda plan: times[plan])
    table = _table(predictions, times, fastest)
    if fastest == decision.choice.plan:
        return replace(query, pattern=None, tuning=table)
    if fastest.native is not None:
        return replace(query, pattern=None, prefers_native=True, tuning=table)
    return replace(query.using(fastest.pattern), tuning=table)


def _checked(query: Query, sample: Any) -> Source:
    """The source over a sample, which must be bounded and have the columns of the query."""
    source = source_of(sample, "tune")
    for name, kind in query.source.types.items():
        if source.types.get(name) != kind:
            hint = near_names(name, source.types)
            rule = f"the sample of tune needs the query's columns: {name!r} of {kind}"
            raise WindrowError(rule, f"{source.types.get(name, 'no such column')}", hint)
    if getattr(source, "is_stream", False):
        raise WindrowError("the sample of tune must be bounded", "a stream")
    return source


def _run(query: Query, source: Source, plan: Plan) -> Callable[[], object]:
    """What runs the plan over the sample."""
    is_native = plan.native is not None
    pattern = None if is_native else plan.pattern
    over = replace(query, source=source, pattern=pattern, prefers_native=is_native)
    return lambda: source.run(over.window_query(), pattern)


def _timed(runs: dict[Plan, Callable[[], object]]) -> dict[Plan, float]:
    """The best time of each plan, in seconds."""
    times = dict.fromkeys(runs, float("inf"))
    next(iter(runs.values()))()  # The first run of all starts processes and compiles kernels.
    for _ in range(_ROUNDS):
        for plan, run in runs.items():
            start = perf_counter()
            run()
            times[plan] = min(times[plan], perf_counter() - start)
    return times


def _table(predictions: list[Prediction], times: dict[Plan, float], fastest: Plan) -> pa.Table:
    """What was tried, the fastest first."""
    rows = [
        {
            "plan": p.plan.describe(),
            "seconds": times[p.plan],
            "predicted_rows_per_second": p.rows_per_second,
            "is_fastest": p.plan == fastest,
        }
        for p in sorted(predictions, key=lambda p: times[p.plan])
    ]
    return pa.Table.from_pylist(rows)
