"""What newcomers get wrong first: every message says what to do instead.

Mistakes in sessions, settings and interpreters are tried in ``tests/spark/test_own_session.py`` and
``tests/unit/spark/test_interpreter.py``, those with checkpoints in
``tests/spark/test_streaming_state.py``.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyspark
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import windrow as wr
from tests.spark.arrivals import Arrivals, start
from windrow import functions as wf

TRADES = pa.table(
    {
        "symbol": ["ACME", "EMCA"],
        "ts": pa.array([1_767_605_400_000_000, 1_767_605_401_000_000], pa.timestamp("us")),
        "day": ["2026-01-05", "2026-01-06"],
        "price": [10.0, 50.0],
    }
)
by_symbol: Any = wr.stream(TRADES).key_by("symbol")
windows: Any = by_symbol.window(wr.CountWindow(2))

IN_PROCESS: dict[str, tuple[Callable[[], Any], str]] = {
    "a file name in place of rows": (lambda: wr.stream("trades.parquet"), "wr.scan(path)"),
    "a list of rows": (lambda: wr.stream([{"price": 1.0}]), "pyarrow.Table.from_pylist(rows)"),
    "a pandas DataFrame": (
        lambda: wr.stream(TRADES.to_pandas()),
        "pyarrow.Table.from_pandas(df)",
    ),
    "a file that is not there": (lambda: wr.scan("nowhere.parquet"), "no such file"),
    "a CSV file read as Parquet": (lambda: wr.scan("trades.csv"), 'format="csv"'),
    "a column that is not there": (lambda: wr.stream(TRADES).key_by("symbl"), "['symbol']"),
    "a column of the function that is not there": (
        lambda: windows.agg(mean=wf.mean("prise")),
        "did you mean one of these columns: ['price']?",
    ),
    "groupBy": (lambda: wr.stream(TRADES).groupBy("symbol"), "did you mean key_by()?"),
    "a forgotten to_df": (lambda: windows.agg(n=wf.count()).show(), "call to_df() first"),
    "to_df of a table": (lambda: windows.agg(n=wf.count()).to_df(), "call collect() instead"),
    "no window": (lambda: by_symbol.agg(n=wf.count()).collect(), "call window() first"),
    "no function": (lambda: windows.collect(), "call agg(), fold(), apply() or decompose()"),
    "a forgotten event time": (
        lambda: by_symbol.window(wr.TimeWindow("10 s")).agg(n=wf.count()),
        'call event_time("column") before the function',
    ),
    "times as text": (lambda: by_symbol.event_time("day"), "to_timestamp()"),
    "a column without a name": (
        lambda: wr.stream(TRADES).key_by(0),  # type: ignore[arg-type]
        "named by a string",
    ),
    "a list of columns": (
        lambda: wr.stream(TRADES).key_by(["symbol", "day"]),  # type: ignore[arg-type]
        "pass them one by one: 'symbol', 'day'",
    ),
    "a table in place of a path": (lambda: wr.scan(TRADES), "taken by wr.stream(rows)"),
    "a pattern of file names": (lambda: wr.scan("trades/*.parquet"), "glob.glob(pattern)"),
    "a format that there is not": (
        lambda: wr.scan("trades.parquet", format="parket"),
        "did you mean one of these formats: ['parquet']",
    ),
    "a table without columns": (lambda: wr.stream(pa.table({})), 'for example {"price"'),
    "columns of different lengths": (
        lambda: wr.stream({"a": [1, 2], "b": [1]}),
        "must have the same length; got {'a': 2, 'b': 1}",
    ),
    "an empty list of numbers": (
        lambda: wr.stream({"x": []}).window(wr.CountWindow(2)).agg(s=wf.sum("x")),
        "lists without values, have no type",
    ),
    "Spark's name of a window": (lambda: wr.SlidingWindow("10 s"), "did you mean TimeWindow?"),
    "a class in another case": (lambda: wr.Countwindow(2), "did you mean CountWindow?"),
    "a function of another module": (
        lambda: windows.agg(total=wr.sum("price")),
        "did you mean windrow.functions.sum?",
    ),
    "Spark's name of a function": (
        lambda: windows.agg(mean=wf.avg("price")),  # type: ignore[attr-defined]
        "did you mean mean?",
    ),
    "size for length": (lambda: wr.CountWindow(size=10), "did you mean length?"),  # type: ignore[call-arg]
    "hop for slide": (lambda: wr.TimeWindow("10 s", hop="1 s"), "did you mean slide?"),  # type: ignore[call-arg]
    "watermark for delay": (
        lambda: by_symbol.event_time("ts", watermark="5 s"),
        "did you mean delay?",
    ),
    "a number in quotes": (lambda: wr.CountWindow("10"), "write it without quotes: 10"),  # type: ignore[arg-type]
    "a time where rows are counted": (
        lambda: wr.CountWindow("10 s"),  # type: ignore[arg-type]
        "a whole number such as 1000, not a time",
    ),
    "length and slide in the wrong order": (
        lambda: wr.SlideByTupleWindow(100, "1 min"),  # type: ignore[arg-type]
        "not a time",
    ),
    "a unit for timestamps": (
        lambda: by_symbol.event_time("ts", unit="ms"),
        "leave unit out: the type tells it",
    ),
    "a result named as a key": (
        lambda: windows.agg(symbol=wf.count()),
        "choose another name",
    ),
    "a window described by text": (
        lambda: by_symbol.window("count 10"),
        "for example wr.CountWindow(1000, slide=10)",
    ),
    "a column as an attribute": (
        lambda: windows.apply(lambda w: {"m": w.price.max()}, returns="m double").collect(),
        "a column is read as w['price']",
    ),
    "an array for a number": (
        lambda: windows.apply(lambda w: {"m": w["price"]}, returns="m double").collect(),
        "change the declared type or the value",
    ),
    "nothing returned": (
        lambda: windows.apply(lambda w: None, returns="m double").collect(),
        "return [] for no row",
    ),
    "a fold that takes one argument": (
        lambda: windows.fold(lambda row: row, 0.0, "total double"),
        "called with 2 arguments",
    ),
    "percent for a share": (lambda: windows.hint(skew=16), "for example skew=0.16"),
    "a mode of explain that there is not": (
        lambda: windows.agg(n=wf.count()).explain("costs"),
        '"simple", "spark", "cost" or "json"',
    ),
    "a kind of join that is misspelt": (
        lambda: wr.join(
            TRADES, TRADES, within="1 s", time="ts", on=wr.equi("symbol"), how="outter"  # type: ignore[arg-type]
        ),
        'did you mean "outer"?',
    ),
    "predicates combined with and": (
        lambda: wr.join(
            TRADES, TRADES, within="1 s", time="ts",
            on=wr.equi("symbol") and wr.band(price=1.0),
        ),
        "combined with &",
    ),
    "show on a join": (
        lambda: wr.join(TRADES, TRADES, within=2, on=wr.equi("symbol")).show(),
        "call to_df() first",
    ),
    "a unit that is misspelt": (lambda: wr.TimeWindow("10 sconds"), "units are us, ms, s, min"),
    "a duration without a unit": (lambda: wr.TimeWindow("10"), 'write it as "10 ms"'),
    "a fraction of a second": (lambda: wr.TimeWindow("1.5 s"), '"1500 ms", not "1.5 s"'),
    "the class of a window": (
        lambda: by_symbol.window(wr.CountWindow),
        "for example wr.CountWindow(1000, slide=10)",
    ),
    "the class of a pattern": (lambda: windows.using(wr.KeyFarm), "for example wr.KeyFarm(4)"),
    "a function without a name": (lambda: windows.agg(wf.sum("price")), "agg(total=wf.sum("),
    "a function of Spark": (
        lambda: windows.agg(total=F.sum),
        'write it as total=wf.sum("price")',
    ),
    "a function that is not called": (
        lambda: windows.agg(total=wf.sum),
        'call it, for example total=wf.sum("price")',
    ),
    "Spark's dict of functions": (
        lambda: windows.agg({"price": "sum"}),
        "for example agg(total=wf.sum('price'))",
    ),
    "a percentage for a quantile": (lambda: wf.quantile("price", 95), "from 0 to 1"),
    "a sum of text": (lambda: windows.agg(total=wf.sum("day")), "sum takes numeric columns"),
    "a type that is misspelt": (
        lambda: windows.apply(len, returns="n itn"),
        'for example returns="slope double',
    ),
    "no declared type": (lambda: windows.apply(len), "a missing argument: 'returns'"),
    "a value of another type": (
        lambda: windows.apply(lambda w: {"n": "many"}, returns="n int").collect(),
        "change the declared type or the value",
    ),
    "another field than declared": (
        lambda: windows.apply(lambda w: {"m": 1}, returns="n int").collect(),
        "every field that returns declares: 'n' is missing",
    ),
    "a column that the window lacks": (
        lambda: windows.apply(lambda w: {"n": w["prise"].sum()}, returns="n double").collect(),
        "did you mean one of these columns: ['price']?",
    ),
    "a key farm without keys": (
        lambda: wr.stream(TRADES).window(wr.CountWindow(2)).agg(n=wf.count())
        .using(wr.KeyFarm(2)).collect(),
        "call key_by(), or use a WinFarm",
    ),
    "a join on the name of a column": (
        lambda: wr.join(TRADES, TRADES, within="1 s", time="ts", on="symbol"),  # type: ignore[arg-type]
        'for example on=wr.equi("symbol")',
    ),
    "a join without a time": (
        lambda: wr.join(TRADES, TRADES, within="1 s", on=wr.equi("symbol")),
        'pass time="column"',
    ),
    "a predicate of single values": (
        lambda: wr.join(
            TRADES, TRADES, within="1 s", time="ts", on=wr.theta(lambda left, right: True)  # type: ignore[arg-type,return-value]
        ),
        "compare them element by element",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("mistake", "hint"), IN_PROCESS.values(), ids=IN_PROCESS)
def test_message_says_what_to_do(mistake: Callable[[], Any], hint: str) -> None:
    with pytest.raises(wr.WindrowError) as told:
        mistake()
    assert hint in str(told.value)


@pytest.mark.parametrize("name", ["sent_ms", "sent"])
@pytest.mark.parametrize(("unit", "scale"), [("s", 1), ("ms", 1000), ("ns", 10**9)])
def test_integer_times_in_another_unit_than_microseconds_are_told(
    name: str, unit: str, scale: int
) -> None:
    named = name.replace("ms", unit)
    rows = {named: [1_767_605_400 * scale, 1_767_605_401 * scale]}
    with pytest.warns(wr.WindrowWarning, match=f'unit="{unit}"'):
        query = wr.stream(rows).event_time(named).window(wr.TimeWindow("1 s"))
        query.agg(n=wf.count()).collect()


def test_microseconds_of_today_are_taken_without_a_word() -> None:
    rows = {"sent_us": [1_767_605_400_000_000]}
    query = wr.stream(rows).event_time("sent_us").window(wr.TimeWindow("1 s"))
    assert len(query.agg(n=wf.count()).collect()) == 1


def test_local_spark_without_java_says_to_install_it(tmp_path: Path) -> None:
    program = "import windrow as wr; wr.local_spark()"
    without = {"PATH": str(tmp_path), "JAVA_HOME": str(tmp_path), "HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], env=without, **_TEXT)
    assert "Spark needs Java 17 or newer" in done.stderr
    assert "install it and set JAVA_HOME" in done.stderr


def test_an_old_pyspark_is_refused_by_version(monkeypatch: pytest.MonkeyPatch) -> None:
    class OldFrame:
        __module__ = "pyspark.sql.dataframe"

    monkeypatch.setattr(pyspark, "__version__", "3.5.6")
    with pytest.raises(wr.WindrowError, match=r"PySpark 4\.0 or newer; got 3\.5\.6") as told:
        wr.stream(OldFrame())
    assert 'pip install "pyspark>=4.0"' in str(told.value)


@pytest.mark.spark
def test_local_spark_starts_without_a_word() -> None:
    program = """
import windrow as wr
from pyspark.errors import AnalysisException
from pyspark.sql import functions as F
df = wr.local_spark(cores=1).range(3)
print(df.count())
try:
    wr.stream(df).key_by(F.col("idd"))
except AnalysisException as error:
    print("`id`" in str(error))
"""
    done = subprocess.run([sys.executable, "-c", program], env=dict(os.environ), **_TEXT)
    assert (done.stdout, done.stderr) == ("3\nTrue\n", "")


_TEXT: dict[str, Any] = {"capture_output": True, "text": True, "timeout": 300}


@pytest.fixture(scope="module")
def df(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([("ACME", 1, 10.0)], "symbol string, seq int, price double")


@pytest.mark.spark
def test_aggregates_of_spark_are_told_apart(df: DataFrame) -> None:
    query = wr.stream(df).window(wr.CountWindow(2))
    for given in ((F.sum("price"),), ()):
        named: Any = {} if given else {"total": F.sum("price")}
        with pytest.raises(wr.WindrowError, match=r"wf\.sum\("):
            query.agg(*given, **named)


@pytest.mark.spark
def test_what_is_no_dataframe_of_spark_is_refused(df: DataFrame) -> None:
    for given in (df.groupBy("symbol"), df["symbol"], df.rdd):
        with pytest.raises(wr.WindrowError, match="pass a DataFrame: keys are named by key_by"):
            wr.stream(given)


@pytest.mark.spark
def test_columns_that_are_there_twice_or_not_at_all_are_named(df: DataFrame) -> None:
    joined = df.alias("a").join(df.alias("b"), "symbol")
    with pytest.raises(wr.WindrowError, match=r"distinct names; got \['seq'\] twice"):
        wr.stream(joined)
    with pytest.raises(wr.WindrowError, match=r"did you mean .*\['symbol'\]"):
        wr.stream(df).key_by("a.symbol")


@pytest.mark.spark
def test_a_table_is_not_joined_with_a_dataframe(df: DataFrame) -> None:
    with pytest.raises(wr.WindrowError, match=r"spark\.createDataFrame\(table\)"):
        wr.join(df, TRADES, within=2, on=wr.equi("symbol"))


@pytest.mark.spark
@pytest.mark.parametrize("port", ["4050", 99_999, -1])
def test_a_port_that_is_none_is_refused(spark: SparkSession, port: Any) -> None:
    with pytest.raises(wr.WindrowError, match="0 takes any free port"):
        wr.monitor(spark, port=port)


@pytest.mark.spark
def test_collect_over_a_dataframe_names_to_df(df: DataFrame) -> None:
    query = wr.stream(df).window(wr.CountWindow(2)).agg(n=wf.count())
    with pytest.raises(wr.WindrowError, match=r"call to_df\(\) instead"):
        query.collect()


@pytest.mark.spark
@pytest.mark.parametrize("is_stream", [False, True])
def test_functions_that_cannot_be_sent_are_refused_before_the_job(
    spark: SparkSession, df: DataFrame, is_stream: bool
) -> None:
    rows = spark.readStream.format("rate").load() if is_stream else df
    query = wr.stream(rows).window(wr.CountWindow(2))
    lock = threading.Lock()
    with pytest.raises(wr.WindrowError, match=r"make locks, .* inside of the function"):
        query.apply(lambda w: {"n": int(lock.locked())}, returns="n int").to_df()
    with pytest.raises(wr.WindrowError, match="do not use the Spark session"):
        query.apply(lambda w: {"n": spark.range(1).count()}, returns="n int").to_df()


@pytest.mark.spark
def test_the_output_mode_complete_is_refused_at_the_start(spark: SparkSession) -> None:
    rows = spark.readStream.format("rate").load()
    counts = wr.stream(rows).event_time("timestamp").window(wr.CountWindow(2)).agg(n=wf.count())
    with pytest.raises(AnalysisException, match="output mode: complete"):
        counts.to_df().writeStream.outputMode("complete").format("noop").start()


@pytest.mark.spark
@pytest.mark.campaign
def test_the_mode_update_is_taken_and_complete_of_an_aggregation(
    spark: SparkSession, tmp_path: Path
) -> None:
    arrivals = Arrivals(tmp_path / "rows", pa.schema([("x", pa.int64())]))
    arrivals.add([{"x": x} for x in range(7)])
    rows = wr.stream(arrivals.read(spark, "x long")).window(wr.CountWindow(2)).using(wr.WinSeq())
    totals = rows.agg(total=wf.sum("x")).to_df().select("window_id", "total")
    newest = totals.groupBy().agg(F.max_by("total", "window_id"))
    for results, mode, wanted in [
        (totals, "update", [(0, 1), (1, 5), (2, 9)]),
        (newest, "complete", [(9,)]),
    ]:
        writer = results.writeStream.outputMode(mode).format("memory").queryName(f"in_{mode}")
        writer.trigger(availableNow=True).start().awaitTermination()
        assert sorted(map(tuple, spark.table(f"in_{mode}").collect())) == wanted


@pytest.mark.spark
def test_a_stream_whose_watermark_stands_still_says_so_in_the_log(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    told = threading.Event()

    class Heard(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            told.set()

    arrivals = Arrivals(tmp_path / "rows", pa.schema([("seconds", pa.int64())]))
    for _ in range(4):
        arrivals.add([{"seconds": 1_767_605_400}])
    counts = wr.stream(arrivals.read(spark, "seconds long")).event_time("seconds", unit="s")
    results = counts.window(wr.TimeWindow("10 s")).agg(n=wf.count()).to_df()
    handler = Heard(logging.WARNING)
    logging.getLogger("windrow").addHandler(handler)
    running = start(results)
    try:
        assert told.wait(120)
    finally:
        running.stop()
        logging.getLogger("windrow").removeHandler(handler)
    (said,) = [r.getMessage() for r in caplog.records if "no window" in r.getMessage()]
    assert "it stands still at 2026-01-05 09:30:00" in said
    assert "send them, wait less with event_time(delay=...)" in said
