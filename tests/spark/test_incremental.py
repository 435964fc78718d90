"""Work that is kept from firing to firing, and rounds: on Spark, too, the results are the oracle's.

Folds, aggregates of a user's own, decompose in rounds, and sums, which emitters reduce to partials
of panes under every pattern: over bounded rows, and on a stream that is stopped and goes on.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

import windrow as wr
from tests.own_aggregates import Middle, Opening, Total
from tests.spark.arrivals import Arrivals, finished
from tests.spark.results import assert_same, by_window, expected, plain, run_all
from tests.trail import Trail
from windrow import functions as wf
from windrow.core import WindowModel, oracle
from windrow.patterns import Pattern

pytestmark = pytest.mark.spark

SCHEMA = "k string, t bigint, seq int, x bigint, s string, d bigint"
ARROW = pa.schema(
    [
        ("k", pa.string()),
        ("t", pa.int64()),
        ("seq", pa.int32()),
        ("x", pa.int64()),
        ("s", pa.string()),
        ("d", pa.int64()),
    ]
)
DELAY = 20_000
TIME, LANDMARK = wr.TimeWindow("60 ms", "12 ms"), wr.LandmarkWindow("120 ms", "20 ms")
COUNT, SESSION = wr.CountWindow(12, 4), wr.SessionWindow("3 ms")
BY_TUPLE, BY_TIME = wr.SlideByTupleWindow("50 ms", 5), wr.SlideByTimeWindow(9, "20 ms")
DELTA = wr.DeltaWindow("d", 20, 8)
Rows = list[dict[str, Any]]


def tuples(n: int) -> Rows:
    """Disordered within the delay, with ties, gaps and null keys."""
    draw = np.random.default_rng(21)
    times = np.cumsum(draw.choice([0, 0, 1, 700, 1000, 2000, 5000], n)) + 1_000_000
    arrival = np.argsort(times + draw.integers(0, DELAY + 1, n), kind="stable").tolist()
    keys = [None, "a", "a", "b", "c"]
    return [
        {
            "k": keys[draw.integers(5)],
            "t": int(times[place]),
            "seq": i,
            "x": int(draw.integers(-99, 99)),
            "s": "pqrs"[draw.integers(4)],
            "d": int(times[place]) // 2000,
        }
        for i, place in enumerate(arrival)
    ]


ROWS = tuples(240)


def counted(seen: dict[str, Any], row: Any) -> dict[str, Any]:
    seen["n"] += 1
    seen["xs"].append(row["x"])
    return seen


def lowest(w: wr.Window) -> dict[str, Any]:
    return {"least": int(w["x"].min())}


def least_of(parts: Any) -> Any:
    return min(part["least"] for part in parts)


def above(w: wr.Window, least: Any) -> dict[str, Any]:
    return {"n": len(w), "total": int((w["x"] - least).sum())}


def mean_above(parts: Any) -> Any:
    return sum(part["total"] for part in parts), sum(part["n"] for part in parts)


def far(w: wr.Window, found: Any) -> dict[str, Any]:
    total, n = found
    return {"far": int((np.abs(w["x"]) * n > total).sum()), "n": n}


def sum_of_far(parts: Any) -> dict[str, Any]:
    return {"far": sum(part["far"] for part in parts), "n": parts[0]["n"]}


def in_rounds(query: wr.Query) -> wr.Query:
    return query.decompose(
        partial=[lowest, above, far],
        combine=[least_of, mean_above, sum_of_far],
        partial_returns=["least bigint", "n bigint, total bigint", "far bigint, n bigint"],
        returns="far bigint, n bigint",
    )


def naive_rounds(w: oracle.OracleWindow) -> list[Any]:
    xs, n = [row["x"] for row in w.rows], len(w.rows)
    total = sum(x - min(xs) for x in xs)
    return [[sum(abs(x) * n > total for x in xs), n]]


OWN: dict[str, Any] = {
    "total": Total("x"),
    "trail": Trail("s"),
    "middle": Middle("x"),
    "opening": Opening("x"),
}
SUMS: dict[str, Any] = {
    "n": wf.count(),
    "total": wf.sum("x"),
    "mean": wf.mean("x"),
    "least": wf.min("x"),
}


def naive_of(functions: dict[str, Any]) -> Callable[[oracle.OracleWindow], list[Any]]:
    return lambda w: [[plain(oracle.aggregate(f, w.rows)) for f in functions.values()]]


@dataclass(frozen=True)
class Kind:
    """A kind of function, what it gives for a window, and what it runs with."""

    compute: Callable[[wr.Query], wr.Query]
    naive: Callable[[oracle.OracleWindow], list[Any]]
    patterns: tuple[Pattern, ...]
    models: tuple[WindowModel, ...]

    def runs(self) -> list[tuple[WindowModel, Pattern]]:
        """Each pattern with the first model that it takes, from another one on each time."""
        found = []
        for i, pattern in enumerate(self.patterns):
            for model in [*self.models[i % len(self.models) :], *self.models]:
                try:
                    self.compute(query_over(ARROW.empty_table(), model)).using(pattern)
                except wr.WindrowError:
                    continue
                found.append((model, pattern))
                break
        return found


def query_over(source: Any, model: WindowModel) -> wr.Query:
    return wr.stream(source).key_by("k").event_time("t", DELAY).order_by("seq").window(model)


PARTS = (
    wr.WinMapReduce(2, 2, level=0),
    wr.WinMapReduce(1, 1, level=1),
    wr.WinMapReduce(3, 2),
    wr.KeyFarm(2, wr.WinMapReduce(2, 1)),
    wr.WinFarm(2, wr.WinMapReduce(2, 2)),
    wr.WinFarm(2, wr.WinMapReduce(2, 1), workers="agnostic"),
)
PANES = (
    wr.PaneFarm(2, 2, level=0),
    wr.PaneFarm(1, 1, level=1),
    wr.PaneFarm(3, 2),
    wr.KeyFarm(2, wr.PaneFarm(1, 1)),
    wr.WinFarm(2, wr.PaneFarm(2, 1)),
)
WHOLE = (wr.WinSeq(), wr.KeyFarm(2), wr.WinFarm(2, batch=2), wr.WinFarm(2, workers="agnostic"))
EVERY = (TIME, COUNT, LANDMARK, SESSION, BY_TUPLE, BY_TIME, DELTA)
KINDS = {
    "rounds": Kind(in_rounds, naive_rounds, (*PARTS, *WHOLE), EVERY),
    "fold": Kind(
        lambda query: query.fold(counted, {"n": 0, "xs": []}, "n bigint, xs array<bigint>"),
        lambda w: [[len(w.rows), [row["x"] for row in w.rows]]],
        (*WHOLE, wr.KeyFarm(2, hot_keys=["a"])),
        (LANDMARK, TIME, COUNT, BY_TUPLE),
    ),
    "own": Kind(
        lambda query: query.agg(**OWN),
        naive_of(OWN),
        (*WHOLE, *PANES, *PARTS[:4], wr.KeyFarm(2, hot_keys=["a"])),
        EVERY,
    ),
    "sums": Kind(
        lambda query: query.agg(**SUMS),
        naive_of(SUMS),
        (*WHOLE, *PANES, *PARTS, wr.KeyFarm(2, hot_keys=["a"])),
        (TIME, LANDMARK),
    ),
}


@pytest.fixture(scope="module")
def df(spark: SparkSession) -> DataFrame:
    """The tuples over four partitions, in order of arrival."""
    parts = spark.sparkContext.parallelize([tuple(r.values()) for r in ROWS], 4)
    return spark.createDataFrame(parts, SCHEMA).cache()


def of_oracle(model: WindowModel, open_windows: Any) -> list[oracle.OracleWindow]:
    how: dict[str, Any] = {"key": ["k"], "time": "t", "order_by": ["seq"], "delay": DELAY}
    return oracle.windows(model, ROWS, open_windows=open_windows, **how)


@pytest.mark.parametrize("kind", KINDS)
def test_bounded_rows_give_the_oracles_results(df: DataFrame, kind: str) -> None:
    own = KINDS[kind]

    def check(number: int, model: WindowModel, pattern: Pattern) -> None:
        open_windows: Any = ["emit", "drop"][number % 2]
        query = wr.stream(df).key_by("k").event_time("t", DELAY).order_by("seq")
        query = own.compute(query.window(model, open_windows=open_windows)).using(pattern)
        wanted = expected(of_oracle(model, open_windows), own.naive)
        assert_same(by_window(query.to_df(), ["k"]), wanted, f"{model}, {pattern}")

    run_all(functools.partial(check, i, *run) for i, run in enumerate(own.runs()))


@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_goes_on_over_a_restart(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    """Three batches, of which the last comes after the stream was stopped."""
    own = KINDS[kind]
    chosen = own.runs()[:: max(1, len(own.runs()) // 4)]

    def check(number: int, model: WindowModel, pattern: Pattern) -> None:
        folder = tmp_path / str(number)
        arrivals = Arrivals(folder / "in", ARROW)
        for batches in (ROWS[:90], ROWS[90:150]), (ROWS[150:],):
            for batch in batches:
                arrivals.add(batch)
            query = own.compute(query_over(arrivals.read(spark, SCHEMA), model)).using(pattern)
            writer = query.to_df().writeStream.format("parquet").trigger(availableNow=True)
            writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
            finished(functools.partial(writer.start, str(folder / "out")))
        wanted = expected(of_oracle(model, "drop"), own.naive)
        got = by_window(spark.read.parquet(str(folder / "out")), ["k"])
        assert_same(got, wanted, f"{model}, {pattern}")

    run_all(functools.partial(check, i, *run) for i, run in enumerate(chosen))
