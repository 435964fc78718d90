"""What the planner chooses under random statistics."""

from __future__ import annotations

import math
from dataclasses import replace

from hypothesis import strategies as st

from windrow.core.statistics import Statistics
from windrow.engine.window_query import WindowQuery
from windrow.patterns import Pattern
from windrow.patterns.workers import can_keep_panes
from windrow.planner.choice import can_predict, choose, weigh
from windrow.planner.plans import Native, Resources


@st.composite
def statistics(draw: st.DrawFn) -> Statistics:
    """Statistics that may be, of which some are known."""
    keys = draw(st.none() | st.sampled_from([1, 2, 100, 10**6]))
    least = 1e-6 if keys is None else 1 / keys
    return Statistics(
        keys=keys,
        skew=draw(st.none() | st.floats(least, 1)),
        rate=draw(st.none() | st.sampled_from([0.001, 1.0, 1e3, 1e6, 1e9])),
        cost=draw(st.none() | st.sampled_from([1.0, 20.0, 200.0, 1e6])),
        rows=draw(st.none() | st.sampled_from([0, 1, 1000, 10**7, 10**12])),
    )


@st.composite
def resources(draw: st.DrawFn, query: WindowQuery) -> Resources:
    """What a query may run on; on bounded input, Spark may be able to compute panes."""
    cores, is_stream = draw(st.sampled_from([1, 2, 3, 4, 8])), draw(st.booleans())
    kinds: list[Native | None] = [None]
    if not is_stream and query.model.pane_length is not None and can_keep_panes(query):
        kinds.append("panes")
    return Resources(cores, is_stream, draw(st.booleans()), draw(st.sampled_from(kinds)))


@st.composite
def planned(draw: st.DrawFn, query: WindowQuery) -> Pattern:
    """The planner's choice, or one of the plans that it has rejected."""
    on, known = draw(resources(query)), draw(statistics())
    hinted = replace(query, hints=known)
    chosen = choose(hinted, on)
    assert chosen.why
    weighed = weigh(hinted, on)
    assert all(0 < p.seconds < math.inf and 0 <= p.held < math.inf for p in weighed)
    assert all(p.latency >= p.seconds and 0 <= p.bytes < math.inf for p in weighed)
    assert {p.plan.native for p in weighed} <= {None, on.native}
    assert on.native is None or any(p.plan.native for p in weighed)
    if can_predict(known):
        assert weighed[0].plan == chosen.plan
    return draw(st.just(chosen.pattern) | st.sampled_from([p.plan.pattern for p in weighed]))
