"""The invariant: whatever the pattern and the batches, the results are the oracle's.

For every model, function, pattern, nesting, level, degree and batch split, stopped and taken up
again between any two batches.
"""

from __future__ import annotations

import pickle
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import event, given
from hypothesis import strategies as st

import windrow as wr
from tests.close import assert_close
from tests.effort import examples
from tests.own_aggregates import Middle, Opening, Seen, Total
from tests.patterns import PLACES, patterns
from tests.planned import planned
from tests.streams import models_in_milliseconds, times
from tests.trail import Trail
from windrow import functions as wf
from windrow.core import WindowModel, oracle
from windrow.core.watermark import final_watermark
from windrow.engine.in_process import WindowRunner
from windrow.patterns import Pattern
from windrow.patterns.setting import Place
from windrow.patterns.windows import window_stages

SCHEMA = pa.schema(
    [
        ("k", pa.string()),
        ("t", pa.int64()),
        ("seq", pa.int64()),
        ("x", pa.int64()),
        ("y", pa.float64()),
        ("s", pa.string()),
        ("d", pa.int64()),
        ("m", pa.decimal128(20, 2)),
    ]
)


FUNCTIONS: dict[str, Any] = {
    "n": wf.count(),
    "known": wf.count("x"),
    "named": wf.count("s"),
    "total": wf.sum("x"),
    "sum_y": wf.sum("y"),
    "mean": wf.mean("y"),
    "least": wf.min("x"),
    "most": wf.max("y"),
    "least_s": wf.min("s"),
    "var": wf.var("y"),
    "stddev": wf.stddev("x"),
    "first": wf.first("x"),
    "last": wf.last("s", ignore_nulls=True),
    "arg_min": wf.arg_min("s", "x"),
    "arg_max": wf.arg_max("x", "y"),
    "median": wf.median("x"),
    "quantile": wf.quantile("y", 0.9),
    "mode": wf.mode("s"),
    "distinct": wf.count_distinct("x"),
    "top": wf.top_k("x", 2),
    "collected": wf.collect("s"),
    "ohlc": wf.ohlc("x"),
    "regression": wf.linear_regression("y", "x"),
    "skyline": wf.skyline("x", "y"),
    "fit": wf.polynomial_fit("y", "x", 1),
    "top_by": wf.top_k("s", 2, by="m"),
    "most_m": wf.max("m"),
    "ohlc_m": wf.ohlc("m"),
    "distinct_pairs": wf.count_distinct("s", "m"),
    "trail": Trail("s"),
    "own_total": Total("x"),
    "own_total_m": Total("m"),
    "own_total_y": Total("y"),
    "seen": Seen("x"),
    "middle": Middle("x"),
    "opening": Opening("x"),
}
Rows = list[dict[str, Any]]


@st.composite
def arrivals(draw: st.DrawFn, delay: int) -> Rows:
    """Tuples in order of arrival, disordered within the delay (all in milliseconds)."""
    keys: list[list[str | None]] = [["a"], ["a", "b", None], [*"abcdefgh"]]
    key = st.sampled_from(draw(st.sampled_from(keys)))
    rows: Rows = [
        {
            "k": draw(key),
            "t": t * 1000 + draw(st.sampled_from([0, 0, 1, 999])),
            "seq": draw(st.integers(0, 2)),
            "x": draw(st.none() | st.integers(-9, 9)),
            "y": draw(st.none() | st.floats(-100, 100)),
            "s": draw(st.none() | st.sampled_from("pqrs")),
            "m": draw(st.none() | st.sampled_from([Decimal("-0.25"), Decimal("7.50")])),
        }
        for t in draw(times())
    ]
    for row in rows:
        row["d"] = row["t"] // 2000
    late = [r["t"] + draw(st.integers(0, delay)) * 1000 for r in rows]
    order = sorted(range(len(rows)), key=lambda i: late[i])
    return [rows[i] for i in order]


def by_window(tables: list[pa.Table], query: Any, names: list[str]) -> dict[Any, list[Any]]:
    """The result rows of each window."""
    found: dict[Any, list[Any]] = {}
    for table in tables:
        for bound in ("window_start", "window_end"):
            if pa.types.is_timestamp(table.schema.field(bound).type):
                at = table.schema.get_field_index(bound)
                table = table.set_column(at, bound, table[bound].cast(pa.int64()))
        for row in table.to_pylist():
            key = tuple(row[k] for k in query.keys)
            window = (key, row["window_id"], row["window_start"], row["window_end"])
            found.setdefault(window, []).append([row[name] for name in names])
    return found


def run(
    query: Any, pattern: Pattern, place: Place, batches: list[Rows], stops: list[bool]
) -> tuple[list[pa.Table], list[pa.Table]]:
    """What the stream fires, and what the end of it gives."""
    complete = query.window_query()
    stages = window_stages(complete, pattern, place)
    runner, fired, greatest = WindowRunner(complete, stages), [], None
    for batch, is_stopped in zip(batches, stops, strict=True):
        fired += runner.push(pa.Table.from_pylist(batch, SCHEMA))
        if complete.time is not None and batch:
            newest = max(r["t"] for r in batch)
            greatest = newest if greatest is None else max(newest, greatest)
            fired += runner.advance(final_watermark(greatest, complete.delay))
        if is_stopped:
            snapshot = pickle.loads(pickle.dumps(runner.snapshot()))
            runner = WindowRunner(complete, stages)
            runner.restore(snapshot)
    ended = runner.finish()
    assert runner.dropped == 0
    return fired, ended


def check(
    data: st.DataObject, model: WindowModel, query: Any, rows: Rows, function: Any, names: list[str]
) -> None:
    """Run the query in random batches with a random pattern and compare with the oracle."""
    drawn = patterns(model, query.computation.is_decomposable)
    pattern = data.draw(drawn | planned(query.window_query()))
    try:
        query.using(pattern)
    except wr.WindrowError as refused:
        assert "one round" in str(refused)
        pattern = wr.WinSeq()
    event(type(pattern).__name__)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=4)))
    batches = [rows[a:b] for a, b in zip([0, *cuts], [*cuts, len(rows)], strict=True)]
    stops = data.draw(st.lists(st.booleans(), min_size=len(batches), max_size=len(batches)))
    fired, ended = run(query, pattern, data.draw(PLACES), batches, stops)

    how: dict[str, Any] = {"key": query.keys, "time": query.time, "order_by": query.ordered_by}
    partials: list[Any] = ["drop", "emit"]
    for partial, tables in zip(partials, [fired, fired + ended], strict=True):
        windows = oracle.windows(model, rows, delay=query.delay, open_windows=partial, **how)
        every = {(w.key, w.id, w.start, w.end): function(w) for w in windows}
        expected = {window: found for window, found in every.items() if found}
        got = by_window(tables, query, names)
        assert got.keys() == expected.keys()
        for window in expected:
            assert_close(got[window], expected[window])


def draw_query(data: st.DataObject, model: WindowModel, delay: int) -> wr.Query:
    query = wr.stream(SCHEMA.empty_table()).window(model)
    if data.draw(st.booleans()):
        query = query.key_by("k")
    if model.needs_event_time or data.draw(st.booleans()):
        query = query.event_time("t", delay * 1000).order_by("seq")
    return query


@examples(1500)
@given(st.data(), models_in_milliseconds, st.integers(0, 6))
def test_aggregates(data: st.DataObject, model: WindowModel, delay: int) -> None:
    names = data.draw(st.lists(st.sampled_from([*FUNCTIONS]), min_size=1, max_size=3, unique=True))
    functions = {name: FUNCTIONS[name] for name in names}
    query = draw_query(data, model, delay).agg(**functions)
    rows = data.draw(arrivals(delay if query.time else 0))

    def naive(w: oracle.OracleWindow) -> list[Any]:
        return [[oracle.aggregate(f, w.rows) for f in functions.values()]]

    check(data, model, query, rows, naive, names)


@examples(700)
@given(st.data(), models_in_milliseconds, st.integers(0, 6))
def test_user_functions(data: st.DataObject, model: WindowModel, delay: int) -> None:
    base = draw_query(data, model, delay)
    returns = "n bigint, seqs array<bigint>"

    def seen(w: wr.Window) -> Any:
        return [{"n": len(w), "seqs": w["t"].tolist()}] * (w.id % 3)

    def update(acc: Any, row: Any) -> Any:
        return {"n": acc["n"] + 1, "seqs": [*acc["seqs"], row["t"]]}

    def partial(w: wr.Window) -> Any:
        return {"n": len(w), "seqs": w["t"].tolist()}

    def combine(parts: list[Any]) -> Any:
        return {
            "n": sum(p["n"] for p in parts),
            "seqs": sorted(s for p in parts for s in p["seqs"]),
        }

    def distant(w: wr.Window, made: Any) -> Any:
        return {"n": len(w), "seqs": [t - made["first"] for t in w["t"].tolist()]}

    def least(parts: list[Any]) -> Any:
        return {"first": min(p["first"] for p in parts)}

    def earliest(w: wr.Window) -> Any:
        return {"first": int(w["t"].min())}

    kind = data.draw(st.sampled_from(["apply", "fold", "decompose", "rounds"]))
    if kind == "apply":
        query = base.apply(seen, returns)
    elif kind == "fold":
        query = base.fold(update, {"n": 0, "seqs": []}, returns)
    elif kind == "rounds":
        query = base.decompose(
            partial=[earliest, distant],
            combine=[least, combine],
            partial_returns=["first bigint", returns],
            returns=returns,
        )
    else:
        query = base.decompose(
            partial=partial, combine=combine, partial_returns=returns, returns=returns
        )
    rows = data.draw(arrivals(delay if query.time else 0))

    def naive(w: oracle.OracleWindow) -> list[Any]:
        times = [r["t"] for r in w.rows]
        if kind == "rounds":
            times = [t - min(times) for t in times]
        if kind in ("decompose", "rounds"):
            times = sorted(times)
        return [[len(times), times]] * (w.id % 3 if kind == "apply" else 1)

    check(data, model, query, rows, naive, ["n", "seqs"])


def test_every_pattern_runs_on_one_example() -> None:
    table = pa.table({"k": ["a", "b"] * 20, "t": [i * 1000 for i in range(40)], "x": range(40)})
    base = wr.stream(table).key_by("k").event_time("t").window(wr.TimeWindow("10 ms", "2 ms"))
    query = base.agg(total=wf.sum("x")).ordered()
    expected = query.collect()
    inner: list[Pattern] = [wr.WinSeq(), wr.PaneFarm(2, 3), wr.WinMapReduce(2, 3)]
    trees = [*inner, *(farm(2, i) for farm in (wr.KeyFarm, wr.WinFarm) for i in inner)]
    for pattern in trees:
        assert query.using(pattern).collect().equals(expected), pattern
