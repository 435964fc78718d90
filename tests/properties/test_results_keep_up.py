"""Results keep up with the watermark: no column is farther behind than the query says.

A query behind another one relies on it: otherwise rows would be late for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import event, given
from hypothesis import strategies as st

import windrow as wr
from tests.effort import examples
from tests.streams import models, rows
from windrow import functions as wf
from windrow.core.watermark import BEGINNING
from windrow.engine.in_process import WindowRunner
from windrow.engine.joins.in_process import JoinRunner
from windrow.patterns.windows import window_stages

SCHEMA = pa.schema([("k", pa.string()), *((n, pa.int64()) for n in ("t", "seq", "x", "d"))])
Steps = list[tuple[list[dict[str, Any]], int]]
"""Batches, each with the watermark behind it."""


@st.composite
def steps(draw: st.DrawFn) -> Steps:
    """Batches of tuples nearly in order, and a watermark that follows them, not always closely."""
    ordered = sorted(draw(rows(24)), key=lambda row: row["t"] + draw(st.integers(0, 6)))
    size, delay = draw(st.integers(1, 8)), draw(st.integers(0, 8))
    made: Steps = []
    for i in range(0, len(ordered), size):
        greatest = max(row["t"] for row in ordered[: i + size])
        made.append((ordered[i : i + size], greatest - delay))
        made += [([], greatest - delay + 3)] * draw(st.integers(0, 1))
    return [*made, ([], 10_000)]


def table(batch: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist([{n: row[n] for n in SCHEMA.names} for row in batch], SCHEMA)


def assert_kept_up(results: Iterable[pa.Table], lags: dict[str, int], watermark: int) -> None:
    """No time is farther behind than its lag."""
    for result in results:
        for name, lag in lags.items():
            oldest = pc.min(result[name].cast(pa.int64())).as_py()
            if oldest is not None and watermark != BEGINNING:
                assert oldest >= watermark - lag, (name, result)
                event(f"{name} as old as it may be: {oldest == watermark - lag}")


class Latest(wr.Commutative[int, int, int]):
    """A maximum of a user's own."""

    returns = "bigint"
    gives_newest = True

    def lift(self, value: int) -> int:
        return value

    def combine(self, a: int, b: int) -> int:
        return max(a, b)

    def lower(self, partial: int) -> int:
        return partial


@examples(150)
@given(models, steps())
def test_windows_keep_up(model: wr.WindowModel, steps: Steps) -> None:
    query = wr.stream(table([])).key_by("k").event_time("t").order_by("seq").window(model)
    functions = {"newest": wf.max("t"), "last": wf.last("t"), "latest": Latest("t")}
    others = {"oldest": wf.min("t"), "first": wf.first("t"), "most": wf.max("seq")}
    complete = query.agg(**functions, **others).window_query()
    lags = complete.result_lags()
    known = set() if isinstance(model, wr.DeltaWindow) else set(functions)
    assert lags.keys() - {"window_end"} == known
    assert ("window_end" in lags) == (model.axis is wr.Axis.TIME)
    runner = WindowRunner(complete, window_stages(complete, wr.KeyFarm(2)))
    before = BEGINNING
    for batch, watermark in steps:
        assert_kept_up([*runner.push(table(batch)), *runner.advance(watermark)], lags, before)
        before = max(before, watermark)


hows: st.SearchStrategy[Any] = st.sampled_from(
    ["inner", "left_outer", "right_outer", "full_outer", "semi", "anti"]
)
strategies: st.SearchStrategy[Any] = st.sampled_from(["grid", "centralised", "handshake"])


@examples(150)
@given(st.integers(1, 12), st.integers(1, 12), hows, strategies, steps(), st.randoms())
def test_joins_keep_up(
    left: int, right: int, how: Any, strategy: Any, steps: Steps, random: Random
) -> None:
    join = wr.join(
        table([]), table([]), within=(f"{left} us", f"{right} us"), on=wr.equi("k"), time="t",
        how=how, strategy=strategy, degree=3,
    )  # fmt: skip
    lags = join.query.result_lags()
    assert lags == {"left_t": left} | ({} if how in ("semi", "anti") else {"right_t": right})
    runner = JoinRunner(join.query, join.stages())
    before = BEGINNING
    for batch, watermark in steps:
        sides: tuple[list[Any], list[Any]] = ([], [])
        for row in batch:
            sides[random.random() < 0.5].append(row)
        results = runner.push(table(sides[0]), table(sides[1]))
        assert_kept_up([*results, *runner.advance(watermark)], lags, before)
        before = max(before, watermark)
