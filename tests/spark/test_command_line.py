"""The commands that need Spark, in the tests' own session."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet
from pyspark.sql import SparkSession

import windrow as wr
from tests import golden_checkpoint
from windrow.cli.__main__ import main
from windrow.cli.bench import check_same
from windrow.cli.bench_queries import QUERIES, ticks
from windrow.cli.check_spark import check_spark
from windrow.spark import progress
from windrow.spark.progress import Stages

pytestmark = pytest.mark.spark


def test_inspect_shows_whose_state_a_checkpoint_holds_and_how_much(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoint, _ = golden_checkpoint.read(golden_checkpoint.OLDER, tmp_path)
    with pytest.raises(SystemExit, match="0"):
        main(["inspect", str(checkpoint), "--keys", "3"])
    printed = capsys.readouterr().out
    found = {line[:13].strip(): line[13:] for line in printed.splitlines()}
    assert found["window"] == repr(golden_checkpoint.MODEL)
    assert found["per key"] == "k (bigint)"
    assert found["computation"] == "n=Count(), total=Sum('x')"
    assert found["written by"] == "Windrow 0.1.0, state format 2"
    assert found["workers"] == "8"
    assert found["keys"] == "4"
    # 160 rows have come; 59 are in windows that have fired, or in chunks that are gone.
    assert found["rows"].startswith("101 stored")
    assert int(found["bytes"].replace(",", "")) > 10_000
    assert found["watermark"] == "1970-01-01 00:00:01.118000+00:00"
    assert found["late rows"].startswith("0 dropped")
    assert found["biggest keys"] == "1 (30); 0 (28); 2 (23)"


def test_inspect_refuses_a_folder_that_is_no_checkpoint(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "commits").mkdir()
    with pytest.raises(SystemExit, match="2"):
        main(["inspect", str(tmp_path)])
    said = capsys.readouterr().err
    assert said.startswith("Error: the folder is not the checkpoint of a streaming query")
    assert said.count("\n") == 1


def test_check_finds_nothing_wrong_with_a_session_that_is_right(spark: SparkSession) -> None:
    log = logging.getLogger("windrow")
    level = log.level
    findings = {finding.what: finding for finding in check_spark(None)}
    assert log.level == level, "the log goes on as before"
    assert [f for f in findings.values() if f.is_problem] == []
    assert {"session", "tasks", "settings", "executors"} < findings.keys()
    assert "windows are right" in findings["bounded query"].found
    assert "windows are right" in findings["stream"].found


def test_bench_asks_spark_for_the_same_windows(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "ticks.parquet")
    rows = ticks(110_000)
    parquet.write_table(rows, path)
    spark.read.parquet(path).createOrReplaceTempView("ticks")
    for query in QUERIES:
        wanted = query.over(wr.stream(rows)).collect()
        assert len(query.compared(wanted)) > 90
        check_same(query, "by Spark", spark.sql(query.sql).toArrow(), wanted)
    spark.catalog.dropTempView("ticks")


def test_progress_shows_the_stages_that_run(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = tmp_path / "seen"

    class Display:
        shown: list[Stages]

        def __enter__(self) -> Display:
            self.shown = []
            return self

        def __exit__(self, *error: object) -> None: ...

        def show(self, stages: Stages) -> None:
            if stages:
                self.shown.append(stages)
                seen.touch()

    def wait_until_seen(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        while not seen.exists():
            pass
        return batches

    display = Display()
    monkeypatch.setattr(progress, "display_here", lambda: display)
    with wr.progress(spark):
        spark.range(0, 9, 1, 3).mapInArrow(wait_until_seen, "id long").collect()
    ((done, tasks),) = display.shown[0].values()
    assert (done, tasks) == (0, 3)
