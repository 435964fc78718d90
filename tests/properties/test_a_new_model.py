"""A window model that is none of the library's runs with every pattern that its context allows."""

from __future__ import annotations

import pickle
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import windrow as wr
from tests.effort import examples
from tests.patterns import PLACES, patterns
from tests.punctuated import PunctuatedWindow, definition
from tests.streams import times
from windrow import functions as wf
from windrow.core.watermark import final_watermark
from windrow.engine.in_process import WindowRunner
from windrow.patterns.windows import window_stages

MODEL = PunctuatedWindow("flag")
SCHEMA = pa.schema([("k", pa.string()), ("t", pa.int64()), ("flag", pa.bool_()), ("i", pa.int64())])
Rows = list[dict[str, Any]]


@st.composite
def arrivals(draw: st.DrawFn, delay: int) -> Rows:
    """Tuples in order of arrival, disordered within the delay (in milliseconds)."""
    keys: list[list[str | None]] = [["a"], ["a", "b", None], [*"abcdefgh"]]
    key = st.sampled_from(draw(st.sampled_from(keys)))
    flag = st.sampled_from([True, False, False, None])
    rows: Rows = [{"k": draw(key), "t": t * 1000, "flag": draw(flag)} for t in draw(times())]
    rows.sort(key=lambda row: row["t"] + draw(st.integers(0, delay)) * 1000)
    for i, row in enumerate(rows):
        row["i"] = i
    return rows


def by_window(tables: list[pa.Table], keys: tuple[str, ...]) -> dict[Any, Any]:
    return {
        (tuple(r[k] for k in keys), r["window_id"], r["window_start"], r["window_end"]): (
            r["n"],
            r["seen"],
        )
        for table in tables
        for r in table.to_pylist()
    }


@examples(500)
@given(st.data(), st.integers(0, 6), st.booleans())
def test_in_batches_with_every_pattern(data: st.DataObject, delay: int, is_timed: bool) -> None:
    stream = wr.stream(SCHEMA.empty_table()).window(MODEL)
    if data.draw(st.booleans()):
        stream = stream.key_by("k")
    if is_timed:
        stream = stream.event_time("t", delay * 1000)
    pattern = data.draw(patterns(MODEL, is_decomposable=True))
    event(type(pattern).__name__)
    query = stream.agg(n=wf.count(), seen=wf.collect("i")).using(pattern)
    rows = data.draw(arrivals(delay if is_timed else 0))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=4)))

    complete = query.window_query()
    stages = window_stages(complete, pattern, data.draw(PLACES))
    runner, fired, greatest = WindowRunner(complete, stages), [], None
    for a, b in zip([0, *cuts], [*cuts, len(rows)], strict=True):
        fired += runner.push(pa.Table.from_pylist(rows[a:b], SCHEMA))
        if is_timed and a < b:
            newest = max(r["t"] for r in rows[a:b])
            greatest = newest if greatest is None else max(newest, greatest)
            fired += runner.advance(final_watermark(greatest, complete.delay))
        if data.draw(st.booleans()):
            snapshot = pickle.loads(pickle.dumps(runner.snapshot()))
            runner = WindowRunner(complete, stages)
            runner.restore(snapshot)
    ended = runner.finish()
    assert runner.dropped == sum(row["flag"] is None for row in rows)

    how: Any = {"key": complete.keys, "time": complete.time, "delay": complete.delay}
    for emits_open, tables in ((False, fired), (True, fired + ended)):
        windows = definition(MODEL, rows, emits_open=emits_open, **how)
        expected = {w: (len(own), [r["i"] for r in own]) for w, own in windows.items()}
        assert by_window(tables, complete.keys) == expected


def test_a_late_tuple_finds_no_place_and_is_dropped() -> None:
    """Its rank is gone.

    time      1   2   3   4   5
    tuple     p   x   q!      r!
    watermark         ^ here x comes
    """
    query = wr.stream(SCHEMA.empty_table()).event_time("t").window(MODEL).agg(seen=wf.collect("i"))
    complete = query.window_query()
    runner = WindowRunner(complete, window_stages(complete, wr.WinSeq()))

    def push(*tuples: tuple[int, bool, int]) -> None:
        rows = [{"k": None, "t": t, "flag": flag, "i": i} for t, flag, i in tuples]
        runner.push(pa.Table.from_pylist(rows, SCHEMA))

    push((1, False, 1), (3, True, 3))
    assert runner.advance(3) == []
    push((2, True, 2), (5, True, 5))
    found = [row for table in runner.advance(6) for row in table.to_pylist()]
    assert [(r["window_start"], r["window_end"], r["seen"]) for r in found] == [
        (0, 2, [1, 3]),
        (2, 3, [5]),
    ]
    assert runner.dropped == 1


def test_a_table_in_process() -> None:
    table = {"flag": [False, True, True, None, False], "x": [1, 2, 4, 8, 16]}
    query = wr.stream(table).window(MODEL).agg(total=wf.sum("x"))
    assert query.collect()["total"].to_pylist() == [3, 4, 16]
    dropped = wr.stream(table).window(MODEL, open_windows="drop").agg(total=wf.sum("x"))
    assert dropped.collect()["total"].to_pylist() == [3, 4]


def test_the_model_checks_its_columns() -> None:
    stream = wr.stream({"x": [1, 2]})
    with pytest.raises(wr.WindrowError, match="PunctuatedWindow needs a boolean flag; got 'x' of"):
        stream.window(PunctuatedWindow("x"))
    with pytest.raises(wr.WindrowError, match="PunctuatedWindow: column not found: 'y'"):
        stream.window(PunctuatedWindow("y"))


def test_patterns_that_need_more_are_refused() -> None:
    query = wr.stream({"flag": [True]}).window(MODEL).agg(n=wf.count())
    with pytest.raises(wr.WindrowError, match="PunctuatedWindow is FCA"):
        query.using(wr.WinFarm(2))
    with pytest.raises(wr.WindrowError, match="PunctuatedWindow has none"):
        query.using(wr.PaneFarm(2, 2))
