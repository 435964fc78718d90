"""Joins of DataFrames, bounded, streaming or one of each, give the oracle's rows."""

from __future__ import annotations

import functools
import itertools
import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pyspark
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

import windrow as wr
from tests.spark.results import run_all
from windrow.core import oracle
from windrow.spark.release import is_at_least

pytestmark = pytest.mark.spark
takes_bounded_sides = pytest.mark.skipif(
    not is_at_least((4, 1), pyspark.__version__),
    reason="Spark 4.0 drops the columns of rows that are there from the start, so it is refused",
)

SCHEMA = "i bigint, k string, t bigint, a bigint, b double"
ARROW = pa.schema(
    [
        ("i", pa.int64()),
        ("k", pa.string()),
        ("t", pa.int64()),
        ("a", pa.int64()),
        ("b", pa.float64()),
    ]
)
DELAY = 8_000
LATER = 10_000_000_000
Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Case:
    """A join, and its predicate of two tuples for the oracle."""

    on: Callable[[], wr.Predicate]
    holds: Callable[[Any, Any], bool]
    within: Any = ("5 ms", "2 ms")
    how: Any = "inner"
    options: dict[str, Any] = field(default_factory=dict)


def near(column: str, below: float, above: float) -> Callable[[Any, Any], bool]:
    def holds(x: Any, y: Any) -> bool:
        known = x[column] is not None and y[column] is not None
        return known and -below <= y[column] - x[column] <= above

    return holds


def same_key(x: Any, y: Any) -> bool:
    return x["k"] is not None and x["k"] == y["k"]


def both(*conditions: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    return lambda x, y: all(holds(x, y) for holds in conditions)


def small_sum(left: Any, right: Any) -> Any:
    return left["a"] + right["a"] < 300


def sums_to_little(x: Any, y: Any) -> bool:
    return x["a"] is not None and y["a"] is not None and x["a"] + y["a"] < 300


CASES: dict[str, Case] = {
    "bands, partitioned": Case(
        lambda: wr.band(a=40, b=(20.0, 60.0)), both(near("a", 40, 40), near("b", 20, 60))
    ),
    "theta on a grid": Case(
        lambda: wr.theta(small_sum), sums_to_little, options={"layout": (2, 2)}
    ),
    "equality, full outer": Case(
        lambda: wr.equi("k") & wr.band(a=50), both(same_key, near("a", 50, 50)), how="full_outer"
    ),
    "band on a linear grid, left outer": Case(
        lambda: wr.band(a=30),
        near("a", 30, 30),
        within="4 ms",
        how="left_outer",
        options={"layout": "linear", "degree": 3},
    ),
    "equality, semi": Case(lambda: wr.equi("k"), same_key, within="1 ms", how="semi"),
    "theta on a grid, anti": Case(
        lambda: wr.theta(small_sum),
        sums_to_little,
        within="1 ms",
        how="anti",
        options={"layout": (1, 3)},
    ),
    "by count": Case(lambda: wr.equi("k"), same_key, within=(20, 5)),
    "by count on a grid": Case(
        lambda: wr.band(a=30), near("a", 30, 30), within=15, options={"layout": (2, 2)}
    ),
    "centralised": Case(
        lambda: wr.band(a=30), near("a", 30, 30), options={"strategy": "centralised", "degree": 2}
    ),
    "centralised, full outer": Case(
        lambda: wr.equi("k") & wr.band(a=30),
        both(same_key, near("a", 30, 30)),
        how="full_outer",
        options={"strategy": "centralised", "degree": 2},
    ),
    "handshake": Case(
        lambda: wr.equi("k") & wr.theta(small_sum),
        both(same_key, sums_to_little),
        options={"strategy": "handshake", "degree": 3},
    ),
}


def tuples(n: int, seed: int) -> Rows:
    """Disordered within the delay, with ties and nulls; at last one that lets all windows close."""
    draw = np.random.default_rng(seed)
    times = np.sort(draw.choice(200, n)) * 1000 + 10_000_000
    order = np.argsort(times + draw.integers(0, DELAY, n), kind="stable")
    rows: Rows = [
        {
            "i": i,
            "k": None if i % 17 == 0 else "abc"[draw.integers(3)],
            "t": int(t),
            "a": None if i % 13 == 0 else int(draw.integers(0, 500)),
            "b": None if i % 11 == 0 else float(draw.normal(0, 50)),
        }
        for i, t in enumerate(times[order])
    ]
    return [*rows, {"i": -1, "k": None, "t": LATER, "a": None, "b": None}]


@dataclass(frozen=True)
class Sides:
    """The tuples of both sides, as DataFrames."""

    spark: SparkSession
    rows: tuple[Rows, Rows]
    folder: Path

    def bounded(self, side: int) -> DataFrame:
        return self.spark.read.schema(SCHEMA).parquet(str(self.folder / f"{side}"))

    def streamed(self, side: int) -> DataFrame:
        reader = self.spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        return reader.parquet(str(self.folder / f"{side}"))

    def scanned(self, side: int) -> wr.Query:
        """The same stream, whose files tasks read."""
        return wr.scan_stream(self.spark, self.folder / f"{side}", "parquet", 1, schema=ARROW)


@pytest.fixture(scope="module")
def sides(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Sides:
    folder = tmp_path_factory.mktemp("joins")
    rows = tuples(150, 1), tuples(120, 2)
    for side, own in enumerate(rows):
        (folder / f"{side}").mkdir()
        table = pa.Table.from_pylist(own)
        # The last batch brings the tuple that lets all windows close.
        cuts = [0, 40 + 20 * side, 90, len(own) - 1, len(own)]
        for n, (start, end) in enumerate(itertools.pairwise(cuts)):
            file = folder / f"{side}" / f"{n}.parquet"
            pq.write_table(table.slice(start, end - start), file)
            # Streams read files in the order of their times.
            os.utime(file, (n, n))
    return Sides(spark, rows, folder)


def expected(sides: Sides, case: Case) -> Counter[Any]:
    """The oracle's rows, but for the last tuples, whose windows never close."""
    own = [[row for row in rows if row["i"] >= 0] for rows in sides.rows]
    left, right = own
    found = oracle.join(left, right, case.holds, within=case.within, time="t", how=case.how)
    return Counter((x and x["i"], y and y["i"]) for x, y in found)


def rows_of(df: DataFrame) -> Counter[Any]:
    names = [name for name in ("left_i", "right_i") if name in df.columns]
    found = [tuple(row) for row in df.select(*names).collect()]
    padded = [(*row, None) if len(row) == 1 else row for row in found]
    return Counter(row for row in padded if -1 not in row)


def joined(case: Case, left: DataFrame | wr.Query, right: DataFrame | wr.Query) -> DataFrame:
    return wr.join(
        left,
        right,
        within=case.within,
        on=case.on(),
        time="t",
        delay=DELAY,
        how=case.how,
        **case.options,
    ).to_df()


def streamed(df: DataFrame, checkpoint: Path) -> Counter[Any]:
    """All results of a stream."""
    name = f"joined_{abs(hash(checkpoint))}"
    writer = df.writeStream.format("memory").queryName(name)
    writer = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True)
    writer.start().awaitTermination()
    return rows_of(df.sparkSession.table(name))


@pytest.mark.parametrize("name", CASES)
def test_bounded_and_streamed_joins_are_the_oracles(
    sides: Sides, name: str, tmp_path: Path
) -> None:
    case = CASES[name]
    wanted = expected(sides, case)
    assert len(wanted) > 20

    def bounded() -> None:
        df = joined(case, sides.bounded(0), sides.bounded(1))
        assert not df.isStreaming
        assert rows_of(df) == wanted

    def stream() -> None:
        df = joined(case, sides.streamed(0), sides.streamed(1))
        assert df.isStreaming
        assert streamed(df, tmp_path / "both") == wanted

    run_all([bounded, stream])


def test_streams_are_not_joined_with_bounded_rows_on_spark_4_0(
    sides: Sides, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its optimiser drops their columns."""
    monkeypatch.setattr(pyspark, "__version__", "4.0.5")
    with pytest.raises(wr.WindrowError, match=r"needs PySpark 4\.1 or newer; got 4\.0\.5"):
        joined(CASES["by count"], sides.streamed(0), sides.bounded(1))


@takes_bounded_sides
@pytest.mark.parametrize("side", [0, 1])
def test_a_bounded_side_is_there_from_the_start(sides: Sides, side: int, tmp_path: Path) -> None:
    def check(name: str) -> None:
        case = CASES[name]
        made = [sides.streamed(0), sides.streamed(1)]
        made[side] = sides.bounded(side)
        found = streamed(joined(case, *made), tmp_path / name)
        assert found == expected(sides, case), name

    names = ("theta on a grid", "equality, full outer", "by count")
    run_all([functools.partial(check, name) for name in names])


def test_streams_of_files_are_joined_with_each_other(sides: Sides, tmp_path: Path) -> None:
    case = CASES["by count"]
    made = joined(case, sides.scanned(0), sides.scanned(1))
    assert streamed(made, tmp_path) == expected(sides, case)


@takes_bounded_sides
def test_streams_of_files_are_joined_with_bounded_rows(sides: Sides, tmp_path: Path) -> None:
    case = CASES["equality, semi"]
    made = joined(case, sides.scanned(0), sides.bounded(1))
    assert streamed(made, tmp_path) == expected(sides, case)


def test_what_cannot_be_joined_with_a_stream_of_files_is_refused(
    spark: SparkSession, sides: Sides, capsys: pytest.CaptureFixture[str]
) -> None:
    how: dict[str, Any] = {"within": "1 s", "on": wr.equi("k"), "time": "t"}
    files = sides.scanned(0)
    for other, message in (
        (files.key_by("k"), "takes rows, not a query with further steps"),
        (wr.scan(sides.folder / "1"), "a dataset cannot be joined with a stream"),
        ({"k": ["a"], "t": [1]}, "both sides of a join must be"),
    ):
        with pytest.raises(wr.WindrowError, match=message):
            wr.join(files, other, **how)
    join = wr.join(files, sides.bounded(1), **how)
    with pytest.raises(wr.WindrowError, match="call to_df"):
        join.collect()
    with pytest.raises(wr.WindrowError, match="the stream's own session"):
        join.to_df(spark.newSession())
    join.explain()
    said = capsys.readouterr().out
    assert f"left: files in file:{sides.folder / '0'}, at most 1 per batch: columns i, k" in said
    assert "right: with Spark's reader: it is joined with a stream" in said
    scanned = wr.join(wr.scan(sides.folder / "0"), wr.scan(sides.folder / "1"), **how).collect()
    assert len(scanned)


def test_a_stream_goes_on_from_its_checkpoint_and_refuses_that_of_another(
    spark: SparkSession, sides: Sides, tmp_path: Path
) -> None:
    """The batches come one at a time, each to a query started anew, read by Spark or by tasks."""
    case = CASES["equality, full outer"]
    for side in (0, 1):
        (tmp_path / f"{side}").mkdir()
    streams = Sides(spark, sides.rows, tmp_path)

    def write(case: Case, batch: int = 0) -> None:
        read = streams.scanned if batch % 2 else streams.streamed
        df = joined(case, read(0), streams.streamed(1) if batch == 3 else read(1))
        writer = df.writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
        writer = writer.format("parquet").trigger(availableNow=True)
        writer.start(str(tmp_path / "results")).awaitTermination()

    for batch in range(4):
        for side in (0, 1):
            source = sides.folder / f"{side}" / f"{batch}.parquet"
            (tmp_path / f"{side}" / source.name).write_bytes(source.read_bytes())
        write(case, batch)
    assert rows_of(spark.read.parquet(str(tmp_path / "results"))) == expected(sides, case)
    for side in (0, 1):
        later = {**sides.rows[side][0], "t": LATER + 1, "k": "a", "a": 1, "b": 1.0}
        file = tmp_path / f"{side}" / "9.parquet"
        pq.write_table(pa.Table.from_pylist([later]), file)
    with pytest.raises(StreamingQueryException, match="another query or of another parallelism"):
        write(CASES["theta on a grid"])


def test_late_tuples_are_dropped_and_counted(spark: SparkSession, tmp_path: Path) -> None:
    for side in (0, 1):
        (tmp_path / f"{side}").mkdir()
    streams = Sides(spark, ([], []), tmp_path)
    df = wr.join(
        streams.streamed(0), streams.scanned(1), within="1 s", on=wr.equi("k"), time="t"
    ).to_df()
    query = df.writeStream.format("noop").start()
    times = ([2_000_000, 1_500_000, 4_000_000], [2_000_000, 3_000_000, 1_000_000])
    for batch in range(3):
        for side in (0, 1):
            row = {"i": batch, "k": "a", "t": times[side][batch], "a": 0, "b": 0.0}
            pq.write_table(pa.Table.from_pylist([row]), tmp_path / f"{side}" / f"{batch}.parquet")
        query.processAllAvailable()
    dropped = [p.observedMetrics["windrow"].dropped for p in query.recentProgress]
    query.stop()
    assert sum(dropped) == 2


def test_columns_keep_their_types_and_get_a_prefix(sides: Sides) -> None:
    left, right = sides.bounded(0), sides.bounded(1)
    how: dict[str, Any] = {"within": "1 s", "on": wr.equi("k"), "time": "t"}
    df = wr.join(left, right, **how, how="left_outer", prefixes=("l_", "r_")).to_df()
    assert df.columns == [f"{prefix}_{name}" for prefix in "lr" for name in left.columns]
    assert [f.dataType for f in df.schema] == [f.dataType for f in left.schema] * 2
    with pytest.raises(wr.WindrowError, match="both sides"):
        wr.join(left, {"k": np.array(["a"])}, **how)
    with pytest.raises(wr.WindrowError, match="call to_df"):
        wr.join(left, right, **how).collect()
