"""Rows that come with their ranks, in any order, give what rows in order of rank give."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import windrow as wr
from tests.close import assert_close
from tests.effort import examples
from tests.patterns import PLACES, patterns
from tests.planned import planned
from tests.properties.test_patterns_match_oracle import by_window, run
from tests.streams import count_windows
from windrow import functions as wf
from windrow.core import oracle
from windrow.engine.in_process import WindowRunner
from windrow.engine.state.identity import describe
from windrow.patterns import Pattern
from windrow.patterns.windows import window_stages

SCHEMA = pa.schema([("k", pa.string()), ("seq", pa.int64()), ("x", pa.int64()), ("t", pa.int64())])
FUNCTIONS: dict[str, Any] = {
    "total": wf.sum("x"),
    "middle": wf.median("x"),
    "all": wf.collect("x"),
    "last": wf.last("x"),
}


@st.composite
def arrivals(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Rows with their ranks, in an order that is right, nearly right, or arbitrary."""
    keys: list[list[str | None]] = [["a"], ["a", "b", None], [*"abcdefgh"]]
    names = draw(st.sampled_from(keys))
    rows: list[dict[str, Any]] = []
    for x, k in enumerate(draw(st.lists(st.sampled_from(names), max_size=60))):
        seq = sum(row["k"] == k for row in rows)
        rows.append({"k": k, "seq": seq, "x": x * 7 % 11, "t": x})
    delay = draw(st.sampled_from([0, 3, 60]))
    places = [i + draw(st.integers(0, delay)) for i in range(len(rows))]
    return [rows[i] for i in sorted(range(len(rows)), key=lambda i: places[i])]


@examples(1000)
@given(st.data(), count_windows, arrivals())
def test_ranked_rows(data: st.DataObject, model: wr.CountWindow, rows: list[Any]) -> None:
    names = data.draw(st.lists(st.sampled_from([*FUNCTIONS]), min_size=1, unique=True))
    functions = {name: FUNCTIONS[name] for name in names}
    query = wr.stream(SCHEMA.empty_table()).key_by("k").rank_by("seq").window(model)
    # Nothing is late: times do not matter.
    query = query.event_time("t") if data.draw(st.booleans()) else query
    query = query.agg(**functions)
    pattern = data.draw(patterns(model, True) | planned(query.window_query()))
    event(type(pattern).__name__)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=4)))
    batches = [rows[a:b] for a, b in zip([0, *cuts], [*cuts, len(rows)], strict=True)]
    stops = data.draw(st.lists(st.booleans(), min_size=len(batches), max_size=len(batches)))
    place = data.draw(PLACES)
    in_order = sorted(rows, key=lambda row: row["seq"])
    fired, ended = run(query, pattern, place, batches, stops)
    for open_windows, tables in (("drop", fired), ("emit", fired + ended)):
        how: dict[str, Any] = {"key": ["k"], "open_windows": open_windows}
        expected = {
            (w.key, w.id, w.start, w.end): [
                [oracle.aggregate(f, w.rows) for f in functions.values()]
            ]
            for w in oracle.windows(model, in_order, **how)
        }
        got = by_window(tables, query, names)
        assert got.keys() == expected.keys()
        for window in expected:
            assert_close(got[window], expected[window])


def over(rows: list[tuple[str | None, Any]], model: Any = None) -> wr.Query:
    table = pa.table({"k": [k for k, _ in rows], "seq": pa.array([s for _, s in rows], pa.int64())})
    query = wr.stream(table).key_by("k").rank_by("seq").window(model or wr.CountWindow(4, 2))
    return query.agg(n=wf.count())


@pytest.mark.parametrize("pattern", [wr.WinSeq(), wr.WinFarm(2), wr.PaneFarm(2, 1)])
@pytest.mark.parametrize(
    ("ranks", "message"),
    [
        ([0, 1, 3, 4], "key 'a'; got 3, but not 2"),
        ([1, 2], "key 'a'; got 1, but not 0"),
        ([0, 1, 1, 2], "key 'a'; got 1 again"),
        ([0, None], "got null in 'seq'"),
        ([0, -1], "got -1 in 'seq'"),
    ],
)
def test_other_ranks_are_refused(pattern: Pattern, ranks: list[Any], message: str) -> None:
    with pytest.raises(wr.WindrowError, match=f"rank_by needs ranks 0, 1, 2, .*{message}"):
        over([("a", rank) for rank in ranks]).using(pattern).collect()


def test_ranks_are_integers() -> None:
    query = wr.stream(pa.table({"x": [1.0]}))
    with pytest.raises(wr.WindrowError, match=r"a column of integers.*'x' of double"):
        query.rank_by("x")
    with pytest.raises(wr.WindrowError, match="column not found: 'y'"):
        query.rank_by("y")


def test_ranks_and_another_order_are_refused() -> None:
    query = wr.stream(pa.table({"x": [1], "y": [2]}))
    with pytest.raises(wr.WindrowError, match="rank_by tells the order"):
        query.rank_by("x").order_by("y")
    with pytest.raises(wr.WindrowError, match="rank_by tells the order"):
        query.order_by("y").rank_by("x")


def test_other_windows_take_ranks_as_order() -> None:
    query = over([("a", 0)]).event_time("seq").window(wr.TimeWindow(10))
    complete = query.window_query()
    assert (complete.rank, complete.order_by, complete.time) == (None, ("seq",), "seq")


def test_ranks_are_part_of_the_identity() -> None:
    ranked = over([("a", 0)]).window_query()
    ordered = wr.stream(pa.table({"k": ["a"], "seq": [0]})).key_by("k").order_by("seq")
    other = ordered.window(wr.CountWindow(4, 2)).agg(n=wf.count()).window_query()
    assert describe(ranked, wr.KeyFarm(2))["rank_by"] == [{"column": "seq", "type": "bigint"}]
    assert "rank_by" not in describe(other, wr.KeyFarm(2))
    assert "rankers" not in describe(ranked, wr.WinFarm(2))
    assert describe(ranked, wr.WinFarm(2, wr.PaneFarm(2, 1)))["rankers"] == 2


def test_farms_need_no_rankers_for_ranked_rows() -> None:
    complete = over([("a", 0)]).window_query()
    for pattern in (wr.WinFarm(2), wr.KeyFarm(2, hot_keys=["a"], hot=wr.WinFarm(2))):
        assert "Ranker" not in window_stages(complete, pattern).describe()
    assert "Ranker" in window_stages(complete, wr.WinFarm(2, wr.PaneFarm(2, 1))).describe()


def test_a_row_that_is_missing_holds_back_only_its_key() -> None:
    runner = WindowRunner(
        over([]).window_query(), window_stages(over([]).window_query(), wr.WinFarm(3))
    )
    rows = [("a", 0), ("a", 2), ("a", 3), ("b", 1), ("b", 0), ("b", 2), ("b", 3)]
    table = pa.table({"k": [k for k, _ in rows], "seq": [s for _, s in rows]})
    assert [t["k"].to_pylist() for t in runner.push(table)] == [["b"]]
    late = pa.table({"k": ["a"], "seq": [1]})
    assert [t["k"].to_pylist() for t in runner.push(late)] == [["a"]]
