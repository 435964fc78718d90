"""The queries of ``bench_planner``: window models, functions, distributions of keys and sources."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

import windrow as wr
from benchmarks.bench_batch import steps_in
from benchmarks.planner_others import OTHERS, Others
from benchmarks.planner_unseen import UNSEEN
from windrow import functions as wf
from windrow.core.models import WindowModel

WINDOWS = 20_000
"""About how many windows a query has."""
KEYS = 1000
BATCHES = 3
"""The batches of a stream, which share the rows."""
WRITTEN = OTHERS | UNSEEN
"""Queries over inputs of their own."""
BUILT_IN = 2
"""How many times as many rows there are for functions of the library, which are quick."""
SHARES = {"uniform": 0.0, "3 %": 0.03, "16 %": 0.16, "50 %": 0.5, "one key": 1.0}
COSTS = {"20 us": 20, "200 us": 200}
CORE = (
    *(f"time, sum, {share}" for share in ("uniform", "50 %", "one key")),
    "time, median, 16 %",
    "time, 20 us, uniform",
    "time, 20 us, 50 %",
    *(f"time, 200 us, {share}" for share in SHARES),
    *(f"count, sum, {share}" for share in ("uniform", "3 %", "one key")),
    "count, median, uniform",
    "count, median, one key",
    "count, 20 us, 16 %",
    "count, 200 us, 50 %",
    "count, 200 us, one key",
    "sparse, sum, uniform",
    "landmark, sum, 50 %",
    "session, sum, uniform",
    "session, 20 us, 16 %",
    "delta, sum, 16 %",
    "delta, 20 us, uniform",
    "slide by time, sum, 16 %",
    "slide by time, 20 us, uniform",
    "slide by tuple, sum, uniform",
    "slide by tuple, 20 us, 16 %",
    "time, fold, uniform",
    "count, decompose, one key",
    "time, custom, one key",
    "keyless, time, sum",
    "keyless, count, median",
    "keyless, time, 20 us",
    "keyless, session, 20 us",
    "files, time, sum, uniform",
    "files, sparse, sum, uniform",
    "files, time, median, 3 %",
    "files, time, 200 us, 50 %",
    "stream, time, sum, uniform",
    "stream, time, sum, one key",
    "stream, time, 20 us, 50 %",
    "stream, time, 20 us, one key",
    "stream, count, median, uniform",
)
"""The queries that run by default."""


@dataclass(frozen=True)
class Case:
    """A query, and what the planner may be told about it."""

    name: str
    query: Any
    """Without hints."""
    hints: dict[str, Any]
    rows: int
    is_stream: bool = False

    @property
    def parts(self) -> int:
        """How many times a run takes what is measured of it: a stream takes all of its batches."""
        return BATCHES + 1 if self.is_stream else 1


class MeanSquare(wr.Commutative[float, tuple[int, float], float]):
    """An aggregate of a user's own, in Python."""

    returns = "double"

    def lift(self, value: float) -> tuple[int, float]:
        return 1, value * value

    def combine(self, left: tuple[int, float], right: tuple[int, float]) -> tuple[int, float]:
        return left[0] + right[0], left[1] + right[1]

    def lower(self, partial: tuple[int, float]) -> float:
        return partial[1] / partial[0]


def all_names() -> Iterator[str]:
    """The names of all queries."""
    few = ("uniform", "50 %", "one key")
    for function in ("sum", "median", "20 us", "200 us"):
        yield from (f"time, {function}, {share}" for share in SHARES)
        yield from (f"count, {function}, {share}" for share in SHARES)
    for kind in ("sparse", "landmark"):
        yield from (f"{kind}, sum, {share}" for share in few)
    for kind in ("session", "delta", "slide by time", "slide by tuple"):
        yield from (f"{kind}, {f}, {s}" for f in ("sum", "20 us") for s in ("uniform", "16 %"))
    for function in ("fold", "decompose", "custom"):
        yield from (f"{k}, {function}, {s}" for k in ("time", "count") for s in few[::2])
    for kind in ("time", "count", "session"):
        yield from (f"keyless, {kind}, {f}" for f in ("sum", "median", "20 us"))
    for function in ("sum", "median", "200 us"):
        yield from (f"files, time, {function}, {share}" for share in ("uniform", "3 %", "50 %"))
    yield from ("files, sparse, sum, uniform", "files, count, median, 16 %")
    for kind, function in (("time", "sum"), ("time", "20 us"), ("count", "median")):
        yield from (f"stream, {kind}, {function}, {share}" for share in few)
    yield from WRITTEN


class Cases:
    """Makes the queries over rows one microsecond apart."""

    def __init__(self, spark: SparkSession, rows: int, folder: Path) -> None:
        self.spark, self.rows, self.folder = spark, rows, folder
        self.loops = {name: steps_in(cost * 1e-6) for name, cost in COSTS.items()}
        self._cached: dict[tuple[str, int], DataFrame] = {}
        self.others = Others(spark, folder)

    def case(self, name: str) -> Case:
        """The query of this name."""
        if name in WRITTEN:
            make, hints, rows = WRITTEN[name]
            query = make(self.others, rows)
            return Case(name, query, hints, rows, query.source.is_stream)
        source, *rest = name.split(", ")
        if source not in ("files", "stream", "keyless"):
            source, rest = "cached", [source, *rest]
        kind, function = rest[:2]
        share = rest[2] if len(rest) > 2 else "uniform"
        is_stream = source == "stream"
        keys = 1 if share == "one key" or source == "keyless" else KEYS
        micros = BATCHES if is_stream else 1
        # Sparse panes have more windows than rows.
        n = self.rows * (BUILT_IN if function in ("sum", "median") and kind != "sparse" else 1)
        df = {"files": self._files, "stream": self._stream}.get(source, self._data)(share, n)
        if source == "keyless" and kind == "session":
            df = df.withColumn("t", self._in_bursts())
        windows: Any = wr.stream(df)
        if source != "keyless":
            windows = windows.key_by("k")
        model = self._model(kind, n, keys, micros)
        windows = windows.event_time("t").window(model)
        hints: dict[str, Any] = {"rate": 1e6 / micros}
        if source != "keyless":
            hints["keys"] = keys
        if 0 < SHARES[share] < 1:
            hints["skew"] = SHARES[share] + (1 - SHARES[share]) / KEYS
        expected = model.expected_rows(1 / keys / micros) or (4.0 * n / WINDOWS, 1.0)
        if function in COSTS:
            hints["cost"] = COSTS[function]
        by_rows = kind != "slide by tuple"
        query = self._computed(windows, function, expected[0], by_rows=by_rows)
        return Case(name, query, hints, n, is_stream)

    def _data(self, share: str, rows: int) -> DataFrame:
        """Cached rows one microsecond apart; one key has this share of them."""
        if (share, rows) not in self._cached:
            for old in self._cached.values():
                old.unpersist()
            made = self._made(share, rows).cache()
            made.count()
            self._cached = {(share, rows): made}
        return self._cached[share, rows]

    def _made(self, share: str, rows: int) -> DataFrame:
        mixed = F.xxhash64("id")
        is_hot = F.pmod(F.shiftright(mixed, 32), F.lit(10_000)) < round(SHARES[share] * 10_000)
        return self.spark.range(rows, numPartitions=2).select(
            F.when(is_hot, 0).otherwise(F.pmod(mixed, F.lit(KEYS))).alias("k"),
            F.timestamp_micros("id").alias("t"),
            F.pmod(F.shiftright(mixed, 20), F.lit(1000)).cast("double").alias("x"),
            F.col("id").cast("double").alias("d"),
        )

    def _in_bursts(self) -> Column:
        """Times with a gap behind each of about as many sessions as other queries have windows."""
        sessions = F.floor(F.col("d") / (self.rows // WINDOWS))
        return F.timestamp_micros((F.col("d") + sessions * 8).cast("bigint"))

    def _files(self, share: str, rows: int) -> DataFrame:
        """The same rows in Parquet files, which tasks can read by themselves."""
        path = self.folder / f"files {share.split()[0]} {rows}"
        if not path.exists():
            made = self._made(share, rows).repartitionByRange(8, "t").sortWithinPartitions("t")
            made.write.parquet(str(path))
        return self.spark.read.parquet(str(path))

    def _stream(self, share: str, rows: int) -> DataFrame:
        """The same rows in batches."""
        path = self.folder / f"{share.split()[0]} {rows}"
        if not path.exists():
            slower = F.timestamp_micros(F.unix_micros("t") * BATCHES)
            made = self._made(share, rows).withColumn("t", slower)
            made = made.repartitionByRange(BATCHES, "t").sortWithinPartitions("t")
            made.write.parquet(str(path))
            for number, file in enumerate(sorted(path.glob("*.parquet"))):
                os.utime(file, (number, number))  # Spark reads files in the order of their times.
        stream = self.spark.readStream.schema(self._made(share, rows).schema)
        return stream.option("maxFilesPerTrigger", 1).parquet(str(path))

    def _model(self, kind: str, rows: int, keys: int, micros: int) -> WindowModel:
        """A window over so many rows that are so many microseconds apart."""
        apart = max(1, rows // WINDOWS)
        step = apart * keys * micros
        if kind == "count":
            return wr.CountWindow(apart * 4, apart)
        if kind == "slide by tuple":
            return wr.SlideByTupleWindow(step * 4, apart)
        if kind == "slide by time":
            return wr.SlideByTimeWindow(apart * 4, step)
        if kind == "landmark":
            return wr.LandmarkWindow(step * 8, step)
        if kind == "session":
            # Gaps of rows at random are as long about once per so many rows.
            return wr.SessionWindow(int(keys * micros * 3.9))
        if kind == "delta":
            return wr.DeltaWindow("d", step * 4, step)
        if kind == "sparse":
            # Panes with less than a row each.
            return wr.TimeWindow(keys * micros * 40, max(1, keys * micros * 2 // 5))
        return wr.TimeWindow(step * 4, step)

    def _computed(self, windows: Any, function: str, rows: float, *, by_rows: bool) -> Any:
        if function in COSTS:
            return windows.apply(self._busy(function, rows, by_rows=by_rows), "r double")
        if function == "fold":
            return windows.fold(lambda acc, row: acc + row["x"], 0.0, "r double")
        if function == "custom":
            return windows.agg(r=MeanSquare("x"))
        if function == "decompose":
            return windows.decompose(
                partial=lambda w: {"s": float(w["x"].sum())},
                combine=lambda parts: {"r": sum(p["s"] for p in parts)},
                partial_returns="s double",
                returns="r double",
            )
        return windows.agg(r=getattr(wf, function)("x"))

    def _busy(
        self, name: str, rows: float, *, by_rows: bool
    ) -> Callable[[wr.Window], dict[str, float]]:
        """A function of so many microseconds per window: of this many rows, or of any number.

        Windows that slide by tuples are most frequent where they are the largest.
        """
        steps = self.loops[name]

        def busy(window: wr.Window) -> dict[str, float]:
            for _ in range(round(steps * len(window) / rows) if by_rows else steps):
                pass
            return {"r": float(window["x"].sum())}

        return busy
