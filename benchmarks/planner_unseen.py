"""More other queries of ``bench_planner``, written when the planner was done.

They differ from those of ``planner_others`` in what they combine, so they say how far choices hold.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import functions as F

import windrow as wr
from benchmarks.bench_batch import steps_in
from benchmarks.planner_others import Made, Others, busy, hot, made
from windrow import functions as wf

KIND = "unseen"


class Largest(wr.Commutative[float, float, float]):
    """An aggregate of a user's own, in Python."""

    returns = "double"

    def lift(self, value: float) -> float:
        return value

    def combine(self, left: float, right: float) -> float:
        return max(left, right)

    def lower(self, partial: float) -> float:
        return partial


def variance_of_20_keys(others: Others, rows: int) -> Any:
    windows = wr.stream(made(others.spark, rows, "pmod(h, 20)")).key_by("k").event_time("t")
    return windows.window(wr.CountWindow(100)).agg(r=wf.var("x"), m=wf.min("x"))


def tumbling_sum_of_one_key(others: Others, rows: int) -> Any:
    windows = wr.stream(made(others.spark, rows, "0")).key_by("k").event_time("t")
    return windows.window(wr.TimeWindow(1000)).agg(r=wf.sum("x"))


def median_of_great_overlap(others: Others, rows: int) -> Any:
    windows = wr.stream(made(others.spark, rows, "0")).event_time("t")
    return windows.window(wr.TimeWindow(20_000, 200)).agg(r=wf.median("x"))


def decisive_rows(others: Others, rows: int) -> Any:
    df = made(others.spark, rows, "concat('sensor ', pmod(h, 10000))")
    windows = wr.stream(df).key_by("k").event_time("t").window(wr.TimeWindow("300 ms", "100 ms"))
    return windows.agg(f=wf.first("x"), r=wf.last("x"), at=wf.arg_max("x", "id"))


def skyline_without_keys(others: Others, rows: int) -> Any:
    df = made(others.spark, rows, "0").withColumn("y", F.pmod(F.hash("id"), F.lit(1000)))
    windows = wr.stream(df).event_time("t").window(wr.TimeWindow(8000, 2000))
    return windows.agg(r=wf.skyline("x", "y"))


def function_of_5_keys(others: Others, rows: int) -> Any:
    windows = wr.stream(made(others.spark, rows, "pmod(h, 5)")).key_by("k").event_time("t")
    return windows.window(wr.CountWindow(300, 50)).apply(busy(50), "r double")


def pieces_of_few_windows(others: Others, rows: int) -> Any:
    windows = wr.stream(made(others.spark, rows, hot(0.5))).key_by("k").event_time("t")
    steps = steps_in(2e-6)

    def partial(pane: wr.Window) -> dict[str, float]:
        for _ in range(steps * len(pane)):
            pass
        return {"r": float(pane["x"].sum())}

    return windows.window(wr.TimeWindow(rows // 3)).decompose(
        partial=partial,
        combine=lambda parts: {"r": sum(part["r"] for part in parts)},
        partial_returns="r double",
        returns="r double",
    )


def mode_of_50_keys(others: Others, rows: int) -> Any:
    windows = wr.stream(made(others.spark, rows, "pmod(h, 50)")).key_by("k").event_time("t")
    return windows.window(wr.CountWindow(1000, 200)).agg(r=wf.mode("x"))


def own_aggregate_of_a_hot_key(others: Others, rows: int) -> Any:
    windows = wr.stream(made(others.spark, rows, hot(0.5))).key_by("k").event_time("t")
    return windows.window(wr.TimeWindow("100 ms", "10 ms")).agg(r=Largest("x"))


def orc_of_a_hot_key(others: Others, rows: int) -> Any:
    df = others.files("orc", rows, hot(0.3))
    windows = wr.stream(df).key_by("k").event_time("t").window(wr.TimeWindow("20 ms", "5 ms"))
    return windows.apply(busy(300), "r double")


def delta_of_100_keys(others: Others, rows: int) -> Any:
    df = made(others.spark, rows, "pmod(h, 100)").withColumn("km", F.col("id") / 1000)
    windows = wr.stream(df).key_by("k").event_time("t").window(wr.DeltaWindow("km", 20, 10))
    return windows.apply(busy(150), "r double")


def sessions_without_keys(others: Others, rows: int) -> Any:
    df = made(others.spark, rows, "0").withColumn(
        "t", F.expr("timestamp_micros(id + floor(id / 70) * 10)")
    )
    return wr.stream(df).event_time("t").window(wr.SessionWindow(5)).agg(r=wf.median("x"))


def quantile_by_tuple(others: Others, rows: int) -> Any:
    windows = wr.stream(made(others.spark, rows, "pmod(h, 5)")).key_by("k").event_time("t")
    return windows.window(wr.SlideByTupleWindow(2000, 40)).agg(r=wf.quantile("x", 0.9))


def landmark_without_keys(others: Others, rows: int) -> Any:
    windows = wr.stream(made(others.spark, rows, "0")).event_time("t")
    return windows.window(wr.LandmarkWindow(100_000, 500)).agg(n=wf.count(), r=wf.max("x"))


def wide_rows(others: Others, rows: int) -> Any:
    df = made(others.spark, rows, hot(0.2, 200))
    for n in range(10):
        df = df.withColumn(f"note{n}", F.concat(F.lit(f"note {n} of "), "id"))
    windows = wr.stream(df).key_by("k").event_time("t").window(wr.TimeWindow("10 ms", "2 ms"))

    def longest(window: wr.Window) -> dict[str, float]:
        return {"r": float(max(map(len, window["note7"])))}

    return windows.apply(longest, "r double")


def two_keys_fold(others: Others, rows: int) -> Any:
    windows = wr.stream(made(others.spark, rows, "pmod(h, 2)")).key_by("k").event_time("t")
    model = wr.CountWindow(400, 100)
    return windows.window(model).fold(lambda acc, row: acc + row["x"], 0.0, "r double")


def stream_of_sessions(others: Others, rows: int) -> Any:
    df = others.stream(rows, "pmod(h, 1000)")
    windows = wr.stream(df).key_by("k").event_time("t").window(wr.SessionWindow(9000))
    return windows.agg(r=wf.mean("x"))


def stream_of_a_hot_key(others: Others, rows: int) -> Any:
    df = others.stream(rows, hot(0.5))
    windows = wr.stream(df).key_by("k").event_time("t").window(wr.TimeWindow("30 ms", "15 ms"))
    return windows.apply(busy(100), "r double")


def stream_without_keys(others: Others, rows: int) -> Any:
    windows = wr.stream(others.stream(rows, "0")).event_time("t")
    return windows.window(wr.TimeWindow(6000, 600)).agg(r=wf.sum("x"), n=wf.count())


_KEYED: dict[str, Any] = {"keys": 1000, "rate": 1e6}
UNSEEN: dict[str, Made] = {
    f"{KIND}, {name}": found
    for name, found in {
        "variance of 20 keys": (variance_of_20_keys, {"keys": 20, "rate": 1e6}, 3_000_000),
        "tumbling sum of one key": (tumbling_sum_of_one_key, {"keys": 1, "rate": 1e6}, 4_000_000),
        "median, overlap 100": (median_of_great_overlap, {"rate": 1e6}, 2_000_000),
        "first, last, arg_max": (decisive_rows, {"keys": 10_000, "rate": 1e6}, 2_000_000),
        "skyline without keys": (skyline_without_keys, {"rate": 1e6}, 2_000_000),
        "5 keys, 50 us": (function_of_5_keys, {"keys": 5, "rate": 1e6, "cost": "50 us"}, 1_500_000),
        "pieces of few windows, 50 %": (
            pieces_of_few_windows,
            {**_KEYED, "skew": 0.5, "cost": "670 us"},
            1_000_000,
        ),
        "mode of 50 keys": (mode_of_50_keys, {"keys": 50, "rate": 1e6}, 2_000_000),
        "own aggregate, 50 %": (own_aggregate_of_a_hot_key, {**_KEYED, "skew": 0.5}, 500_000),
        "ORC of a hot key, 300 us": (
            orc_of_a_hot_key,
            {**_KEYED, "skew": 0.3, "cost": "300 us"},
            200_000,
        ),
        "delta of 100 keys, 150 us": (
            delta_of_100_keys,
            {"keys": 100, "rate": 1e6, "cost": "150 us"},
            1_000_000,
        ),
        "sessions without keys, median": (sessions_without_keys, {"rate": 1e6}, 2_000_000),
        "slide by tuple, quantile": (quantile_by_tuple, {"keys": 5, "rate": 1e6}, 2_000_000),
        "landmark without keys": (landmark_without_keys, {"rate": 1e6}, 3_000_000),
        "wide rows": (wide_rows, {"keys": 200, "rate": 1e6, "skew": 0.2}, 400_000),
        "fold of 2 keys": (two_keys_fold, {"keys": 2, "rate": 1e6}, 800_000),
        "stream of sessions": (stream_of_sessions, {"keys": 1000, "rate": 1e6 / 3}, 1_500_000),
        "stream, 50 %, 100 us": (
            stream_of_a_hot_key,
            {"keys": 1000, "rate": 1e6 / 3, "skew": 0.5, "cost": "100 us"},
            300_000,
        ),
        "stream without keys": (stream_without_keys, {"rate": 1e6 / 3}, 1_500_000),
    }.items()
}
"""How each query is made, what the planner may be told of it, and its rows."""
