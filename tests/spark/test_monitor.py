"""What a stream tells of its batches, and the monitor that hears it."""

from __future__ import annotations

import json
import logging
import threading
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

import windrow as wr
from tests.spark.arrivals import Arrivals, finished, results_of, start
from windrow import functions as wf
from windrow.core import oracle
from windrow.monitoring.batch import Batch, Part
from windrow.patterns import Pattern

pytestmark = pytest.mark.spark

SCHEMA = "k string, t bigint, x bigint"
ARROW = pa.schema([("k", pa.string()), ("t", pa.int64()), ("x", pa.int64())])
MS = 1000
LONGEST_WAIT = 240
"""Seconds after which a test gives up."""


def row(k: str, ms: int | None) -> dict[str, Any]:
    return {"k": k, "t": None if ms is None else MS * ms, "x": ms}


BATCHES = [
    [row("hot", t) for t in range(start, start + 1000, 20)]
    + [row(k, t) for k in "abcd" for t in range(start, start + 1000, 200)]
    for start in (0, 1000, 2000)
]
"""Each batch has 50 rows of one key, and 5 of each other."""
LATE = [row("a", 10), row("a", 20)]
TIMELESS = [row("a", None)]
LAST = [row("a", 3100)]
ON_TIME = [each for batch in BATCHES for each in batch] + LAST
WATERMARKS = [None, 980 * MS, 1980 * MS, 2980 * MS, 3100 * MS]
"""Of each batch: the greatest time before it. The last one comes without data."""


@pytest.fixture
def arrivals(tmp_path: Path) -> Arrivals:
    found = Arrivals(tmp_path / "in", ARROW)
    for batch in [*BATCHES, LATE + TIMELESS + LAST]:
        found.add(batch)
    return found


def parts_of(query: StreamingQuery) -> list[Part]:
    """The Windrow query's part of each batch."""
    batches = [Batch.of(progress) for progress in query.recentProgress]
    return [part for batch in batches for part in batch.parts]


@pytest.mark.parametrize(
    "pattern",
    [wr.KeyFarm(4), wr.PaneFarm(2, 2), wr.WinFarm(2, workers="agnostic"), wr.WinMapReduce(2, 1)],
    ids=lambda pattern: type(pattern).__name__,
)
def test_metrics_equal_the_truth(spark: SparkSession, arrivals: Arrivals, pattern: Pattern) -> None:
    model = wr.TimeWindow("200 ms", "100 ms")
    query = wr.stream(arrivals.read(spark, SCHEMA)).key_by("k").event_time("t").window(model)
    stream = query.agg(middle=wf.median("x")).using(pattern).to_df()
    ran = finished(lambda: start(stream, at_once=True))
    parts = parts_of(ran)
    due = oracle.windows(model, ON_TIME, key=["k"], time="t", open_windows="drop")
    assert sum(part.windows for part in parts) == len(due) == results_of(ran, spark).count()
    assert sum(part.late for part in parts) == len(LATE)
    assert sum(part.dropped for part in parts) == len(LATE + TIMELESS)
    assert [part.watermark and round(part.watermark * 1e6) for part in parts] == WATERMARKS
    observed = [progress.observedMetrics["windrow"] for progress in ran.recentProgress]
    assert observed[-1]["state_bytes"] > 0
    if pattern == wr.KeyFarm(4):
        assert [metrics["keys"] for metrics in observed] == [0, 5, 5, 5, 5]
        assert observed[-1]["rows_held"] == held(parts[-1]) == len(LAST)


def test_each_worker_tells_its_rows_and_time(spark: SparkSession, arrivals: Arrivals) -> None:
    query = wr.stream(arrivals.read(spark, SCHEMA)).key_by("k").event_time("t")
    stream = query.window(wr.CountWindow(3)).agg(middle=wf.median("x")).using(wr.KeyFarm(4))
    parts = parts_of(finished(lambda: start(stream.to_df(), at_once=True)))
    found = [(s.stage, s.worker) for part in parts for s in part.shares]
    assert Counter(found) == {(0, worker): len(parts) for worker in range(4)}
    assert all(share.seconds > 0 for part in parts for share in part.shares)

    # Workers share the keys, and each key is of one worker.
    taken = Counter({w: 0 for w in range(4)})
    for part in parts:
        taken.update({share.worker: share.rows_in for share in part.shares})
    per_key = Counter(each["k"] for each in ON_TIME + LATE)
    assert sum(taken.values()) == sum(per_key.values())
    of_hot = max(taken.values()) - per_key["hot"]
    assert of_hot in {sum(per_key[k] for k in kept) for kept in subsets("abcd")}
    given = sum(share.rows_out for part in parts for share in part.shares)
    assert given == sum(part.windows for part in parts)

    # Rows wait for the watermark, then for their window to be full.
    for number, (part, watermark) in enumerate(zip(parts, WATERMARKS, strict=True)):
        came = [each for batch in BATCHES[: number + 1] for each in batch]
        came += LAST if number >= len(BATCHES) else []
        passed = Counter(r["k"] for r in came if watermark is not None and r["t"] < watermark)
        waiting = len(came) - sum(passed.values())
        assert held(part) == waiting + sum(n % 3 for n in passed.values()), number


def held(part: Part) -> int:
    return sum(share.rows_held for share in part.shares)


def subsets(keys: str) -> list[str]:
    return [""] if not keys else [s + k for s in subsets(keys[1:]) for k in ("", keys[0])]


class Seen:
    """What the page of a monitor is told, asked for again until something holds."""

    def __init__(self, monitor: Any) -> None:
        self.url = monitor.url
        self.pause = threading.Event()

    def query(self, name: str) -> dict[str, Any] | None:
        with urllib.request.urlopen(self.url + "queries", timeout=60) as answer:
            found = json.load(answer)["queries"]
        return next((query for query in found if query["name"] == name), None)

    def until(self, name: str, state: str) -> dict[str, Any]:
        """The query once it is in this state and its last batch is told, which may take a while."""
        for _ in range(LONGEST_WAIT * 10):
            query = self.query(name)
            if query is not None and query["state"] == state and _told_all(query):
                return query
            self.pause.wait(0.1)
        raise AssertionError(f"{name} was never seen as {state} with all its batches")


def _told_all(query: dict[str, Any]) -> bool:
    return bool(query["totals"].get("batches") == len(WATERMARKS))


def test_the_monitor_shows_queries_as_they_run_stop_and_fail(
    spark: SparkSession, arrivals: Arrivals, caplog: pytest.LogCaptureFixture
) -> None:
    rows = wr.stream(arrivals.read(spark, SCHEMA)).key_by("k").event_time("t")
    counted = rows.window(wr.CountWindow(3)).agg(middle=wf.median("x")).using(wr.KeyFarm(4))
    failing = arrivals.read(spark, SCHEMA).select(F.raise_error(F.lit("no such luck")).alias("x"))
    with caplog.at_level(logging.WARNING, "windrow"), wr.monitor(spark) as monitor:
        seen = Seen(monitor)
        stream = start(counted.to_df())
        stream.processAllAvailable()
        running = seen.until(stream.name, "running")
        assert running["totals"]["late"] == len(LATE)
        assert running["parts"][0]["stages"][0]["nodes"] == ["WinSeq x 4"]
        stream.stop()
        stopped = seen.until(stream.name, "stopped")
        assert stopped["totals"]["rows"] == len(ON_TIME + LATE + TIMELESS)
        assert stopped["message"] is None
        failed = start(failing)
        with pytest.raises(Exception, match="no such luck"):
            failed.awaitTermination()
        message = None
        while message is None:
            query = seen.query(failed.name)
            message = query and query["message"]
            seen.pause.wait(0.1)
        assert "no such luck" in message
        assert "\tat " not in message
    assert "has failed" in caplog.text
    with pytest.raises(OSError):
        urllib.request.urlopen(monitor.url, timeout=60)
    monitor.stop()
