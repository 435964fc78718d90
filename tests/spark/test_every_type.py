"""Columns of every type in every role: Spark's own result on all paths, or refused when built."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

import windrow as wr
from tests.effort import examples
from tests.spark.every_type import Type, known_atoms, rows, types
from tests.spark.results import plain
from windrow import functions as wf

pytestmark = pytest.mark.spark

LENGTH = 16
SETTINGS = {
    "spark.sql.session.timeZone": "America/New_York",
    "spark.sql.preserveCharVarcharTypeInfo": "true",
    "spark.sql.timeType.enabled": "true",
}
FUNCTIONS: dict[str, tuple[Callable[[str], Any], Callable[[str], Column]]] = {
    "count": (wf.count, F.count),
    "first": (wf.first, lambda c: F.min_by(c, "t")),
    "last": (wf.last, lambda c: F.max_by(c, "t")),
    "collect": (wf.collect, lambda c: _in_order(c)),
    "min": (wf.min, F.min),
    "max": (wf.max, F.max),
    "mode": (wf.mode, lambda c: F.mode(c, True)),
    "count_distinct": (wf.count_distinct, F.count_distinct),
    "sum": (wf.sum, F.sum),
    "mean": (wf.mean, lambda c: F.avg(F.col(c).cast("double"))),
}
"""Windrow's function, and Spark's own."""


def _in_order(column: str) -> Column:
    pairs = F.collect_list(F.when(F.col(column).isNotNull(), F.struct("t", column)))
    ordered = F.array_sort(pairs, lambda a, b: (a["t"] - b["t"]).cast("int"))
    return F.transform(ordered, lambda pair: pair[column])


@pytest.fixture(scope="module", autouse=True)
def settings(spark: SparkSession) -> Iterator[None]:
    before = {name: spark.conf.get(name, None) for name in SETTINGS}
    for name, value in SETTINGS.items():
        spark.conf.set(name, value)
    yield
    for name, was in before.items():
        spark.conf.unset(name) if was is None else spark.conf.set(name, was)


def is_accepted(build: Callable[..., Any], *columns: Any, **functions: Any) -> bool:
    """Whether a query can be built; it may be refused only with an error of ours."""
    try:
        build(*columns, **functions)
    except wr.WindrowError:
        return False
    return True


def values(found: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Rows as they can be compared; instants as in Spark, whatever zone they are shown in."""
    return [tuple(_shown(v) for v in row) for row in found]


def _shown(value: Any) -> str:
    # The last digits of a mean depend on the order in which it was summed up.
    return f"{value + 0.0:.12g}" if isinstance(value, float) else repr(plain(value))


def check_keys(df: DataFrame, columns: list[str]) -> None:
    """All columns that may be keys at once: rows differ in one column, so none hides another."""
    stream = wr.stream(df)
    keys = [c for c in columns if is_accepted(stream.key_by, c)]
    wanted = Counter({row[:-1]: row[-1] for row in values(df.groupBy(*keys).count().collect())})
    n = df.count()
    for model in (wr.CountWindow(n), wr.TimeWindow(n), wr.TimeWindow(2 * n, n)):
        query = stream.key_by(*keys).event_time("t").window(model).agg(n=wf.count())
        found = query.to_df().where("window_id = 0").select(*keys, "n").collect()
        assert Counter({row[:-1]: row[-1] for row in values(found)}) == wanted, model
    table = df.select("t", *keys).toArrow()
    query = wr.stream(table).key_by(*keys).event_time("t").window(wr.CountWindow(n))
    assert query.agg(n=wf.count()).collect().num_rows == len(wanted)


def check_order(df: DataFrame, columns: list[str]) -> None:
    stream = wr.stream(df)
    order = [c for c in columns if is_accepted(stream.order_by, c)]
    wanted = [row["t"] for row in df.orderBy(*order, "t").select("t").collect()]
    everything = wr.CountWindow(len(wanted))
    query = stream.order_by(*order, "t").window(everything).agg(order=wf.collect("t"))
    (row,) = query.to_df().collect()
    assert row["order"] == wanted
    ends = stream.event_time(F.lit(0).cast("bigint").alias("now")).order_by(*order, "t")
    (row,) = ends.window(wr.TimeWindow(1)).agg(a=wf.first("t"), b=wf.last("t")).to_df().collect()
    assert [row["a"], row["b"]] == [wanted[0], wanted[-1]]
    query = wr.stream(df.select("t", *order).toArrow()).order_by(*order, "t").window(everything)
    assert query.agg(order=wf.collect("t")).collect()["order"].to_pylist() == [wanted]


def check_values(df: DataFrame, columns: list[str]) -> None:
    base = wr.stream(df).event_time("t")
    windowed = base.window(wr.CountWindow(LENGTH))
    functions: dict[str, Any] = {}
    own: list[Column] = []
    for column in columns:
        for name, (function, of_spark) in FUNCTIONS.items():
            if is_accepted(windowed.agg, a=function(column)):
                functions[f"{name}_{column}"] = function(column)
                own.append(of_spark(column).alias(f"{name}_{column}"))
    window = F.expr(f"t div {LENGTH}").alias("window_id")
    names = ["window_id", *functions]
    wanted = sorted(values(df.groupBy(window).agg(*own).select(names).collect()))
    for model in (wr.CountWindow(LENGTH), wr.TimeWindow(LENGTH)):
        found = base.window(model).agg(**functions).to_df().select(names).collect()
        for got, expected in zip(sorted(values(found)), wanted, strict=True):
            differ = [x for x in zip(names, got, expected, strict=True) if x[1] != x[2]]
            assert not differ, (model, differ)


def check_payload(df: DataFrame, columns: list[str]) -> None:
    """All columns that a join can carry come out of it as they went in."""

    def joined(names: list[str]) -> wr.Join:
        side = df.select("t", *names)
        return wr.join(side, df.select("t"), within="1 us", on=wr.equi("t"), time="t")

    carried = ["t", *(c for c in columns if is_accepted(joined, [c]))]
    found = joined(carried[1:]).to_df()
    assert [f.dataType for f in found.drop("right_t").schema] == [
        f.dataType for f in df.select(carried).schema
    ]
    wanted = sorted(values(df.select(carried).collect()))
    assert sorted(values(found.drop("right_t").collect())) == wanted


def check_times(df: DataFrame, columns: list[str]) -> None:
    stream = wr.stream(df)
    taken = [c for c in columns if is_accepted(stream.event_time, c)]
    kinds = {dict(df.dtypes)[c] for c in taken}
    assert kinds == {"int", "bigint", "date", "timestamp", "timestamp_ntz"}


CHECKS = [check_keys, check_order, check_values, check_payload, check_times]


@pytest.mark.parametrize("check", CHECKS)
def test_columns_of_every_plain_type(
    spark: SparkSession, check: Callable[[DataFrame, list[str]], None]
) -> None:
    atoms = known_atoms(spark)
    check(rows(spark, atoms), [f"c{i}" for i in range(len(atoms))])


@examples(2)
@given(st.data())
def test_columns_of_nested_types(spark: SparkSession, data: st.DataObject) -> None:
    columns: list[Type] = data.draw(
        st.lists(types(known_atoms(spark)), min_size=8, max_size=12, unique_by=lambda t: t.name)
    )
    df, names = rows(spark, columns), [f"c{i}" for i in range(len(columns))]
    for check in CHECKS[:-1]:
        check(df, names)
