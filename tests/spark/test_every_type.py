"""Columns of every type in every role: Spark's own result on all paths, or refused when built."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

import windrow as wr
from tests.effort import examples
from tests.spark.every_type import Type, known_atoms, rows, types
from tests.spark.results import plain
from windrow import functions as wf
from windrow.engine.columns.held import as_held

pytestmark = pytest.mark.spark

LENGTH = 16
SETTINGS = {
    "spark.sql.session.timeZone": "America/New_York",
    "spark.sql.preserveCharVarcharTypeInfo": "true",
    "spark.sql.timeType.enabled": "true",
}
PATTERNS = [
    wr.WinSeq(),
    wr.WinFarm(2, workers="agnostic"),
    wr.PaneFarm(2, 2),
    wr.WinMapReduce(2, 2),
]
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
    "mean": (wf.mean, F.avg),
    "var": (wf.var, F.var_samp),
    "stddev": (wf.stddev, F.stddev_samp),
    "median": (wf.median, lambda c: F.percentile(c, 0.5)),
    "quantile": (partial(wf.quantile, q=0.25), lambda c: F.percentile(c, 0.25)),
    "first_known": (partial(wf.first, ignore_nulls=True), lambda c: F.min_by(c, _known("t", c))),
    "last_known": (partial(wf.last, ignore_nulls=True), lambda c: F.max_by(c, _known("t", c))),
    "arg_min": (partial(wf.arg_min, "t"), lambda c: F.min(_known(F.struct(c, "t"), c))["t"]),
    "arg_max": (
        partial(wf.arg_max, "t"),
        lambda c: -F.max(_known(F.struct(F.col(c), (-F.col("t")).alias("t")), c))["t"],
    ),
    "top_k": (
        partial(wf.top_k, k=2),
        lambda c: F.slice(F.sort_array(F.collect_list(c), asc=False), 1, 2),
    ),
    "ohlc": (
        wf.ohlc,
        lambda c: F.struct(
            F.min_by(c, _known("t", c)).alias("open"),
            F.max(c).alias("high"),
            F.min(c).alias("low"),
            F.max_by(c, _known("t", c)).alias("close"),
        ),
    ),
}
"""Windrow's function, and Spark's own."""


def _known(value: str | Column, column: str) -> Column:
    value = F.col(value) if isinstance(value, str) else value
    return F.when(F.col(column).isNotNull(), value)


def _in_order(column: str) -> Column:
    pairs = F.collect_list(F.when(F.col(column).isNotNull(), F.struct("t", column)))
    ordered = F.array_sort(pairs, lambda a, b: (a["t"] - b["t"]).cast("int"))
    return F.transform(ordered, lambda pair: pair[column])


@pytest.fixture(scope="module", autouse=True)
def spark_settings(spark: SparkSession) -> Iterator[None]:
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


def values(table: pa.Table) -> list[tuple[str, ...]]:
    """Rows as they can be compared, in an order of their own."""
    columns = [[_shown(v) for v in column.to_pylist()] for column in as_held(table).columns]
    return sorted(zip(*columns, strict=True))


def _shown(value: Any) -> str:
    # The last digits of a sum depend on its order.
    return f"{value + 0.0:.12g}" if isinstance(value, float) else repr(plain(value))


def check_keys(df: DataFrame, columns: list[str]) -> None:
    """All columns that may be keys at once: rows differ in one column, so none hides another."""
    df = df.withColumn("one", F.lit(1))
    stream = wr.stream(df)
    keys = ["one", *(c for c in columns if is_accepted(stream.key_by, c))]
    names = [*keys, "n"]
    wanted = values(df.groupBy(*keys).agg(F.count("*").alias("n")).toArrow())
    n = df.count()
    for model in (wr.CountWindow(n), wr.TimeWindow(n), wr.TimeWindow(2 * n, n)):
        query = stream.key_by(*keys).event_time("t").window(model).agg(n=wf.count())
        assert values(query.to_df().where("window_id = 0").select(names).toArrow()) == wanted, model
    table = df.select("t", *keys).toArrow()
    for pattern in PATTERNS:
        query = wr.stream(table).key_by(*keys).event_time("t").window(wr.CountWindow(n))
        found = query.agg(n=wf.count()).using(pattern).collect()
        assert values(found.select(names)) == wanted, pattern


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
    readable = with_texts(df)
    wanted = readable.groupBy(window).agg(*own).select(names).toArrow()
    for model in (wr.CountWindow(LENGTH), wr.TimeWindow(LENGTH)):
        found = base.window(model).agg(**functions).to_df().select(names).toArrow()
        assert_same(found, wanted, model)
    in_panes = windowed.agg(**functions).using(wr.PaneFarm(2, 2)).to_df()
    assert_same(in_panes.select(names).toArrow(), wanted, "panes on Spark")
    taken = {c for f in functions.values() for c in f.columns} - {"t"}
    table = readable.select("t", *sorted(taken)).toArrow()
    in_process = wr.stream(table).event_time("t").window(wr.CountWindow(LENGTH)).agg(**functions)
    for pattern in PATTERNS:
        assert_same(in_process.using(pattern).collect(), wanted, pattern)


def with_texts(df: DataFrame) -> DataFrame:
    """Strings for varchar and char: Spark itself turns no column of these into Arrow."""
    texts = {c: kind for c, kind in df.dtypes if "char(" in kind}
    cast = {c: F.col(c).cast(re.sub(r"(var)?char\(\d+\)", "string", k)) for c, k in texts.items()}
    return df.withColumns(cast)


def assert_same(got: pa.Table, wanted: pa.Table, what: object) -> None:
    names = [name for name in wanted.column_names if name in got.column_names]
    both = values(got.select(names)), values(wanted.select(names))
    for found, expected in zip(*both, strict=True):
        differ = [x for x in zip(names, found, expected, strict=True) if x[1] != x[2]]
        assert not differ, (what, differ)


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
    rows = found.drop("right_t").collect(), df.select(carried).collect()
    got, wanted = (sorted(tuple(map(_shown, row)) for row in collected) for collected in rows)
    assert got == wanted


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


@settings(examples(2), phases=[Phase.generate])
@given(st.data())
def test_columns_of_nested_types(spark: SparkSession, data: st.DataObject) -> None:
    check_nested(spark, data)


@pytest.mark.campaign
@settings(examples(20), phases=[Phase.generate])
@given(st.data())
def test_many_columns_of_nested_types(spark: SparkSession, data: st.DataObject) -> None:
    check_nested(spark, data)


def check_nested(spark: SparkSession, data: st.DataObject) -> None:
    atoms = [atom for atom in known_atoms(spark) if "char(" not in atom.name]
    columns: list[Type] = data.draw(
        st.lists(types(atoms), min_size=8, max_size=12, unique_by=lambda t: t.name)
    )
    df, names = rows(spark, columns), [f"c{i}" for i in range(len(columns))]
    # Lists of structs with nothing but nulls in a field are more than Spark's own toArrow can do.
    full = [name for name, column in zip(names, columns, strict=True) if "void" not in column.name]
    for check in CHECKS[:-1]:
        check(df, full if check is check_values else names)
