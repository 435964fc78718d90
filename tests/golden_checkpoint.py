"""Golden checkpoints: streams stopped by one commit, which all later ones must continue.

``python -m tests.golden_checkpoint`` writes ``tests/data/golden/<stream>-v<FORMAT>.tar.xz``: a
folder with the checkpoint of a streaming query and the results it had given by then. The source
makes the same rows in every run, so nothing else has to be kept. A version that exists is never
written again, and versions that can still be read are kept.
"""

from __future__ import annotations

import json
import tarfile
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import windrow as wr
from windrow import functions as wf
from windrow.core import oracle
from windrow.engine.state.log import FORMAT, OLDEST

GOLDEN = Path(__file__).parent / "data" / "golden"
MODEL = wr.CountWindow(7, 3)
BEHIND = wr.TimeWindow("20 ms")
PLACE = "/where/the/checkpoint/is"
PER_BATCH = 40
BEFORE = 4
"""How many batches the golden checkpoint has at least."""
Given = dict[int, list[Any]]
"""Results by batch; a batch may be run again."""
Expected = dict[tuple[Any, int], list[Any]]
"""What follows the key and the id of each window."""


def row(i: int) -> dict[str, Any]:
    """Row number i: disordered by less than 4 ms, with a null key."""
    return {"k": None if i % 5 == 4 else i % 3, "t": 1_000_000 + (i + 3 * (i % 2)) * 1000, "x": i}


def rows(spark: SparkSession) -> DataFrame:
    """The same as a stream."""
    source = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", PER_BATCH)
    i = F.col("value")
    key = F.when(i % 5 != 4, i % 3)
    time = 1_000_000 + (i + 3 * (i % 2)) * 1000
    return source.load().select(key.alias("k"), time.alias("t"), i.alias("x"))


def windows(spark: SparkSession, **more: Any) -> wr.Query:
    query = wr.stream(rows(spark)).key_by("k").event_time("t", "4 ms").order_by("x").window(MODEL)
    return query.agg(n=wf.count(), total=wf.sum("x"), **more)


def _of_windows(rows: list[dict[str, Any]]) -> list[oracle.OracleWindow]:
    return oracle.windows(MODEL, rows, key=["k"], time="t", order_by=["x"])


def of_windows(rows: list[dict[str, Any]]) -> Expected:
    found = _of_windows(rows)
    return {(w.key[0], w.id): [len(w.rows), sum(r["x"] for r in w.rows)] for w in found}


def chain(spark: SparkSession) -> wr.Query:
    """Windows over the results of windows."""
    first = windows(spark, newest=wf.max("t")).to_df(observation="first")
    query = wr.stream(first).event_time("newest").window(BEHIND)
    return query.agg(n=wf.count(), total=wf.sum("total"))


def chain_as_it_was(spark: SparkSession) -> wr.Query:
    """With the pattern that was chosen then, as the message says."""
    return chain(spark).using(wr.WinMapReduce(8, 1))


def of_chain(rows: list[dict[str, Any]]) -> Expected:
    results = [
        {"t": max(r["t"] for r in w.rows), "total": sum(r["x"] for r in w.rows)}
        for w in _of_windows(rows)
    ]
    found = oracle.windows(BEHIND, results, time="t")
    return {(None, w.id): [len(w.rows), sum(r["total"] for r in w.rows)] for w in found}


@dataclass(frozen=True)
class Golden:
    """A stream, what it gives over these rows, and the checkpoint that a version has written."""

    name: str
    version: int
    query: Callable[[SparkSession], wr.Query]
    expected: Callable[[list[dict[str, Any]]], Expected]

    @property
    def archive(self) -> Path:
        kind = "gz" if self.version == 2 else "xz"
        return GOLDEN / f"{self.name}-v{self.version}.tar.{kind}"


WINDOWS = Golden("checkpoint", FORMAT, windows, of_windows)
OLDER = Golden("checkpoint", OLDEST, windows, of_windows)
CHAIN = Golden("chain", FORMAT, chain, of_chain)
OLDER_CHAIN = Golden("chain", 3, chain_as_it_was, of_chain)


def run(golden: Golden, spark: SparkSession, checkpoint: Path, batches: int) -> Given:
    """Continue the stream for at least so many batches; what they give."""
    given: Given = {}

    def take(df: DataFrame, batch: int) -> None:
        given[batch] = [list(r) for r in df.collect()]

    query = golden.query(spark)
    query.check_checkpoint(checkpoint)
    key = [F.col(k) for k in query.keys] or [F.lit(None).cast("long").alias("k")]
    kept = query.to_df().select(*key, "window_id", "n", "total")
    writer = kept.writeStream.foreachBatch(take).option("checkpointLocation", str(checkpoint))
    started = writer.start()
    while len(given) < batches and started.isActive:
        started.awaitTermination(1)
    started.stop()
    return given


def move(checkpoint: Path, old: str, new: str) -> None:
    """Correct the path of the checkpoint, which Spark keeps in its metadata."""
    for file in checkpoint.glob("state/*/_metadata/*/*"):
        if old.encode() in (content := file.read_bytes()):
            file.write_bytes(content.replace(old.encode(), new.encode()))
            file.with_name(f".{file.name}.crc").unlink(missing_ok=True)


def read(golden: Golden, folder: Path) -> tuple[Path, Given]:
    """The checkpoint, taken out of its archive, and what had been given by then."""
    with tarfile.open(golden.archive) as archive:
        archive.extractall(folder, filter="data")
    move(folder / "checkpoint", PLACE, str(folder / "checkpoint"))
    given = json.loads((folder / "given.json").read_text())
    return folder / "checkpoint", {int(batch): results for batch, results in given.items()}


def write(golden: Golden, spark: SparkSession) -> None:
    """Run the stream for some batches, and keep its checkpoint."""
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = Path(folder) / "checkpoint"
        given = run(golden, spark, checkpoint, BEFORE)
        move(checkpoint, str(checkpoint), PLACE)
        (Path(folder) / "given.json").write_text(json.dumps(given))
        with tarfile.open(golden.archive, "w:xz") as archive:
            archive.add(checkpoint, "checkpoint")
            archive.add(Path(folder) / "given.json", "given.json")


def main() -> None:
    lacking = [golden for golden in (WINDOWS, CHAIN) if not golden.archive.exists()]
    spark = wr.local_spark(cores=2)
    for golden in lacking:
        write(golden, spark)


if __name__ == "__main__":
    main()
