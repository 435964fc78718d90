"""Columns of every type in the roles that Spark has no counterpart for, and what is accepted."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import windrow as wr
from tests.spark.accepted_types import ACCEPTED
from tests.spark.arrivals import Arrivals, finished, results_of, start
from tests.spark.every_type import Type, known_atoms, length_of, rows, with_columns
from tests.spark.test_every_type import (
    FUNCTIONS,
    assert_same,
    is_accepted,
    spark_settings,
    values,
    with_texts,
)
from windrow import functions as wf

__all__ = ["spark_settings"]
pytestmark = pytest.mark.spark

ONE = wr.CountWindow(1)
PATTERN_OF_ROWS = wr.WinFarm(2)


class Roles:
    """Which columns are accepted in which role."""

    def __init__(self, df: DataFrame) -> None:
        self.df, self.stream, self.kinds = df, wr.stream(df), dict(df.dtypes)
        windowed = self.stream.event_time("t").window(wr.CountWindow(2))
        self.roles: dict[str, Callable[[str], Any]] = {
            "key_by": self.stream.key_by,
            "order_by": self.stream.order_by,
            "event_time": self.stream.event_time,
            "delta": lambda c: self.stream.window(wr.DeltaWindow(c, 1, 1)).agg(n=wf.count()),
            "fold": lambda c: self.returning([c]).fold(kept, None, self.fields([c])),
            "equi": lambda c: self.joined(wr.equi(c), c),
            "band": lambda c: self.joined(self.band([c]), c),
            "join": lambda c: self.joined(wr.equi("t"), c),
        }
        for name, (function, _) in FUNCTIONS.items():
            self.roles[name] = partial(taken, windowed, function)

    def accepted(self, role: str) -> list[str]:
        columns = [c for c in self.df.columns if c != "t"]
        return [c for c in columns if is_accepted(self.roles[role], c)]

    def returning(self, columns: list[str], df: DataFrame | None = None) -> Any:
        """Windows of one row that see only these columns."""
        source = (self.df if df is None else df).select("t", *columns)
        return wr.stream(source).event_time("t").window(ONE)

    def fields(self, columns: list[str]) -> str:
        return ", ".join(f"{c} {self.kinds[c]}" for c in columns)

    def band(self, columns: list[str]) -> Any:
        moments = ("date", "timestamp", "timestamp_ntz")
        return wr.band(**{c: "0 s" if self.kinds[c] in moments else 0 for c in columns})

    def joined(self, on: Any, *columns: str) -> wr.Join:
        side = self.df.select("t", *(c for c in columns if c != "t"))
        return wr.join(side, side, within=10**6, on=on)


def taken(windowed: Any, function: Callable[[str], Any], column: str) -> Any:
    return windowed.agg(v=function(column))


def kept(before: Any, row: Any) -> Any:
    return {name: value for name, value in row.items() if name != "t"}


def seen(window: wr.Window) -> dict[str, Any]:
    return {name: window[name][0] for name in window.columns if name != "t"}


def only(parts: list[Any]) -> Any:
    return parts[0]


@pytest.fixture(scope="module")
def atoms(spark: SparkSession, spark_settings: None) -> list[Type]:
    return known_atoms(spark)


@pytest.fixture(scope="module")
def roles(spark: SparkSession, atoms: list[Type]) -> Roles:
    return Roles(rows(spark, atoms, repeats=1))


def test_what_is_accepted_stays_accepted_and_nothing_else_is(roles: Roles) -> None:
    found = {role: {roles.kinds[c] for c in roles.accepted(role)} for role in roles.roles}
    known = set(roles.kinds.values())
    assert found == {role: types & known for role, types in ACCEPTED.items()}


def test_functions_see_and_return_values_as_they_are(roles: Roles) -> None:
    """A float that is null is shown as NaN, so that it comes back as NaN from ``apply``."""
    columns = roles.accepted("fold")
    fields = roles.fields(columns)
    wanted = roles.df.select(*columns).toArrow()
    floats = [c for c in columns if roles.kinds[c] in ("float", "double")]
    shown = {c: F.coalesce(c, F.lit(float("nan")).cast(roles.kinds[c])) for c in floats}
    wanted_shown = roles.df.withColumns(shown).select(*columns).toArrow()
    made: dict[str, Callable[[Any], Any]] = {
        "fold": lambda windows: windows.fold(kept, None, fields),
        "apply": lambda windows: windows.apply(seen, fields),
        "decompose": lambda windows: windows.decompose(
            partial=seen, combine=only, partial_returns=fields, returns=fields
        ),
    }
    table = roles.df.select("t", *columns).toArrow()
    for name, compute in made.items():
        expected = wanted if name == "fold" else wanted_shown
        on_spark = compute(roles.returning(columns)).using(PATTERN_OF_ROWS).to_df()
        assert_same(on_spark.select(*columns).toArrow(), expected, name)
        in_process = compute(wr.stream(table).event_time("t").window(ONE)).collect()
        assert_same(in_process.select(columns), expected, f"{name} in process")


def test_compared_columns_meet_as_in_spark(roles: Roles) -> None:
    """All columns at once: rows differ in one column, so each of them decides."""
    df = roles.df
    equal, near = roles.accepted("equi"), roles.accepted("band")

    def same(left: Any, right: Any) -> Any:
        alike = left["t"] == right["t"]
        for c in equal:
            pairs = zip(left[c][alike], right[c][alike], strict=True)
            assert all(a is b or a == b or (a != a and b != b) for a, b in pairs), c
        return alike

    other = df.toDF(*(f"r_{c}" for c in df.columns))
    floats = [c for c in near if roles.kinds[c] in ("float", "double")]
    is_near = F.expr(" and ".join([f"{c} = r_{c}" for c in near]))
    for c in floats:
        is_near &= ~F.isnan(c) & (F.abs(F.col(c)) != float("inf"))
    conditions: dict[str, tuple[Any, Any, list[str]]] = {
        "equi": (wr.equi(*equal), F.expr(" and ".join(f"{c} = r_{c}" for c in equal)), equal),
        "band": (roles.band(near), is_near, near),
        "theta": (wr.theta(same), F.expr("t = r_t"), equal),
    }
    for name, (on, condition, columns) in conditions.items():
        pairs = df.join(other, condition).select("t", "r_t").toArrow()
        assert len(pairs) > 2, name
        found = roles.joined(on, *columns).to_df().select("left_t", "right_t").toArrow()
        assert values(found) == values(pairs), name
        side = with_texts(df).select("t", *columns).toArrow()
        in_process = wr.join(side, side, within=10**6, on=on).collect()
        assert values(in_process.select(["left_t", "right_t"])) == values(pairs), name


def test_functions_without_a_form_in_spark_equal_the_oracle(roles: Roles) -> None:
    kinds = roles.kinds
    numbers = [c for c in roles.accepted("sum") if kinds[c] not in ("float", "double")]
    functions: dict[str, Any] = {}
    for c in numbers:
        functions[f"line_{c}"] = wf.linear_regression(c, "t")
        functions[f"fit_{c}"] = wf.polynomial_fit(c, "t", 1)
        functions[f"sky_{c}"] = wf.skyline(c, "t")
    table = roles.df.select("t", *numbers).toArrow()
    n = len(table)
    window = table.to_pylist()
    on_spark, in_process = (
        wr.stream(data).order_by("t").window(wr.CountWindow(n)).agg(**functions)
        for data in (roles.df, table)
    )
    for found in (on_spark.to_df().toArrow(), in_process.collect()):
        for name, function in functions.items():
            rows_of = [tuple(row[c] for c in function.columns) for row in window]
            (got,), wanted = found[name].to_pylist(), function.over(rows_of)
            if name.startswith("sky"):
                assert [{k: float(v) for k, v in p.items()} for p in got] == [
                    {k: float(v) for k, v in p.items()} for p in wanted
                ], (name, kinds[function.columns[0]])
            else:
                both = [list(v.values()) if isinstance(v, dict) else v for v in (got, wanted)]
                np.testing.assert_allclose(both[0], both[1], rtol=1e-6, err_msg=name)


def test_a_stream_of_every_type_gives_what_bounded_rows_give(
    spark: SparkSession, atoms: list[Type], roles: Roles, tmp_path: Path
) -> None:
    """Keys and values in one stream, so that what a stream costs is paid once."""
    arrivals = Arrivals(tmp_path / "in", pa.schema([("t", pa.int64())]))
    n = length_of(atoms)
    for first in (0, n):
        arrivals.add([{"t": t} for t in range(first, first + n)])
    stream = with_columns(arrivals.read(spark, "t bigint"), atoms)
    bounded = rows(spark, atoms, repeats=2).coalesce(1)
    keys = roles.accepted("key_by")
    functions = {
        f"{name}_{c}": function(c)
        for name, (function, _) in FUNCTIONS.items()
        for c in roles.accepted(name)
    }

    def both(df: DataFrame) -> DataFrame:
        def named(name: str) -> dict[str, Any]:
            return {"observation": name} if df.isStreaming else {}

        by_key = wr.stream(df).key_by(*keys).order_by("t").window(wr.CountWindow(2))
        whole = wr.stream(df).order_by("t").window(wr.CountWindow(n))
        counted = by_key.agg(least=wf.min("t"), most=wf.max("t")).to_df(**named("keys"))
        found = whole.agg(**functions).to_df(**named("values"))
        return counted.unionByName(found, allowMissingColumns=True)

    query = finished(lambda: start(both(stream), at_once=True))
    got, wanted = (with_texts(df).toArrow() for df in (results_of(query, spark), both(bounded)))
    assert len(got) == n + 2
    assert_same(got, wanted, "a stream")
