from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from windrow.spark.refusals import Refusals

PLAN = """Union false, false
:- Project [waits AS name]
:  +- CollectMetrics windrow, [dropped], 12
+- Project [closes AS name]
   +- CollectMetrics windrow, [dropped], 12
"""
"""Two branches over the results of one query, so its metrics are there twice."""


def test_a_query_below_two_branches_of_a_union_is_explained_once() -> None:
    run: Any = SimpleNamespace(
        analyzedPlan=lambda: SimpleNamespace(toString=lambda: PLAN),
        resolvedCheckpointRoot=lambda: "/checkpoint",
    )
    stream = SimpleNamespace(_jsq=SimpleNamespace(streamingQuery=lambda: run))
    streams = SimpleNamespace(get=lambda id: stream, addListener=lambda listener: None)
    session: Any = SimpleNamespace(streams=streams)
    refusals = Refusals(session)
    check: Any = object()
    refusals.add(("windrow", "12"), check, tells_windows=True)
    event = SimpleNamespace(id="id", runId="run")
    refusals.onQueryStarted(event)
    assert refusals.started == {"run": ("/checkpoint", [check])}
    assert refusals.waiting == {}
