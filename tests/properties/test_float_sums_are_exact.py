"""Sums and lines of floats that nearly cancel are exact in every pattern and batch split."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.effort import examples
from tests.patterns import PLACES, patterns
from tests.streams import models_in_milliseconds
from windrow import functions as wf
from windrow.core import WindowModel, oracle
from windrow.engine.in_process import WindowRunner
from windrow.patterns.windows import window_stages

SCHEMA = pa.schema([("k", pa.int64()), ("t", pa.int64()), ("x", pa.float64()), ("d", pa.int64())])
values = st.one_of(
    st.none(),
    st.sampled_from([1e16, -1e16, 3e15, -3e15]),
    st.floats(-3, 3).map(lambda x: round(x, 3)),
    st.integers(-3, 3).map(float),
)


@examples(400)
@given(
    st.data(), models_in_milliseconds, st.lists(st.tuples(st.integers(0, 1), values), min_size=3)
)
def test_sums_means_and_lines_that_cancel_are_exact(
    data: st.DataObject, model: WindowModel, drawn: list[tuple[int, float | None]]
) -> None:
    rows: list[dict[str, Any]] = [
        {"k": k, "t": i * 700, "x": x, "d": i} for i, (k, x) in enumerate(drawn)
    ]
    query = wr.stream(SCHEMA.empty_table()).key_by("k").event_time("t").window(model)
    query = query.agg(
        total=wf.sum("x"), mean=wf.mean("x"), n=wf.count("x"), line=wf.linear_regression("x", "d")
    )
    pattern = data.draw(patterns(model, True, [0]))
    complete = query.window_query()
    runner = WindowRunner(complete, window_stages(complete, pattern, data.draw(PLACES)))
    found = []
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=3)))
    for low, high in zip([0, *cuts], [*cuts, len(rows)], strict=True):
        found += runner.push(pa.Table.from_pylist(rows[low:high], SCHEMA))
        found += runner.advance(rows[high - 1]["t"] if high else 0)
    found += runner.finish()
    got = {(r["k"], r["window_id"]): r for table in found for r in table.to_pylist()}
    for window in oracle.windows(model, rows, key=["k"], time="t"):
        known = [row["x"] for row in window.rows if row["x"] is not None]
        result = got.pop((*window.key, window.id))
        assert result["n"] == len(known)
        if not known:
            assert result["total"] is None and result["mean"] is None
            continue
        total = math.fsum(known)
        assert math.isclose(result["total"], total, rel_tol=1e-9, abs_tol=1e-12)
        assert math.isclose(result["mean"], total / len(known), rel_tol=1e-9, abs_tol=1e-12)
        assert math.isclose(wf.sum("x").over(known) or 0.0, total, rel_tol=1e-9, abs_tol=1e-12)
        points = [(row["x"], row["d"]) for row in window.rows if row["x"] is not None]
        assert (result["line"] is None) == (len(points) < 2)
        if len(points) > 1:
            assert result["line"] == pytest.approx(exact_line(points), rel=1e-9, abs=1e-12)
    assert not got


def exact_line(points: list[tuple[float, int]]) -> dict[str, float]:
    y, x = ([Fraction(v) for v in column] for column in zip(*points, strict=True))
    n = len(points)
    xx, yy = (n * sum(v * v for v in column) - sum(column) ** 2 for column in (x, y))
    xy = n * sum(x[i] * y[i] for i in range(n)) - sum(x) * sum(y)
    slope = xy / xx
    r2 = xy * xy / (xx * yy) if yy else 1
    return {
        "slope": float(slope),
        "intercept": float((sum(y) - slope * sum(x)) / n),
        "r2": float(r2),
    }


def test_a_sum_that_cancels_is_the_same_in_every_pattern() -> None:
    table = pa.table({"t": range(8), "x": [1e16, 1.0, 2.0, 0.25, -1e16, 1.0, 1.0, 1.0]})
    models = [wr.TimeWindow(8, 4), wr.CountWindow(8, 4)]
    trees = [wr.WinSeq(), wr.PaneFarm(2, 2), wr.WinMapReduce(3, 2), wr.WinFarm(2)]
    for model in models:
        query = wr.stream(table).event_time("t").window(model).agg(total=wf.sum("x")).ordered()
        for pattern in trees:
            totals = query.using(pattern).collect()["total"].to_pylist()
            assert totals[-2:] == [6.25, -9999999999999997.0], pattern
