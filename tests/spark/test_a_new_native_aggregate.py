"""Functions of a user's own run in Spark where they say how, by public means only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession

import windrow as wr
from tests.spark.results import aggregates, assert_same, by_window, expected
from windrow import functions as wf
from windrow.core import WindowModel, oracle
from windrow.functions.columnar import Values
from windrow.functions.reducible import Reducible, Reduction

pytestmark = pytest.mark.spark


class BitXor(wr.Invertible[int, int, int], wr.Commutative[int, int, int]):
    """The exclusive or of all values, which Spark has too."""

    returns = "bigint"

    def native(self, *inputs: str) -> str | None:
        return "bit_xor({0})"

    def lift(self, value: int) -> int:
        return value

    def combine(self, a: int, b: int) -> int:
        return a ^ b

    def subtract(self, whole: int, older: int) -> int:
        return whole ^ older

    def lower(self, partial: int) -> int:
        return partial


class Heaviest(wr.Commutative[Any, Any, str]):
    """The name that comes with the greatest weight, the latest of several: a form with order."""

    returns = "string"
    takes_position = True

    def native(self, *inputs: str) -> str | None:
        is_known = "filter (where {0} is not null and {1} is not null)"
        return "max_by({0}, struct({1}, {order})) " + is_known

    def lift(self, value: Any) -> Any:
        position, name, weight = value
        return weight, position, name

    def combine(self, a: Any, b: Any) -> Any:
        return max(a, b)

    def lower(self, partial: Any) -> str:
        name: str = partial[2]
        return name


class Spread(wr.Commutative[int, tuple[int, int], int], Reducible):
    """The greatest value less the least: made of reductions, so that panes are numbers."""

    returns = "bigint"
    reductions = Reduction("count", 0), Reduction("min", 0), Reduction("max", 0)

    def lift(self, value: int) -> tuple[int, int]:
        return value, value

    def combine(self, a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
        return min(a[0], b[0]), max(a[1], b[1])

    def lower(self, partial: tuple[int, int]) -> int:
        return partial[1] - partial[0]

    def lower_reductions(self, partials: Sequence[NDArray[Any]]) -> Values:
        counts, least, most = partials
        return Values.where(counts > 0, most - least)


TUMBLING, SLIDING = wr.TimeWindow("10 ms"), wr.TimeWindow("10 ms", "4 ms")
IN_SPARK = "wholly in Spark, as groupBy(key, window)"
PANES = "panes in Spark, as groupBy(key, pane)"
IN_PYTHON = "in Python, on rows packed as Arrow"
Rows = list[dict[str, Any]]
NAME = "a `name`, {0}"
"""A column whose name needs quotes."""


@pytest.fixture(scope="module")
def rows() -> Rows:
    draw = np.random.default_rng(3)
    return [
        {
            "k": ["a", "b", None][draw.integers(3)],
            "t": int(draw.integers(-30, 50)) * 1000,
            "seq": i,
            "x": None if i % 7 == 0 else int(draw.integers(-(2**40), 2**40)),
            NAME: [None, "p", "q", "r"][draw.integers(4)],
        }
        for i in range(200)
    ] + [{"k": "a", "t": 90_000, "seq": 200, "x": None, NAME: None}]


@pytest.mark.parametrize(
    ("functions", "model", "says"),
    [
        ({"xor": BitXor("x")}, TUMBLING, IN_SPARK),
        ({"xor": BitXor("x"), "heaviest": Heaviest(NAME, "x")}, TUMBLING, IN_SPARK),
        ({"xor": BitXor("x"), "heaviest": Heaviest(NAME, "x")}, SLIDING, IN_PYTHON),
        ({"spread": Spread("x"), "named": wf.count(NAME)}, SLIDING, PANES),
        ({"spread": Spread("x")}, wr.LandmarkWindow("20 ms", "5 ms"), PANES),
        ({"spread": Spread("x"), "xor": BitXor("x")}, SLIDING, IN_PYTHON),
    ],
)
def test_own_functions_run_where_they_can_and_equal_the_oracle(
    spark: SparkSession,
    capsys: pytest.CaptureFixture[str],
    rows: Rows,
    functions: dict[str, Any],
    model: WindowModel,
    says: str,
) -> None:
    schema = f"k string, t bigint, seq int, x bigint, `{NAME.replace('`', '``')}` string"
    df: DataFrame = spark.createDataFrame([tuple(r.values()) for r in rows], schema)
    query = wr.stream(df).key_by("k").event_time("t").order_by("seq").window(model)
    query = query.agg(**functions)
    query.explain()
    assert says in capsys.readouterr().out
    result = query.to_df()
    result.explain()
    plan = capsys.readouterr().out
    assert ("MapInArrow" in plan) is (says != IN_SPARK)
    assert says != IN_SPARK or "Python" not in plan
    windows = oracle.windows(model, rows, key=["k"], time="t", order_by=["seq"])
    assert_same(by_window(result, ["k"]), expected(windows, aggregates(functions)), functions)


def test_a_template_of_other_columns_is_refused(spark: SparkSession) -> None:
    class Wrong(BitXor):
        def native(self, *inputs: str) -> str | None:
            return "bit_xor({1})"

    df = spark.createDataFrame([(0, 1)], "t bigint, x bigint")
    query = wr.stream(df).event_time("t").window(TUMBLING).agg(xor=Wrong("x"))
    with pytest.raises(wr.WindrowError) as refused:
        query.to_df()
    assert str(refused.value) == (
        "native of Wrong('x') must be a template of its columns and {order}; "
        "got 'bit_xor({1})'.\nHint: write {0} for its first column, {{ and }} for braces."
    )
