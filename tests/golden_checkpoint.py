"""A golden checkpoint: a stream stopped by one commit, which all later ones must continue.

``python -m tests.golden_checkpoint`` writes ``tests/data/golden/checkpoint-v<FORMAT>.tar.gz``: a
folder with the checkpoint of a streaming query and the results it had given by then. The source
makes the same rows in every run, so nothing else has to be kept. A version that exists is never
written again.
"""

from __future__ import annotations

import json
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import windrow as wr
from windrow import functions as wf
from windrow.engine.state.log import FORMAT

ARCHIVE = Path(__file__).parent / "data" / "golden" / f"checkpoint-v{FORMAT}.tar.gz"
MODEL = wr.CountWindow(7, 3)
PLACE = "/where/the/checkpoint/is"
PER_BATCH = 40
BEFORE = 4
"""How many batches the golden checkpoint has at least."""
Given = dict[int, list[Any]]
"""Results by batch, each key, window id, number of rows and sum; a batch may be run again."""


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


def run(spark: SparkSession, checkpoint: Path, batches: int) -> Given:
    """Continue the stream for at least so many batches; what they give."""
    given: Given = {}

    def take(df: DataFrame, batch: int) -> None:
        given[batch] = [list(r) for r in df.collect()]

    query = wr.stream(rows(spark)).key_by("k").event_time("t", "4 ms").order_by("x").window(MODEL)
    query = query.agg(n=wf.count(), total=wf.sum("x"))
    query.check_checkpoint(checkpoint)
    kept = query.to_df().select("k", "window_id", "n", "total")
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


def read(folder: Path) -> tuple[Path, Given]:
    """The checkpoint, taken out of its archive, and what had been given by then."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    move(folder / "checkpoint", PLACE, str(folder / "checkpoint"))
    given = json.loads((folder / "given.json").read_text())
    return folder / "checkpoint", {int(batch): results for batch, results in given.items()}


def main() -> None:
    if ARCHIVE.exists():
        raise SystemExit(f"{ARCHIVE} exists; a version of the state is written once")
    spark = wr.local_spark(cores=2)
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = Path(folder) / "checkpoint"
        given = run(spark, checkpoint, BEFORE)
        move(checkpoint, str(checkpoint), PLACE)
        (Path(folder) / "given.json").write_text(json.dumps(given))
        with tarfile.open(ARCHIVE, "w:gz") as archive:
            archive.add(checkpoint, "checkpoint")
            archive.add(Path(folder) / "given.json", "given.json")


if __name__ == "__main__":
    main()
