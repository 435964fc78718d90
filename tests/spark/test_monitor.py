"""What a stream tells of its batches, and the monitor that hears it."""

from __future__ import annotations

import json
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

import windrow as wr
from tests.spark.arrivals import Arrivals, finished, results_of, start
from tests.spark.results import by_window, expected
from windrow import functions as wf
from windrow.monitoring.batch import Batch, Part
from windrow.patterns import Pattern

pytestmark = pytest.mark.spark

SCHEMA = "k string, t bigint, x bigint"
ARROW = pa.schema([("k", pa.string()), ("t", pa.int64()), ("x", pa.int64())])


@pytest.fixture
def arrivals(tmp_path: Path) -> Arrivals:
    """Three batches: 50 rows each of a hot key, 5 each of others; then late rows, and a null."""
    found = Arrivals(tmp_path / "in", ARROW)
    for batch in range(3):
        times = range(1000 * batch, 1000 * batch + 1000, 20)
        rows = [{"k": "hot", "t": 1000 * t, "x": t} for t in times]
        rows += [{"k": k, "t": 1000 * t, "x": t} for k in "abcd" for t in times[::10]]
        found.add(rows)
    late = [{"k": "a", "t": 1000 * t, "x": t} for t in (10, 20)]
    found.add([*late, {"k": "a", "t": None, "x": 0}, {"k": "a", "t": 3_100_000, "x": 0}])
    return found


def parts_of(query: StreamingQuery) -> list[Part]:
    """The Windrow query's part of each batch."""
    batches = [Batch.of(progress) for progress in query.recentProgress]
    return [part for batch in batches for part in batch.parts]


@pytest.mark.parametrize(
    "pattern",
    [
        wr.KeyFarm(4),
        wr.PaneFarm(2, 2),
        wr.WinFarm(2, workers="agnostic"),
        wr.WinMapReduce(2, 1),
    ],
    ids=lambda pattern: type(pattern).__name__,
)
def test_metrics_equal_the_truth(spark: SparkSession, arrivals: Arrivals, pattern: Pattern) -> None:
    rows = arrivals.read(spark, SCHEMA)
    query = wr.stream(rows).key_by("k").event_time("t").window(wr.TimeWindow("200 ms", "100 ms"))
    stream = query.agg(middle=wf.median("x")).using(pattern)
    ran = finished(lambda: start(stream.to_df(), at_once=True))
    parts = parts_of(ran)

    # Of the oracle's windows, those that the last watermark has reached.
    bounded = wr.stream(arrivals.table()).key_by("k").event_time("t")
    fired = bounded.window(wr.TimeWindow("200 ms", "100 ms"), open_windows="drop")
    due = fired.agg(middle=wf.median("x")).collect()
    assert sum(part.windows for part in parts) == len(due) == results_of(ran, spark).count()
    assert sum(part.late for part in parts) == 2
    assert sum(part.dropped for part in parts) == 3
    last = parts[-1]
    assert last.watermark == 3.1
    held = {("hot", t) for t in range(3000, 3000)} | {("a", 3100)}
    assert last.rows_held >= len(held)
    assert last.state_bytes > 0
    assert max(part.keys for part in parts) >= 5


def test_each_worker_tells_its_rows_and_time(spark: SparkSession, arrivals: Arrivals) -> None:
    rows = arrivals.read(spark, SCHEMA)
    query = wr.stream(rows).key_by("k").event_time("t").window(wr.CountWindow(3))
    stream = query.agg(middle=wf.median("x")).using(wr.KeyFarm(4))
    ran = finished(lambda: start(stream.to_df(), at_once=True))
    parts = parts_of(ran)
    taken: Counter[int] = Counter()
    for part in parts:
        assert {share.stage for share in part.shares} == {0}
        for share in part.shares:
            taken[share.worker] += share.rows_in
            assert share.seconds > 0

    # A worker takes all rows of its keys.
    per_key = Counter(row["k"] for row in arrivals.table().to_pylist() if row["t"] is not None)
    assert sum(taken.values()) == sum(per_key.values())
    assert max(taken.values()) >= per_key["hot"]
    assert parts[-1].keys == 5
    assert [stage["width"] for stage in parts[-1].stages] == [None, 4]
    assert parts[-1].stages[1]["nodes"] == ["WinSeq x 4"]
