"""Everything wrong with a query is said when it is built."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql.types import DoubleType, LongType, StructField, StructType

import windrow as wr
from windrow import functions as wf
from windrow.core import WindowModel

TABLE = {
    "symbol": np.array(["a", "b"]),
    "ts": np.array([0, 1], "datetime64[us]"),
    "seq": np.array([0, 1]),
    "price": np.array([1.0, 2.0]),
}


def quotes() -> Any:
    return wr.stream(TABLE).key_by("symbol").event_time("ts", delay="2 seconds")


def seconds() -> Any:
    return quotes().window(wr.TimeWindow("1 s"))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: wr.stream(pa.table(TABLE).to_reader()),
            r"got RecordBatchReader.*reader.read_all\(\)",
        ),
        (lambda: wr.stream(TABLE).key_by("symbl"), r"key_by: column not found: 'symbl'.*symbol"),
        (lambda: wr.stream(TABLE).key_by(), "key_by needs the name of a column"),
        (lambda: wr.stream(TABLE).key_by("seq", "seq"), "key_by names a column twice"),
        (lambda: wr.stream(TABLE).key_by("SEQ"), r"column not found: 'SEQ'.*\['seq'\]"),
        (
            lambda: wr.stream({"windrow.time": [1]}),
            r"must not begin with 'windrow\.'; got 'windrow\.time'",
        ),
        (
            lambda: wr.stream({"k": [{"a": [1]}]}).key_by("k"),
            r"a key must be of plain values, or of structs of them; got 'k' of struct<a:array",
        ),
        (lambda: wr.stream({"k": [None]}).order_by("k"), "order_by takes columns of plain values"),
        (lambda: quotes().key_by(3), "key_by takes names of columns; got 3"),
        (lambda: wr.stream(TABLE).event_time("time"), "event_time: column not found: 'time'"),
        (lambda: wr.stream(TABLE).event_time("price"), "got 'price' of double"),
        (lambda: wr.stream(TABLE).event_time("ts", delay="-1 s"), "must not be negative"),
        (lambda: wr.stream(TABLE).event_time("ts", delay="soon"), "got delay='soon'"),
        (lambda: quotes().order_by("sek"), "order_by: column not found: 'sek'.*seq"),
        (lambda: quotes().window("1 s"), "window takes a window model; got '1 s'"),
        (
            lambda: quotes().window(wr.TimeWindow("1 s"), open_windows="keep"),
            "got open_windows='keep'",
        ),
        (lambda: quotes().window(wr.DeltaWindow("pric", 1, 1)), "DeltaWindow: column not found"),
        (lambda: quotes().window(wr.DeltaWindow("symbol", 1, 1)), "got 'symbol' of string"),
        (lambda: seconds().agg(), "agg needs a function"),
        (lambda: seconds().agg(n=3), "for 'n'; got 3"),
        (lambda: seconds().agg(s=wf.sum("prices")), "s: column not found: 'prices'.*price"),
        (lambda: seconds().agg(s=wf.sum("symbol")), "sum takes numeric columns"),
        (lambda: seconds().agg(symbol=wf.count()), "got 'symbol'"),
        (lambda: seconds().apply(3, "a double"), "apply needs a function for function; got 3"),
        (lambda: seconds().apply(len, "a doubel"), "a type must be a Spark SQL type; got 'doubel'"),
        (lambda: seconds().apply(len, "symbol string"), "got 'symbol'"),
        (lambda: seconds().fold(None, 0, "a int"), "fold needs a function for update"),
        (lambda: seconds().using("KeyFarm"), "using takes a pattern; got 'KeyFarm'"),
        (lambda: wr.stream([1, 2]), "stream takes a Spark DataFrame.*got list"),
        (lambda: wr.stream({"a": [1], "b": [1, 2]}), "must have the same length"),
        (lambda: wr.stream({"a": np.zeros((2, 2))}), "must be one-dimensional"),
        (lambda: quotes().collect(), "the query has no window"),
        (lambda: seconds().collect(), "the query computes nothing"),
        (lambda: seconds().agg(n=wf.count()).to_df(), "call collect\\(\\) instead"),
        (
            lambda: seconds().agg(n=wf.count()).check_checkpoint("somewhere"),
            "only a streaming query has a checkpoint",
        ),
        (lambda: seconds().agg(n=wf.count()).explain("spark"), "needs a query over a DataFrame"),
        (lambda: seconds().agg(n=wf.count()).explain("all"), "got mode='all'"),
        (lambda: quotes().event_time("seq", unit="min"), "must be \"s\".*got unit='min'"),
        (lambda: quotes().event_time("seq", unit=["s"]), r"got unit=\['s'\]"),
        (
            lambda: wr.stream(TABLE).event_time("ts", unit="ms"),
            "only integer times can have a unit; got unit='ms' for 'ts' of timestamp_ntz",
        ),
    ],
)
def test_bad_query_is_refused_when_built(build: Callable[[], Any], message: str) -> None:
    with pytest.raises(wr.WindrowError, match=f"(?s){message}"):
        build()


def test_key_named_like_a_window_column_is_refused() -> None:
    query = wr.stream({"window_id": [1]}).key_by("window_id").window(wr.CountWindow(1))
    with pytest.raises(wr.WindrowError, match="key column must not be named"):
        query.agg(n=wf.count())


TIMED = [
    wr.TimeWindow("1 s"),
    wr.SlideByTupleWindow("1 s", 2),
    wr.SlideByTimeWindow(2, "1 s"),
    wr.SessionWindow("1 s"),
    wr.LandmarkWindow("1 s", "1 s"),
]


@pytest.mark.parametrize("model", TIMED)
def test_windows_in_time_need_event_time(model: WindowModel) -> None:
    with pytest.raises(wr.WindrowError, match="needs an event time"):
        wr.stream(TABLE).window(model).agg(n=wf.count())


FCA = [wr.SlideByTupleWindow("1 s", 2), wr.SlideByTimeWindow(2, "1 s"), wr.DeltaWindow("seq", 1, 1)]


@pytest.mark.parametrize("model", [*FCA, wr.SessionWindow("1 s")])
def test_active_window_farms_need_context_free_windows(model: WindowModel) -> None:
    query = quotes().window(model).agg(n=wf.count())
    with pytest.raises(wr.WindrowError, match='workers="agnostic"'):
        query.using(wr.WinFarm(2))
    assert query.using(wr.WinFarm(2, workers="agnostic")).pattern is not None


@pytest.mark.parametrize("pattern", [wr.PaneFarm(2, 2), wr.WinMapReduce(2, 2)])
@pytest.mark.parametrize("outer", [None, wr.KeyFarm, wr.WinFarm])
def test_pane_patterns_refuse_opaque_functions(pattern: Any, outer: Any) -> None:
    nested = outer(2, pattern) if outer else pattern
    opaque = seconds().apply(lambda w: {"n": len(w)}, "n int")
    with pytest.raises(wr.WindrowError, match="opaque function"):
        opaque.using(nested)
    with pytest.raises(wr.WindrowError, match="opaque function"):
        seconds().using(nested).fold(lambda acc, row: acc + 1, 0, "n int")


@pytest.mark.parametrize("model", [*FCA, wr.SessionWindow("1 s")])
def test_pane_farm_needs_panes(model: WindowModel) -> None:
    with pytest.raises(wr.WindrowError, match="panes of gcd"):
        quotes().window(model).agg(n=wf.count()).using(wr.PaneFarm(2, 2))


def test_returns_may_be_a_struct_type() -> None:
    fields = StructType([StructField("n", LongType()), StructField("mean", DoubleType())])
    count = seconds().fold(lambda n, row: n + 1, 0, LongType())
    both = seconds().apply(lambda w: {"n": len(w), "mean": w["price"].mean()}, fields)
    assert count.collect()["value"].to_pylist() == [1, 1]
    assert both.collect().select(["n", "mean"]).to_pydict() == {"n": [1, 1], "mean": [1.0, 2.0]}


def test_queries_are_immutable() -> None:
    base = seconds()
    first, second = base.agg(n=wf.count()), base.agg(s=wf.sum("price"))
    assert base.computation is None
    assert first.computation != second.computation
    with pytest.raises(AttributeError):
        base.keys = ()


def test_explain_names_window_function_and_pattern(capsys: pytest.CaptureFixture[str]) -> None:
    seconds().agg(n=wf.count()).using(wr.KeyFarm(4)).explain()
    printed = capsys.readouterr().out
    assert 'TimeWindow("1 s"), CF' in printed
    assert "n=Count()" in printed
    assert "KeyFarm(4)" in printed


def test_case_matters_in_tables() -> None:
    both = {"a": [1, 2], "A": [3, 3]}
    counted = wr.stream(both).key_by("a", "A").window(wr.CountWindow(1))
    result = counted.agg(n=wf.count(), N=wf.sum("A"), Window_ID=wf.max("a")).collect()
    assert result.column_names[:2] == ["a", "A"] and result.column_names[-3:] == [
        "n",
        "N",
        "Window_ID",
    ]
    assert result.sort_by("a")["N"].to_pylist() == [3, 3]
    joined = wr.join(both, both, within=2, on=wr.equi("a")).collect()
    assert joined.column_names == ["left_a", "left_A", "right_a", "right_A"]
    with pytest.raises(wr.WindrowError, match="column not found: 'B'"):
        wr.stream({"b": [1]}).key_by("B")
