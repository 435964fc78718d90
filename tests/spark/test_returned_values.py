"""What a window shows comes back through Spark; what does not fit is named there, too."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors.exceptions.base import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

import windrow as wr
from tests.spark.arrivals import Arrivals, start, streamed
from windrow import functions as wf

pytestmark = pytest.mark.spark

DAY = dt.datetime(2024, 1, 1)
SCHEMA = (
    "k string, ts timestamp, ntz timestamp_ntz, day date, i bigint, cost decimal(10,2), "
    "took interval day to second, days array<date>"
)
ROWS: list[dict[str, Any]] = [
    {
        "k": "a",
        "ts": DAY.replace(tzinfo=dt.UTC),
        "ntz": DAY,
        "day": DAY.date(),
        "i": 7,
        "cost": Decimal("1.25"),
        "took": dt.timedelta(minutes=1),
        "days": [DAY.date()],
    },
    {"k": "a", "ts": (DAY + dt.timedelta(hours=1)).replace(tzinfo=dt.UTC)},
    {"k": "b", "ts": (DAY + dt.timedelta(days=9)).replace(tzinfo=dt.UTC)},
]
ARROW = pa.schema(
    {
        "k": pa.string(),
        "ts": pa.timestamp("us", "UTC"),
        "ntz": pa.timestamp("us"),
        "day": pa.date32(),
        "i": pa.int64(),
        "cost": pa.decimal128(10, 2),
        "took": pa.duration("us"),
        "days": pa.list_(pa.date32()),
    }
)
NAMES = ["ts", "ntz", "day", "i", "cost", "took", "days"]
RETURNS = (
    f"{SCHEMA.removeprefix('k string, ')}, starts timestamp, all_ts array<timestamp>, "
    "nested struct<at:timestamp,days:array<date>>, span interval day to second"
)


def shown(w: wr.Window) -> dict[str, Any]:
    """The first row's values and the second's, which are null, times and what is made of them."""
    return {
        **{name: w[name][0] for name in NAMES},
        "starts": w.start,
        "all_ts": w["ts"],
        "nested": {"at": w["ts"][-1], "days": list(w["day"])},
        "span": w["ts"][-1] - w["ts"][0],
    }


def wrong(w: wr.Window) -> dict[str, Any]:
    return {"v": [{"at": w["k"][0]}]}


def windows_of(df: DataFrame) -> wr.Query:
    query = wr.stream(df).key_by("k").event_time("ts").window(wr.TimeWindow("1 day"))
    return query.using(wr.WinSeq())


def check(results: DataFrame) -> None:
    first = next(r.asDict(recursive=True) for r in results.collect() if r["k"] == "a")
    wanted = {name: ROWS[0][name] for name in NAMES} | {"ts": DAY}
    assert {name: first[name] for name in NAMES} == wanted
    assert first["starts"] == DAY
    assert first["all_ts"] == [DAY, DAY + dt.timedelta(hours=1)]
    assert first["nested"] == {"at": DAY + dt.timedelta(hours=1), "days": [DAY.date(), None]}
    assert first["span"] == dt.timedelta(hours=1)


def test_what_a_window_shows_can_be_returned_on_spark(spark: SparkSession, tmp_path: Path) -> None:
    arrivals = Arrivals(tmp_path / "in", ARROW)
    arrivals.add(ROWS)
    bounded = spark.read.schema(SCHEMA).parquet(str(tmp_path / "in"))
    check(windows_of(bounded).apply(shown, RETURNS).to_df())
    results, _ = streamed(windows_of(arrivals.read(spark, SCHEMA)).apply(shown, RETURNS).to_df())
    check(results)


def test_what_does_not_fit_is_named_on_a_stream(spark: SparkSession, tmp_path: Path) -> None:
    arrivals = Arrivals(tmp_path / "in", ARROW)
    arrivals.add(ROWS)
    query = windows_of(arrivals.read(spark, SCHEMA))
    failing = query.apply(wrong, "v array<struct<at:timestamp>>").to_df()
    with pytest.raises(StreamingQueryException) as raised:
        start(failing, at_once=True).awaitTermination()
    said = str(raised.value)
    assert "wrong must return array<struct<at:timestamp>> for 'v'; got [{'at': 'a'}]" in said
    assert "for window 19723 of key 'a' [2024-01-01" in said


def test_fields_of_any_name_come_back_from_spark(spark: SparkSession) -> None:
    names = ["a,b", "a:b", "a.b", "a`b", "a b", "größe"]
    point = [f"double(id) as `{name.replace('`', '``')}`" for name in names]
    df = spark.range(2).selectExpr(*point).selectExpr("*", "struct(*) as point")
    query = wr.stream(df.coalesce(1)).window(wr.CountWindow(2))
    functions = {"best": wf.skyline(*names), "all": wf.collect("point")}
    (row,) = query.agg(**functions).to_df().collect()
    assert [r.asDict() for r in row["best"]] == [dict.fromkeys(names, 0.0)]
    assert [r.asDict() for r in row["all"]] == [dict.fromkeys(names, i) for i in (0.0, 1.0)]
