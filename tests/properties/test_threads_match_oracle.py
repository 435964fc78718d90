"""Results do not depend on threads: however many there are, whatever they take at once."""

from __future__ import annotations

from typing import Any, Literal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.close import assert_close
from tests.effort import examples
from tests.patterns import patterns
from tests.properties.test_patterns_match_oracle import FUNCTIONS, SCHEMA, arrivals, by_window
from tests.streams import models_in_milliseconds
from windrow.api import tables
from windrow.core import WindowModel, oracle
from windrow.engine.datasets import steps

OpenWindows = Literal["emit", "drop"]


def in_small_steps(rows: int) -> pytest.MonkeyPatch:
    """Tables are taken in steps of a few rows, and none counts as small, until it is undone."""
    patch = pytest.MonkeyPatch()
    patch.setattr(steps, "_ROWS", rows)
    patch.setattr(tables, "FEW_ROWS", 0)
    return patch


@examples(400)
@given(
    st.data(),
    models_in_milliseconds,
    st.sampled_from(["emit", "drop"]),
    st.integers(1, 4),
    st.integers(1, 12),
)
def test_aggregates_equal_the_oracles(
    data: st.DataObject,
    model: WindowModel,
    open_windows: OpenWindows,
    threads: int,
    step: int,
) -> None:
    names = data.draw(st.lists(st.sampled_from([*FUNCTIONS]), min_size=1, max_size=3, unique=True))
    functions = {name: FUNCTIONS[name] for name in names}
    # Nothing is late for a table, so its rows may be in any order.
    disorder = data.draw(st.sampled_from([0, 6, 100]))
    is_timed = model.needs_event_time or data.draw(st.booleans())
    rows = data.draw(arrivals(disorder if is_timed else 0))
    query = wr.stream(pa.Table.from_pylist(rows, SCHEMA)).window(model, open_windows)
    query = query.key_by("k") if data.draw(st.booleans()) else query
    query = query.event_time("t", "3 ms") if is_timed else query
    may_reorder = is_timed or not isinstance(model, wr.DeltaWindow)
    query = query.order_by("seq") if may_reorder and data.draw(st.booleans()) else query
    query = query.agg(**functions)
    pattern = data.draw(st.none() | patterns(model, is_decomposable=True))
    if isinstance(pattern, wr.KeyFarm) and not query.keys:
        pattern = None
    try:
        query = query if pattern is None else query.using(pattern)
    except wr.WindrowError as refused:
        assert "Commutative" in str(refused)

    patch = in_small_steps(step)
    try:
        found = query.collect(threads)
        in_order = query.ordered().collect(threads)
    finally:
        patch.undo()

    how: dict[str, Any] = {"key": query.keys, "time": query.time, "order_by": query.ordered_by}
    windows = oracle.windows(model, rows, delay=query.delay, open_windows=open_windows, **how)
    expected = {
        (w.key, w.id, w.start, w.end): [[oracle.aggregate(f, w.rows) for f in functions.values()]]
        for w in windows
    }
    for results in (found, in_order):
        got = by_window([results], query, names)
        assert got.keys() == expected.keys()
        for window in expected:
            assert_close(got[window], expected[window])
    order = ["k", "window_id"] if query.keys else ["window_id"]
    places = [tuple((row[n] is not None, row[n]) for n in order) for row in in_order.to_pylist()]
    assert places == sorted(places)
    assert in_order.schema.metadata == found.schema.metadata
