"""What a user is told when an action fails in a worker."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import DataFrame, Observation, SparkSession

import windrow as wr
from windrow import functions as wf
from windrow.core import WindowModel
from windrow.patterns import Pattern

pytestmark = pytest.mark.spark

PATTERNS: list[Pattern] = [
    wr.KeyFarm(2),
    wr.WinFarm(2, workers="agnostic", level=2),
]


@pytest.fixture(scope="module")
def df(spark: SparkSession) -> DataFrame:
    rows: list[Any] = [("ab"[i % 2], i * 1000, i) for i in range(20)]
    rows += [("a", None, 0), ("b", None, 1), (None, None, 2)]
    return spark.createDataFrame(
        spark.sparkContext.parallelize(rows, 1), "k string, t bigint, x int"
    )


def message_of(query: wr.Query) -> str:
    """What the user gets from an action."""
    with pytest.raises(Exception, match="WindrowError") as failed:
        query.to_df().collect()
    return str(failed.value)


def windows_of(df: DataFrame) -> wr.Query:
    """On one worker, for each that fails has to be started anew."""
    return wr.stream(df).key_by("k").event_time("t").window(wr.CountWindow(4)).using(wr.WinSeq())


def test_missing_field_is_named(df: DataFrame) -> None:
    query = windows_of(df).apply(lambda w: {"n": len(w)}, "n int, total double")
    assert "every field that returns declares: 'total' is missing" in message_of(query)


def test_unknown_field_is_named(df: DataFrame) -> None:
    query = windows_of(df).apply(lambda w: {"n": len(w), "totl": 1.0}, "n int")
    assert "a field that returns does not declare: 'totl'" in message_of(query)


def test_field_of_the_wrong_type_is_named(df: DataFrame) -> None:
    query = windows_of(df).apply(lambda w: {"n": len(w), "total": "many"}, "n int, total double")
    assert "<lambda> must return double for 'total'; got 'many' for window" in message_of(query)


def test_field_of_a_partial_of_the_wrong_type_is_named(df: DataFrame) -> None:
    query = windows_of(df).decompose(
        partial=lambda w: {"piece": "many"},
        combine=lambda parts: {"n": len(parts)},
        partial_returns="piece double",
        returns="n int",
    )
    said = message_of(query.using(wr.PaneFarm(2, 2, level=2)))
    assert "<lambda> must return double for 'piece'; got 'many' for window" in said


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda p: p.name)
def test_failing_function_is_named_with_key_window_and_bounds(
    df: DataFrame, pattern: Pattern
) -> None:
    def divide(w: wr.Window) -> dict[str, Any]:
        return {"n": 1 // int(w["x"][0] - 9)}

    said = message_of(windows_of(df).apply(divide, "n int").using(pattern))
    assert "divide failed on window 1 of key 'b' [4, 8) with 4 rows" in said
    assert "ZeroDivisionError: integer division or modulo by zero" in said


def test_failing_fold_is_named(df: DataFrame) -> None:
    def update(acc: int, row: Any) -> int:
        return acc + 1 // int(row["x"] - 19)

    said = message_of(windows_of(df).fold(update, 0, "n int"))
    assert "update failed on window 2 of key 'b' [8, 12)" in said


class Picky(wr.Commutative[int, int, int]):
    """An aggregate that does not take 13."""

    returns = "int"

    def lift(self, value: int) -> int:
        if value == 13:
            raise ValueError("unlucky")
        return value

    def combine(self, a: int, b: int) -> int:
        return a + b

    def lower(self, partial: int) -> int:
        return partial


@pytest.mark.parametrize("pattern", [*PATTERNS, wr.PaneFarm(2, 2)], ids=lambda p: p.name)
def test_failing_aggregate_is_named(df: DataFrame, pattern: Pattern) -> None:
    said = message_of(windows_of(df).agg(s=Picky("x")).using(pattern))
    assert "Picky('x') failed on window 1 of key 'b' [4, 8)" in said
    assert "ValueError: unlucky" in said


def test_decreasing_delta_attribute_names_the_key(df: DataFrame) -> None:
    falling = df.selectExpr("k", "t", "if(k = 'b', -x, x) as d")
    query = windows_of(falling).window(wr.DeltaWindow("d", 4, 2))
    said = message_of(query.agg(n=wf.count()))
    assert "'d'" in said
    assert "key 'b'" in said or "'b'" in said


MODELS: list[WindowModel] = [
    wr.TimeWindow("4 ms"),
    wr.TimeWindow("4 ms", "2 ms"),
    wr.CountWindow(4),
    wr.DeltaWindow("x", 4, 2),
]


@pytest.mark.parametrize("partial", ["emit", "drop"])
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_rows_without_a_time_are_dropped_and_counted(
    df: DataFrame, model: WindowModel, partial: Any
) -> None:
    observation = Observation("lost")
    query = wr.stream(df).key_by("k").event_time("t").window(model, open_windows=partial)
    rows = query.agg(n=wf.count()).to_df(observation=observation).collect()
    assert rows
    assert {r["k"] for r in rows} == {"a", "b"}
    assert observation.get == {"dropped": 3}


def test_rows_without_a_delta_attribute_are_counted_too(df: DataFrame) -> None:
    holes = df.selectExpr("k", "t", "if(x % 5 = 0, null, if(x % 5 = 1, double('nan'), x)) as d")
    observation = Observation()
    query = wr.stream(holes).key_by("k").event_time("t").window(wr.DeltaWindow("d", 4, 2))
    assert query.agg(n=wf.count()).to_df(observation=observation).collect()
    without_time, null, nan = 3, 4, 4
    assert observation.get == {"dropped": without_time + null + nan}


def test_nothing_is_dropped_where_no_time_is_needed(df: DataFrame) -> None:
    observation = Observation()
    query = wr.stream(df).window(wr.CountWindow(100)).agg(n=wf.count())
    assert [r["n"] for r in query.to_df(observation=observation).collect()] == [23]
    assert observation.get == {"dropped": 0}


def test_rows_without_a_time_are_counted_in_joins_of_bounded_frames(df: DataFrame) -> None:
    def counted(observation: Observation) -> DataFrame:
        joined = wr.join(df, df, within="4 ms", on=wr.equi("k"), time="t")
        return joined.to_df(observation=observation)

    named, unnamed = Observation("lost"), Observation()
    for observation in (named, unnamed):
        assert counted(observation).collect()
        assert observation.get == {"dropped": 6}
    joined = wr.join(df, df, within=2, on=wr.equi("k"))
    assert joined.to_df(observation=(timeless := Observation())).collect()
    assert timeless.get == {"dropped": 0}
    with pytest.raises(wr.WindrowError, match="on a bounded DataFrame observation takes an Obs"):
        joined.to_df(observation="lost")


@pytest.mark.parametrize("observation", [3, True, ["lost"], Observation])
def test_an_observation_of_the_wrong_type_is_refused(df: DataFrame, observation: Any) -> None:
    windows = wr.stream(df).window(wr.CountWindow(2)).agg(n=wf.count())
    joined = wr.join(df, df, within=2, on=wr.equi("k"))
    for to_df in (windows.to_df, joined.to_df):
        with pytest.raises(wr.WindrowError, match="on a bounded DataFrame observation takes an"):
            to_df(observation=observation)
