"""A model with a time axis and panes that is none of the library's runs with every pattern."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import windrow as wr
from tests.effort import examples
from tests.patterns import PLACES, patterns
from tests.shifts import ShiftWindow, definition
from windrow import functions as wf
from windrow.core import oracle
from windrow.core.watermark import final_watermark
from windrow.engine.in_process import WindowRunner
from windrow.patterns.windows import window_stages

MILLISECOND = 1000
SCHEMA = pa.schema([("k", pa.string()), ("t", pa.int64()), ("x", pa.int64()), ("i", pa.int64())])
Rows = list[dict[str, Any]]
FUNCTIONS: dict[str, dict[str, Any]] = {
    "partials of panes": {"n": wf.count(), "total": wf.sum("x")},
    "few rows": {"n": wf.count(), "newest": wf.last("i")},
    "all rows": {"n": wf.count(), "seen": wf.collect("i")},
}


@st.composite
def shifts(draw: st.DrawFn) -> ShiftWindow:
    """Of lengths that differ, with gaps and overlaps, also from one day to the next."""
    day = draw(st.integers(4, 14))
    unit = draw(st.sampled_from([1, 2, 3])) * MILLISECOND
    n = draw(st.integers(1, 4))
    both = st.sets(st.integers(0, day - 1), min_size=n, max_size=n).map(sorted)
    starts, over = draw(both), draw(both)
    shortest = max(start - end for start, end in zip(starts, over, strict=True)) + 1
    longer = shortest + draw(st.integers(0, day))
    ends = [end + longer for end in over]
    return ShiftWindow(tuple(s * unit for s in starts), tuple(e * unit for e in ends), day * unit)


@st.composite
def arrivals(draw: st.DrawFn, delay: int) -> Rows:
    """Tuples in order of arrival, disordered within the delay (in milliseconds)."""
    keys: list[list[str | None]] = [["a"], ["a", "b", None], [*"abcdef"]]
    key = st.sampled_from(draw(st.sampled_from(keys)))
    times = draw(st.lists(st.integers(-30, 60), max_size=30))
    value = st.none() | st.integers(-9, 9)
    rows: Rows = [{"k": draw(key), "t": t * MILLISECOND, "x": draw(value)} for t in sorted(times)]
    rows.sort(key=lambda row: row["t"] + draw(st.integers(0, delay)) * MILLISECOND)
    return [{**row, "i": i} for i, row in enumerate(rows)]


def by_window(tables: list[pa.Table], keys: tuple[str, ...], names: list[str]) -> dict[Any, Any]:
    found = {}
    for table in tables:
        for name in ("window_start", "window_end"):
            at = table.schema.get_field_index(name)
            table = table.set_column(at, name, table[name].cast(pa.int64()))
        for r in table.to_pylist():
            window = tuple(r[k] for k in keys), r["window_id"], r["window_start"], r["window_end"]
            assert window not in found, "no window comes twice"
            found[window] = [r[name] for name in names]
    return found


@examples(400)
@given(st.data(), shifts(), st.integers(0, 6), st.sampled_from([*FUNCTIONS]))
def test_in_batches_with_every_pattern(
    data: st.DataObject, model: ShiftWindow, delay: int, kind: str
) -> None:
    functions = FUNCTIONS[kind]
    stream = wr.stream(SCHEMA.empty_table()).event_time("t", delay * MILLISECOND).order_by("i")
    if data.draw(st.booleans()):
        stream = stream.key_by("k")
    pattern = data.draw(patterns(model, is_decomposable=True))
    event(type(pattern).__name__)
    complete = stream.window(model).agg(**functions).using(pattern).window_query()
    rows = data.draw(arrivals(delay))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=4)))

    stages = window_stages(complete, pattern, data.draw(PLACES))
    runner, fired, came = WindowRunner(complete, stages), [], 0
    for a, b in zip([0, *cuts], [*cuts, len(rows)], strict=True):
        fired += runner.push(pa.Table.from_pylist(rows[a:b], SCHEMA))
        came = max(came, b)
        if came:
            greatest = max(r["t"] for r in rows[:came])
            fired += runner.advance(final_watermark(greatest, complete.delay))
        if data.draw(st.booleans()):
            snapshot = pickle.loads(pickle.dumps(runner.snapshot()))
            runner = WindowRunner(complete, stages)
            runner.restore(snapshot)
    ended = runner.finish()
    assert runner.dropped == 0

    how: Any = {"key": complete.keys, "delay": complete.delay}
    for emits_open, tables in ((False, fired), (True, fired + ended)):
        windows = definition(model, rows, emits_open=emits_open, **how)
        expected = {
            w: [oracle.aggregate(f, own) for f in functions.values()] for w, own in windows.items()
        }
        assert by_window(tables, complete.keys, [*functions]) == expected


@examples(200)
@given(shifts(), st.lists(st.integers(-200, 200), min_size=1, max_size=20))
def test_the_mapping_inverts_the_bounds(model: ShiftWindow, times: list[int]) -> None:
    positions = np.array(times) * (MILLISECOND // 2)
    for position, first, last in zip(positions, *model.mapping(positions), strict=True):
        ids = np.arange(first - 9, last + 10)
        start, end = model.bounds(ids)
        assert [*ids[(start <= position) & (position < end)]] == [*range(first, last + 1)]


def test_a_late_tuple_counts_in_the_shifts_that_have_not_fired() -> None:
    """The shifts [0, 6) and [4, 10) overlap: at 7 only the first one has fired."""
    model = ShiftWindow((0, 4), (6, 10), 20)
    query = wr.stream(SCHEMA.empty_table()).event_time("t").window(model).agg(seen=wf.collect("i"))
    complete = query.window_query()
    for pattern in (wr.WinSeq(), wr.PaneFarm(2, 1), wr.WinFarm(2, wr.PaneFarm(1, 1))):
        runner = WindowRunner(complete, window_stages(complete, pattern))

        def push(*times: int, runner: WindowRunner = runner) -> None:
            rows = [{"k": None, "t": t, "x": t, "i": t} for t in times]
            runner.push(pa.Table.from_pylist(rows, SCHEMA))

        push(1, 5, 7)
        found = runner.advance(7)
        push(3, 4)
        found += runner.advance(12)
        results = sorted(row["seen"] for table in found for row in table.to_pylist())
        assert results == [[1, 5], [4, 5, 7]]
        assert runner.dropped == 1


def test_bounds_that_do_not_increase_are_refused() -> None:
    with pytest.raises(wr.WindrowError, match="must increase"):
        ShiftWindow((0, 4), (6, 3), 20)
    with pytest.raises(wr.WindrowError, match="must increase"):
        ShiftWindow((0, 4), (6, 30), 20)
