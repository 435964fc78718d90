"""Keys, times and values of every type; the result's names, types and nullability."""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

import windrow as wr
from tests.spark.results import aggregates, assert_same, by_window, expected, run_all
from windrow import functions as wf
from windrow.core import WindowModel, oracle

pytestmark = pytest.mark.spark

NAN = float("nan")
COUNTED: WindowModel = wr.CountWindow(3, 2)
TUMBLING: WindowModel = wr.TimeWindow(8)
OVERLAPPING: WindowModel = wr.TimeWindow(8, 4)
PATHS = pytest.mark.parametrize(
    "model", [COUNTED, TUMBLING, OVERLAPPING], ids=["in Python", "in Spark", "panes in Spark"]
)
"""A model for each way a query may run."""

KEYS: dict[str, list[Any]] = {
    "int": [3, -1, None],
    "bigint": [2**40, -1, None],
    "smallint": [3, -1, None],
    "string": ["a", "", "ü€", None],
    "date": [dt.date(2024, 2, 29), dt.date(1969, 12, 31), None],
    "timestamp": [dt.datetime(2024, 3, 31, 1, 30, 0, 1), dt.datetime(1969, 12, 31), None],
    "timestamp_ntz": [dt.datetime(2024, 3, 31, 2, 30), dt.datetime(1969, 12, 31), None],
    "decimal(20,3)": [Decimal("1.500"), Decimal("-99999999999999999.999"), None],
    "boolean": [True, False, None],
    "binary": [b"\x00\xff", b"", None],
    "float": [1.5, -2.5, None],
    "struct<a:int,b:string>": [(1, "x"), (1, None), (None, None), None],
}


@pytest.fixture(params=["UTC", "Europe/Rome"])
def zone(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[str]:
    spark.conf.set("spark.sql.session.timeZone", request.param)
    yield request.param
    spark.conf.set("spark.sql.session.timeZone", "UTC")


def stream_of(spark: SparkSession, rows: list[Any], schema: str, parts: int = 3) -> DataFrame:
    return spark.createDataFrame(spark.sparkContext.parallelize(rows, parts), schema)


def check_keys(spark: SparkSession, kind: str, model: WindowModel) -> None:
    values = KEYS[kind]
    rows = [{"k": values[i * i % len(values)], "t": i, "x": i} for i in range(24)]
    df = stream_of(spark, [tuple(r.values()) for r in rows], f"k {kind}, t bigint, x int")
    for row in rows:
        if isinstance(row["k"], tuple):
            row["k"] = tuple(zip("ab", row["k"], strict=True))
    functions = {"n": wf.count(), "total": wf.sum("x")}
    query = wr.stream(df).key_by("k").event_time("t").window(model).agg(**functions)
    windows = oracle.windows(model, rows, key=["k"], time="t")
    wanted = expected(windows, aggregates(functions))
    assert_same(by_window(query.to_df(), ["k"]), wanted, kind)


@pytest.mark.parametrize("model", [COUNTED, TUMBLING], ids=["in Python", "in Spark"])
def test_keys_of_every_type(spark: SparkSession, model: WindowModel) -> None:
    run_all(functools.partial(check_keys, spark, kind, model) for kind in KEYS)


@PATHS
def test_nan_is_one_key_and_zeros_are_one(spark: SparkSession, model: WindowModel) -> None:
    values = [NAN, -0.0, 0.0, None, 1.5, -NAN]
    rows = [{"k": values[i % 6], "t": i, "x": i} for i in range(24)]
    df = stream_of(spark, [tuple(r.values()) for r in rows], "k double, t bigint, x int", 4)
    query = wr.stream(df).key_by("k").event_time("t").window(model)
    query = query.agg(n=wf.count(), total=wf.sum("x"))
    windows = oracle.windows(model, rows, key=["k"], time="t")
    functions = {"n": wf.count(), "total": wf.sum("x")}
    wanted = expected(windows, aggregates(functions))
    assert {key for (key,), *_ in wanted} == {"NaN", 0.0, None, 1.5}
    assert_same(by_window(query.to_df(), ["k"]), wanted)


@PATHS
def test_key_of_several_columns(spark: SparkSession, model: WindowModel) -> None:
    rows = [{"k": "ab"[i % 2], "j": [1, None, 3][i % 3], "t": i} for i in range(30)]
    df = stream_of(spark, [tuple(r.values()) for r in rows], "k string, j int, t bigint")
    query = wr.stream(df).key_by("k", "j").event_time("t").window(model).agg(n=wf.count())
    windows = oracle.windows(model, rows, key=["k", "j"], time="t")
    wanted = expected(windows, aggregates({"n": wf.count()}))
    assert_same(by_window(query.to_df(), ["k", "j"]), wanted)


def check_times(spark: SparkSession, kind: str, model: WindowModel) -> None:
    hour = 3_600_000_000
    day = 24 * hour
    # Around the epoch, and around the hour that Rome's summer time skips.
    near = 0 if kind == "int" else 1_711_843_200_000_000 // day * day
    unit = day if kind == "date" else 400_000_000 if kind == "int" else hour // 2 + 1
    times = [(i - 4) * unit for i in range(5)] + [near + i * unit for i in range(6)]
    rows = [{"t": t, "x": i} for i, t in enumerate(times)] + [{"t": None, "x": 99}]
    longs = stream_of(spark, [tuple(r.values()) for r in rows], "t bigint, x int")
    epoch = "timestamp_ntz'1970-01-01'"
    expressions = {
        "timestamp": "timestamp_micros(t)",
        "timestamp_ntz": f"timestampadd(MICROSECOND, t, {epoch})",
        "date": f"cast(timestampadd(MICROSECOND, t, {epoch}) as date)",
    }
    df = longs.withColumn("t", F.expr(expressions.get(kind, f"cast(t as {kind})")))
    functions = {"n": wf.count(), "total": wf.sum("x")}
    bound = T.TimestampType() if kind == "timestamp" else T.TimestampNTZType()
    result = wr.stream(df).event_time("t").window(model).agg(**functions).to_df()
    assert result.schema["window_start"].dataType == bound
    table = result.toArrow()
    bounds = [table[c].cast("int64").to_pylist() for c in ("window_start", "window_end")]
    others = [table[c].to_pylist() for c in ("window_id", "n", "total")]
    got = sorted(zip(others[0], *bounds, *others[1:], strict=True))
    windows = oracle.windows(model, rows, time="t")
    wanted = [(w.id, w.start, w.end, len(w.rows), sum(r["x"] for r in w.rows)) for w in windows]
    assert got == sorted(wanted), f"{kind}, {model}"


def test_event_times_of_every_type_in_every_zone(spark: SparkSession, zone: str) -> None:
    models: list[WindowModel] = [
        wr.SessionWindow("1 hour"),
        wr.TimeWindow("1 day", origin=3_600_000_000),
        wr.TimeWindow("1 day", "8 hours"),
    ]
    kinds = ["timestamp", "timestamp_ntz", "date", "bigint", "int"]
    run_all(functools.partial(check_times, spark, kind, m) for kind in kinds for m in models)


def test_function_sees_the_bounds_in_the_kind_of_the_event_time(
    spark: SparkSession, zone: str
) -> None:
    df = stream_of(spark, [(1_711_846_800_000_000,)], "t bigint")
    df = df.withColumn("ts", F.timestamp_micros("t"))

    def bounds(w: wr.Window) -> dict[str, Any]:
        return {"start": str(w.start), "end": str(w.end), "at": str(w["ts"][0])}

    model = wr.TimeWindow("1 hour")
    returns = "start string, end string, at string"
    (of_timestamps,) = (
        wr.stream(df).event_time("ts").window(model).apply(bounds, returns).to_df().collect()
    )
    assert of_timestamps["start"] == "2024-03-31T01:00:00.000000"
    assert of_timestamps["end"] == "2024-03-31T02:00:00.000000"
    assert of_timestamps["at"] == "2024-03-31T01:00:00.000000"
    (of_longs,) = (
        wr.stream(df).event_time("t").window(model).apply(bounds, returns).to_df().collect()
    )
    assert of_longs["start"] == "1711846800000000"


NUMBERS: dict[str, list[Any]] = {
    "tinyint": [100, 100, -128, None, 7, 100],
    "smallint": [30_000, 30_000, None, -5, 1, 0],
    "int": [2**31 - 1, 2**31 - 1, None, -1, 5, 5],
    "bigint": [2**53 + 1, None, -7, 2**40, 3, 3],
    "float": [0.5, None, -2.25, 1e10, 0.0, 4.0],
    "double": [0.1, None, -2.2, 1e15, 0.3, 4.4],
    "decimal(10,2)": [Decimal("0.10"), None, Decimal("-99999999.99"), Decimal("5.00"), None, None],
    "decimal(30,5)": [Decimal("1.10000"), None, Decimal(10**24), Decimal("-3.5"), None, None],
}


@PATHS
def test_numbers_of_every_type(spark: SparkSession, model: WindowModel) -> None:
    names = [f"v{i}" for i in range(len(NUMBERS))]
    columns = list(NUMBERS.values())
    rows = [
        {"t": i, **{n: c[i * 7 % len(c)] for n, c in zip(names, columns, strict=True)}}
        for i in range(20)
    ]
    kinds = ", ".join(f"{n} {kind}" for n, kind in zip(names, NUMBERS, strict=True))
    df = stream_of(spark, [tuple(r.values()) for r in rows], f"t bigint, {kinds}")
    functions: dict[str, Any] = {}
    for name in names:
        for function in (wf.sum, wf.mean, wf.min, wf.max):
            functions[f"{function.__name__}_{name}"] = function(name)
    result = wr.stream(df).event_time("t").window(model).agg(**functions).to_df()
    types = {name: kind for name, kind in result.dtypes}
    for name, kind in zip(names, NUMBERS, strict=True):
        total, mean = "bigint" if kind.endswith("int") else "double", "double"
        if kind == "decimal(10,2)":
            total, mean = "decimal(20,2)", "decimal(14,6)"
        elif kind == "decimal(30,5)":
            total, mean = "decimal(38,5)", "decimal(34,9)"
        assert (types[f"sum_{name}"], types[f"mean_{name}"]) == (total, mean)
        assert types[f"min_{name}"] == types[f"max_{name}"] == kind
    wanted = expected(oracle.windows(model, rows, time="t"), aggregates(functions))
    assert_same(by_window(result), wanted)


@PATHS
def test_numbers_alone_may_have_their_panes_in_spark(
    spark: SparkSession, model: WindowModel
) -> None:
    rows = [
        {"t": i, "x": [1, None, -3][i % 3], "y": [None, 0.1, NAN, -0.0][i % 4]} for i in range(20)
    ]
    df = stream_of(spark, [tuple(r.values()) for r in rows], "t bigint, x int, y float")
    for row in rows:
        row["y"] = 0.10000000149011612 if row["y"] == 0.1 else row["y"]
    functions: dict[str, Any] = {
        f"{function.__name__}_{c}": function(c)
        for c in "xy"
        for function in (wf.count, wf.sum, wf.mean, wf.min, wf.max)
    }
    result = wr.stream(df).event_time("t").window(model).agg(**functions).to_df()
    wanted = expected(oracle.windows(model, rows, time="t"), aggregates(functions))
    assert_same(by_window(result), wanted)


MOMENTS: list[Any] = [
    dt.datetime(2024, 1, 2, 3, 4, 5, 6),
    None,
    dt.datetime(1969, 12, 31, 23),
    dt.datetime(2030, 1, 1),
]
OTHERS: dict[str, list[Any]] = {
    "string": ["b", None, "a", "ü", "", "a"],
    "date": [dt.date(2024, 1, 2), None, dt.date(1969, 12, 31), dt.date(2024, 1, 2)],
    "timestamp": MOMENTS,
    "timestamp_ntz": MOMENTS,
    "boolean": [True, None, False, True],
}


def others(spark: SparkSession) -> tuple[DataFrame, list[dict[str, Any]]]:
    """A column, named as its type, for each type of values that are no numbers."""
    rows = [
        {"t": i, **{kind: values[i * i // 2 % len(values)] for kind, values in OTHERS.items()}}
        for i in range(24)
    ]
    schema = "t bigint, " + ", ".join(f"`{kind}` {kind}" for kind in OTHERS)
    return stream_of(spark, [tuple(r.values()) for r in rows], schema), rows


@PATHS
@pytest.mark.parametrize("kind", OTHERS)
def test_extremes_of_what_is_no_number(spark: SparkSession, model: WindowModel, kind: str) -> None:
    df, rows = others(spark)
    functions: dict[str, Any] = {
        "least": wf.min(kind),
        "most": wf.max(kind),
        "n": wf.count(kind),
    }
    result = wr.stream(df).event_time("t").window(model).agg(**functions).to_df()
    assert dict(result.dtypes)["least"] == kind
    wanted = expected(oracle.windows(model, rows, time="t"), aggregates(functions))
    assert_same(by_window(result), wanted)


@PATHS
def test_values_that_are_no_numbers(spark: SparkSession, model: WindowModel) -> None:
    df, rows = others(spark)
    functions: dict[str, Any] = {}
    for kind in OTHERS:
        functions |= {
            f"first_{kind}": wf.first(kind),
            f"latest_{kind}": wf.last(kind, ignore_nulls=True),
            f"mode_{kind}": wf.mode(kind),
            f"distinct_{kind}": wf.count_distinct(kind),
            f"collected_{kind}": wf.collect(kind),
            f"least_{kind}": wf.min(kind),
            f"most_{kind}": wf.max(kind),
        }
    result = wr.stream(df).event_time("t").window(model).agg(**functions).to_df()
    for kind in OTHERS:
        assert dict(result.dtypes)[f"collected_{kind}"] == f"array<{kind}>"
    wanted = expected(oracle.windows(model, rows, time="t"), aggregates(functions))
    assert_same(by_window(result), wanted)


def test_function_takes_and_returns_arrays_structs_and_maps(spark: SparkSession) -> None:
    rows = [(i, [float(i), i / 2], {"a": i}, (i, "s")) for i in range(4)]
    schema = "t bigint, v array<double>, m map<string,int>, s struct<a:int,b:string>"

    def totals(w: wr.Window) -> dict[str, Any]:
        return {
            "sums": [float(v.sum()) for v in w["v"]],
            "pair": {"a": len(w), "b": w["s"][0]["b"]},
            "counts": {"n": len(w)},
        }

    df = stream_of(spark, rows, schema)
    returns = "sums array<double>, pair struct<a:int,b:string>, counts map<string,bigint>"
    query = wr.stream(df).event_time("t").window(wr.CountWindow(2)).apply(totals, returns)
    first, second = query.ordered().to_df().collect()
    assert first["sums"] == [0.0, 1.5]
    assert second["sums"] == [3.0, 4.5]
    assert first["pair"].asDict() == {"a": 2, "b": "s"}
    assert first["counts"] == {"n": 2}


@PATHS
def test_columns_may_have_any_names(spark: SparkSession, model: WindowModel) -> None:
    rows = [{"a.b": "pq"[i % 2], "t`s": i, "x y.z": i, "`": -i} for i in range(20)]
    plain = stream_of(spark, [tuple(r.values()) for r in rows], "k string, t bigint, x int, o int")
    df = plain.toDF("a.b", "t`s", "x y.z", "`")
    functions: dict[str, Any] = {"total.x": wf.sum("x y.z"), "`n": wf.count("`")}
    query = wr.stream(df).key_by("a.b").event_time("t`s").order_by("`").window(model)
    result = query.agg(**functions).to_df()
    assert result.columns == ["a.b", "window_id", "window_start", "window_end", "total.x", "`n"]
    windows = oracle.windows(model, rows, key=["a.b"], time="t`s", order_by=["`"])
    renamed = result.toDF("k", *result.columns[1:4], "total", "n")
    assert_same(by_window(renamed, ["k"]), expected(windows, aggregates(functions)))


@PATHS
def test_columns_named_like_the_ones_in_between_are_the_users(
    spark: SparkSession, model: WindowModel
) -> None:
    names = ["windrow_since", "windrow_start", "slot", "c0"]
    rows = [{"t": i, **dict.fromkeys(names, i * i)} for i in range(20)]
    schema = "t bigint, " + ", ".join(f"{n} int" for n in names)
    df = stream_of(spark, [tuple(r.values()) for r in rows], schema)
    functions: dict[str, Any] = {f"s_{n}": wf.sum(n) for n in names}
    functions["windrow_start"] = wf.max("windrow_start")
    result = wr.stream(df).event_time("t").window(model).agg(**functions).to_df()
    wanted = expected(oracle.windows(model, rows, time="t"), aggregates(functions))
    assert_same(by_window(result), wanted)


@PATHS
def test_schema_is_exact_before_anything_runs(spark: SparkSession, model: WindowModel) -> None:
    """Evaluating a row would fail."""
    never = F.raise_error(F.lit("evaluated"))
    pair = T.StructType(
        [T.StructField("a", T.IntegerType(), False), T.StructField("b c", T.StringType())]
    )
    schema = T.StructType(
        [
            T.StructField("k", T.StringType(), False),
            T.StructField("p", pair),
            T.StructField("ts", T.TimestampType()),
            T.StructField("x", T.DecimalType(10, 2)),
        ]
    )
    rows = [("a", (1, "b"), dt.datetime(2024, 1, 1), Decimal(1))]
    df = spark.createDataFrame(rows, schema).withColumn("x", never.cast("decimal(10,2)"))
    query = wr.stream(df).key_by("k", "p").event_time("ts").window(model)
    result = query.agg(n=wf.count(), total=wf.sum("x"), mean=wf.mean("x"), most=wf.max("x")).to_df()
    bound = T.LongType() if isinstance(model, wr.CountWindow) else T.TimestampType()
    assert result.schema == T.StructType(
        [
            T.StructField("k", T.StringType(), False),
            T.StructField("p", pair),
            T.StructField("window_id", T.LongType(), False),
            T.StructField("window_start", bound, False),
            T.StructField("window_end", bound, False),
            T.StructField("n", T.LongType(), False),
            T.StructField("total", T.DecimalType(20, 2)),
            T.StructField("mean", T.DecimalType(14, 6)),
            T.StructField("most", T.DecimalType(10, 2)),
        ]
    )
    with pytest.raises(Exception, match="evaluated"):
        result.collect()


def test_columns_a_function_of_the_window_cannot_see_are_refused_when_the_query_is_built(
    spark: SparkSession,
) -> None:
    df = stream_of(spark, [(1,)], "t bigint").withColumn("v", F.parse_json(F.lit("1")))
    with pytest.raises(wr.WindrowError, match="'v'"):
        wr.stream(df).event_time("t").window(wr.CountWindow(2)).apply(len, "n int")  # type: ignore[arg-type]
