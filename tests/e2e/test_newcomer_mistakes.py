"""What newcomers get wrong first: every message says what to do instead.

Mistakes in sessions, settings and interpreters are tried in ``tests/spark/test_own_session.py`` and
``tests/unit/spark/test_interpreter.py``, those with checkpoints in
``tests/spark/test_streaming_state.py``.
"""

from __future__ import annotations

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
    program = "import windrow as wr; print(wr.local_spark(cores=1).range(3).count())"
    done = subprocess.run([sys.executable, "-c", program], env=dict(os.environ), **_TEXT)
    assert (done.stdout, done.stderr) == ("3\n", "")


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
