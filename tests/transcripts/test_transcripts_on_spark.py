"""The transcripts hold on Spark: over bounded DataFrames, and step by step on streams.

On a stream each step's input is a batch. In it a tuple of a key of its own, far ahead, moves the
watermark to where the step says, once the batch is done; its windows never fire.
"""

from __future__ import annotations

import functools
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, Observation, SparkSession

from tests.spark.arrivals import Arrivals, dropped, results_of, start
from tests.spark.results import run_all
from tests.transcripts.transcripts import (
    COMPUTATIONS,
    MILLISECOND,
    PATTERNS,
    TRANSCRIPTS,
    base_query,
    columns_of,
    expected_in_all,
    expected_rows,
    input_of,
    is_legal,
    schema_of,
    table_of,
    tuples_of,
)
from windrow.patterns import Pattern

pytestmark = pytest.mark.spark

AHEAD = 1_000
"""The delay in milliseconds: greater than all times of the transcripts."""
SENTINEL = "the key that moves the watermark"


def spark_schema(transcript: dict[str, Any]) -> str:
    return ", ".join(f"{c} {'string' if c == 'k' else 'bigint'}" for c in columns_of(transcript))


def rows_of(df: DataFrame) -> Counter[Any]:
    """The results, times in microseconds."""
    found: Counter[Any] = Counter()
    for row in df.collect():
        if row["k"] != SENTINEL:
            found[tuple(map(_plain, row))] += 1
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        zone = None if value.tzinfo is None else UTC
        return (value - datetime(1970, 1, 1, tzinfo=zone)) // timedelta(microseconds=1)
    return tuple(value) if isinstance(value, list) else value


def why_not_on_a_stream(transcript: dict[str, Any]) -> str | None:
    """Spark's watermark begins at 1970."""
    watermark = 0
    for step in transcript["steps"]:
        watermark = max(watermark, step.get("watermark", 0))
        if step["expect"] and watermark <= 0 and "finish" not in step:
            return "it fires windows before 1970, where Spark has no watermark"
    return None


def runs() -> dict[str, tuple[str, Pattern]]:
    """A computation and a pattern for each transcript, so that all have a turn on a stream."""
    turns: Counter[str] = Counter()
    chosen = {}
    for name, transcript in TRANSCRIPTS.items():
        base = base_query(transcript, table_of(transcript, []))
        legal = [
            (computation, pattern)
            for pattern in PATTERNS
            for computation, compute in COMPUTATIONS.items()
            if is_legal(compute(base), pattern)
        ]
        chosen[name] = min(legal, key=lambda run: (turns[str(run[1])], turns[run[0]]))
        if why_not_on_a_stream(transcript) is None:
            turns.update([chosen[name][0], str(chosen[name][1])])
    return chosen


RUNS = runs()


@pytest.mark.parametrize("name", [n for n, t in TRANSCRIPTS.items() if t.get("bounded") == "same"])
def test_bounded_dataframe(spark: SparkSession, name: str) -> None:
    transcript = TRANSCRIPTS[name]
    tuples = tuples_of(transcript, input_of(transcript))
    rows = [tuple(row.values()) for row in tuples]
    df = spark.createDataFrame(spark.sparkContext.parallelize(rows, 2), spark_schema(transcript))

    def check(computation: str, pattern: Pattern | None) -> None:
        query = COMPUTATIONS[computation](base_query(transcript, df))
        lost = Observation()
        got = (query if pattern is None else query.using(pattern)).to_df(observation=lost)
        assert rows_of(got) == expected_in_all(transcript, computation)
        assert lost.get == {"dropped": transcript["dropped"]}

    chosen: list[tuple[str, Pattern | None]] = [(computation, None) for computation in COMPUTATIONS]
    run_all(functools.partial(check, *run) for run in [*chosen, RUNS[name]])


class OnAStream:
    """A transcript's steps as batches of a stream."""

    def __init__(self, spark: SparkSession, name: str, folder: Path) -> None:
        self.spark, self.transcript = spark, TRANSCRIPTS[name]
        self.arrivals = Arrivals(folder, schema_of(self.transcript))

    def check(self, computation: str, pattern: Pattern) -> None:
        transcript = self.transcript
        df = self.arrivals.read(self.spark, spark_schema(transcript))
        query = COMPUTATIONS[computation](base_query(transcript, df, f"{AHEAD} ms"))
        stream = start(query.using(pattern).to_df())
        try:
            expected: Counter[Any] = Counter()
            for i, step in enumerate(s for s in transcript["steps"] if "finish" not in s):
                self.bring(step)
                stream.processAllAvailable()
                expected += expected_rows(transcript, step, computation)
                got = rows_of(results_of(stream, self.spark))
                assert got == expected, f"{computation}, {pattern}, step {i}"
            assert dropped(stream) == transcript["dropped"], f"{computation}, {pattern}"
        finally:
            stream.stop()

    def bring(self, step: dict[str, Any]) -> None:
        tuples = tuples_of(self.transcript, step["input"])
        if step.get("watermark", 0) > 0:
            ahead = (step["watermark"] + AHEAD) * MILLISECOND
            columns = columns_of(self.transcript)
            tuples.append({**dict.fromkeys(columns, 0), "k": SENTINEL, "t": ahead})
        if tuples:
            self.arrivals.add(tuples)


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_stream(spark: SparkSession, tmp_path: Path, name: str) -> None:
    if reason := why_not_on_a_stream(TRANSCRIPTS[name]):
        pytest.skip(f"{name}: {reason}")
    OnAStream(spark, name, tmp_path).check(*RUNS[name])


def test_every_pattern_and_computation_runs_some_transcript() -> None:
    ran = [run for n, run in RUNS.items() if why_not_on_a_stream(TRANSCRIPTS[n]) is None]
    assert {computation for computation, _ in ran} == set(COMPUTATIONS)
    assert {str(pattern) for _, pattern in ran} == set(map(str, PATTERNS))


def test_transcripts_come_before_the_tuples_that_move_the_watermark() -> None:
    times = [row["t"] for t in TRANSCRIPTS.values() for row in tuples_of(t, input_of(t))]
    assert max(t for t in times if t is not None) < AHEAD * MILLISECOND
