"""Windows on streams that Spark's own aggregation computes are those of the Python workers."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import windrow as wr
from tests.spark.arrivals import Arrivals, dropped, finished, results_of, start
from tests.spark.results import ByWindow, assert_same, by_window
from tests.spark.test_plain_scans import setting
from windrow import functions as wf
from windrow.spark.native_streams import is_native
from windrow.spark.settings import NATIVE_STREAMS

pytestmark = pytest.mark.spark

SCHEMA = "k string, t timestamp, x bigint, y double, m decimal(12,4)"
ARROW = pa.schema(
    [
        ("k", pa.string()),
        ("t", pa.timestamp("us", "UTC")),
        ("x", pa.int64()),
        ("y", pa.float64()),
        ("m", pa.decimal128(12, 4)),
    ]
)
FUNCTIONS: dict[str, Any] = {
    "n": wf.count(),
    "known": wf.count("x"),
    "total": wf.sum("x"),
    "mean": wf.mean("y"),
    "sum_m": wf.sum("m"),
    "least": wf.min("m"),
    "most": wf.max("t"),
    "var": wf.var("x"),
    "dev": wf.stddev("y"),
}
TUMBLING = wr.TimeWindow("10 ms")
HOPPING = wr.TimeWindow("4 ms", "9 ms", origin=1_000)
BATCHES = 6


@pytest.fixture(scope="module")
def arrivals(tmp_path_factory: pytest.TempPathFactory) -> Arrivals:
    """Times grow from batch to batch, with disorder, ties, nulls and late rows."""
    made = Arrivals(tmp_path_factory.mktemp("arrivals"), ARROW)
    draw = np.random.default_rng(3)
    for batch in range(BATCHES):
        times = 12_000 * batch + draw.integers(0, 16_000, 60)
        times[draw.random(60) < 0.2] -= 25_000
        rows = [
            {
                "k": (None, "a", "b")[draw.integers(3)],
                "t": None if i % 20 == 7 else 10**12 + int(t) // 500 * 500,
                "x": None if i % 8 == 0 else int(draw.integers(-4, 4)),
                "y": None if i % 13 == 0 else float(draw.integers(-8, 8)) / 4,
                "m": Decimal(int(draw.integers(-99, 99))) / 100,
            }
            for i, t in enumerate(times)
        ]
        made.add(rows)
    return made


def query(df: DataFrame, model: wr.TimeWindow, **functions: Any) -> wr.Query:
    timed = wr.stream(df).key_by("k").event_time("t", "3 ms")
    return timed.window(model).agg(**functions or FUNCTIONS)


def all_windows(df: DataFrame) -> DataFrame:
    """Tumbling and hopping windows, and windows of another query behind them."""
    tumbling = query(df, TUMBLING).to_df(observation="tumbling")
    hopping = query(df, HOPPING).ordered().to_df(observation="hopping")
    behind = wr.stream(query(df, TUMBLING).to_df(observation="first"))
    timed = behind.event_time("window_end").window(wr.TimeWindow("30 ms"))
    chained = timed.agg(n=wf.sum("n")).using(wr.WinSeq()).to_df(observation="second")
    both = tumbling.unionAll(hopping)
    return both.unionByName(chained, allowMissingColumns=True)


def test_results_late_rows_and_watermarks_are_those_of_python(
    spark: SparkSession, arrivals: Arrivals, tmp_path: Path
) -> None:
    df = arrivals.read(spark, SCHEMA)

    def run(name: str) -> tuple[ByWindow, list[str], dict[str, int]]:
        stream = finished(lambda: start(all_windows(df), tmp_path / name, at_once=True))
        found = by_window(results_of(stream, spark), ["k"])
        watermarks = [p.eventTime["watermark"] for p in stream.recentProgress]
        names = ("tumbling", "hopping", "first", "second")
        return found, watermarks, {each: dropped(stream, each) for each in names}

    expected, expected_watermarks, of_workers = run("workers")
    with setting(spark, NATIVE_STREAMS, "true"):
        found, watermarks, of_spark = run("native")
        assert_same(found, expected)
        assert watermarks == expected_watermarks
        query(df, TUMBLING).check_checkpoint(tmp_path / "native")
        with pytest.raises(wr.WindrowError, match=r"set spark\.windrow\.nativeStreams to false"):
            query(df, TUMBLING).check_checkpoint(tmp_path / "workers")
    assert len(expected) > 20
    without_time = arrivals.table()["t"].null_count
    assert of_workers["tumbling"] > without_time
    assert of_spark == {**dict.fromkeys(of_spark, without_time), "second": 0}


OTHERS: dict[str, tuple[Any, str]] = {
    "another function": (
        lambda q: q.key_by("k").window(TUMBLING).agg(v=wf.max("x")),
        'computation.functions.v.function: was "Min", is "Max"',
    ),
    "another column": (
        lambda q: q.key_by("k").window(TUMBLING).agg(v=wf.min("z")),
        'computation.functions.v.columns[0].column: was "x", is "z"',
    ),
    "another key": (
        lambda q: q.key_by("h").window(TUMBLING).agg(v=wf.min("x")),
        'keys[0].column: was "k", is "h"',
    ),
    "other windows": (
        lambda q: q.key_by("k").window(wr.TimeWindow("20 ms")).agg(v=wf.min("x")),
        "window.length: was 10000, is 20000",
    ),
    "another origin": (
        lambda q: q.key_by("k").window(wr.TimeWindow("10 ms", origin=5)).agg(v=wf.min("x")),
        "window.origin: was 0, is 5",
    ),
}


def test_the_checkpoint_of_another_query_is_refused(
    spark: SparkSession, arrivals: Arrivals, tmp_path: Path
) -> None:
    df = arrivals.read(spark, SCHEMA).withColumns({"h": F.lower("k"), "z": -F.col("x")})

    def run(query: wr.Query) -> None:
        writer = query.to_df().writeStream.format("noop").trigger(availableNow=True)
        finished(lambda: writer.option("checkpointLocation", str(tmp_path)).start())

    with setting(spark, NATIVE_STREAMS, "true"):
        own = wr.stream(df).event_time("t", "3 ms")
        begun = own.key_by("k").window(TUMBLING).agg(v=wf.min("x"))
        run(begun)
        arrivals.add([{"k": "a", "t": 10**12 + 10**6, "x": 1, "y": 1.0, "m": Decimal(1)}])
        for other, (made, told) in OTHERS.items():
            query = made(own)
            with pytest.raises(wr.WindrowError) as raised:
                query.check_checkpoint(tmp_path)
            assert told in str(raised.value), other
            with pytest.raises(StreamingQueryException, match="VALUE_SCHEMA_NOT_COMPATIBLE"):
                run(query)
        later = wr.stream(df).event_time("t", "9 ms").key_by("k").window(TUMBLING)
        later.agg(v=wf.min("x")).check_checkpoint(tmp_path)
        run(later.agg(v=wf.min("x")))


def test_only_what_spark_computes_in_the_same_way_is_left_to_it(
    spark: SparkSession, arrivals: Arrivals, capsys: pytest.CaptureFixture[str]
) -> None:
    df = arrivals.read(spark, SCHEMA)
    rows = wr.stream(df).key_by("k")
    timed = rows.event_time("t", "3 ms")
    marked = wr.stream(df.withWatermark("t", "3 milliseconds")).event_time("t")
    behind = wr.stream(df.withWatermark("t", "1 second").dropDuplicates(["t"])).event_time("t")
    n = {"n": wf.count()}
    native = {
        "tumbling": timed.window(TUMBLING).agg(**FUNCTIONS),
        "hopping": timed.window(HOPPING).agg(**n),
        "a watermark of the user's": marked.window(TUMBLING).agg(**n),
    }
    others = {
        "overlapping": timed.window(wr.TimeWindow("10 ms", "5 ms")).agg(**n),
        "counted": timed.window(wr.CountWindow(3)).agg(**n),
        "ordered rows": timed.window(TUMBLING).agg(x=wf.first("x")),
        "all rows": timed.window(TUMBLING).agg(x=wf.median("x")),
        "distinct": timed.window(TUMBLING).agg(x=wf.count_distinct("x")),
        "parts of milliseconds": rows.event_time("t", "1500 us").window(TUMBLING).agg(**n),
        "a clock": rows.event_time("t", idle_timeout="1 s").window(TUMBLING).agg(**n),
        "the marked column": marked.window(TUMBLING).agg(t=wf.max("t")),
        "behind a stateful operator": behind.window(TUMBLING).agg(**n),
    }

    def found(query: wr.Query) -> bool:
        source: Any = query.source
        return is_native(query.window_query(), source.df)

    assert not any(map(found, native.values()))
    with setting(spark, NATIVE_STREAMS, "true"):
        assert {name: found(q) for name, q in native.items()} == dict.fromkeys(native, True)
        assert {name: found(q) for name, q in others.items()} == dict.fromkeys(others, False)
        native["hopping"].explain()
        said = capsys.readouterr().out
        assert "reads    with Spark's reader: its own aggregation takes the rows" in said
        assert "runs     as a stream, wholly in Spark" in said
        native["hopping"].using(wr.KeyFarm(2)).explain()
        assert "runs     as a stream, in Python" in capsys.readouterr().out
