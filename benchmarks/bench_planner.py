"""Whether the planner chooses the fastest plan, and how far its predictions are off.

Run with ``make bench-planner``, or ``python -m benchmarks.bench_planner [rows [names]]``, where a
query runs if its name contains one of the names. The planner is told the number of keys, the share
of the most frequent one, the rate and the cost of the function. The best plans by prediction run on
Spark, one after the other, and must give the same results.

The bounded input is a cached DataFrame, which tasks cannot read by themselves. Streams read Parquet
files in some batches; their time is that of the mean batch after the first.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory
from time import monotonic_ns, perf_counter
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import windrow as wr
from benchmarks.bench_batch import steps_in
from windrow import functions as wf
from windrow.core.models import WindowModel
from windrow.core.statistics import UNKNOWN, Statistics
from windrow.planner.choice import choose, weigh
from windrow.planner.plans import Plan, Resources
from windrow.spark.bounded import resources_of

ROWS = 1_000_000
CORES = 2
WINDOWS = 20_000
"""About how many windows a query has."""
KEYS = 1000
MOST_PLANS = 5
FAR_OFF = 4.0
"""Plans that are predicted to take so many times as long as the best one are not tried."""
REPEATS = 2
WANTED, NEVER = 1.15, 1.5
"""How many times the time of the best plan the chosen one may take: usually, and at worst."""

BATCHES = 4
"""The batches of a stream, which share the rows."""

SHARES = {"uniform": 0.0, "3 %": 0.03, "16 %": 0.16, "50 %": 0.5, "one key": 1.0}


@dataclass(frozen=True)
class Case:
    """A query, and what the planner is told about it."""

    name: str
    query: Any
    rows: int
    is_stream: bool = False

    def resources(self) -> Resources:
        if self.is_stream:
            return Resources(CORES, is_stream=True)
        return resources_of(self.query.window_query(), self.query.source.df)

    def run(self, query: wr.Query) -> tuple[float, Any]:
        """How long it takes, and what tells its results from others."""
        return (_run_stream if self.is_stream else _run_bounded)(query)


class Cases:
    """Makes the queries."""

    def __init__(self, spark: SparkSession, rows: int, folder: Path) -> None:
        self.spark, self.rows, self.folder = spark, rows, folder
        self.data = {name: self._rows(share) for name, share in SHARES.items()}
        self.loops = {cost: steps_in(cost * 1e-6) for cost in (20, 200)}

    def _rows(self, share: float) -> DataFrame:
        """Rows one microsecond apart; one key has this share of them, the others the rest."""
        mixed = F.xxhash64("id")
        is_hot = F.pmod(F.shiftright(mixed, 32), F.lit(10_000)) < round(share * 10_000)
        made = self.spark.range(self.rows, numPartitions=CORES).select(
            F.when(is_hot, 0).otherwise(F.pmod(mixed, F.lit(KEYS))).alias("k"),
            F.timestamp_micros("id").alias("t"),
            F.pmod(F.shiftright(mixed, 20), F.lit(1000)).cast("double").alias("x"),
        )
        made = made.cache()
        made.count()
        return made

    def all(self) -> Iterator[Case]:
        functions = ("sum", "median", "20 us", "200 us")
        for function in functions:
            for share in SHARES:
                yield self._case("time", share, function)
        for function in functions:
            for share in ("uniform", "50 %", "one key"):
                yield self._case("count", share, function)
        for function in ("sum", "20 us"):
            for share in ("uniform", "50 %"):
                yield self._case("slide by tuple", share, function)
        for kind, function in (("time", "sum"), ("time", "20 us"), ("count", "median")):
            for share in ("uniform", "50 %", "one key"):
                yield self._case(kind, share, function, is_stream=True)

    def _case(self, kind: str, share: str, function: str, *, is_stream: bool = False) -> Case:
        keys = 1 if share == "one key" else KEYS
        df = self._stream(share) if is_stream else self.data[share]
        windows = wr.stream(df).key_by("k").event_time("t")
        micros = BATCHES if is_stream else 1
        model = self._model(kind, keys, micros)
        windows = windows.window(model)
        hints: dict[str, Any] = {"keys": keys, "rate": 1e6 / micros}
        if 0 < SHARES[share] < 1:
            hints["skew"] = SHARES[share] + (1 - SHARES[share]) / KEYS
        if function in ("sum", "median"):
            query = windows.agg(r=getattr(wf, function)("x"))
        else:
            cost = int(function.split()[0])
            expected = model.expected_rows(1 / keys / micros)
            assert expected is not None
            busy = self._busy(cost, expected[0], by_rows=kind != "slide by tuple")
            query = windows.apply(busy, "r double")
            hints["cost"] = cost
        name = f"{'stream, ' * is_stream}{kind}, {function}, {share}"
        return Case(name, query.hint(**hints), self.rows, is_stream)

    def _stream(self, share: str) -> DataFrame:
        """The same rows in batches, one per second if there are a million."""
        path = self.folder / share.split()[0]
        if not path.exists():
            slower = F.timestamp_micros(F.unix_micros("t") * BATCHES)
            rows = self.data[share].withColumn("t", slower)
            rows = rows.repartitionByRange(BATCHES, "t").sortWithinPartitions("t")
            rows.write.parquet(str(path))
            for number, file in enumerate(sorted(path.glob("*.parquet"))):
                os.utime(file, (number, number))  # Spark reads files in the order of their times.
        stream = self.spark.readStream.schema(self.data[share].schema)
        return stream.option("maxFilesPerTrigger", 1).parquet(str(path))

    def _model(self, kind: str, keys: int, micros: int) -> WindowModel:
        """A window over rows that are so many microseconds apart."""
        apart = max(1, self.rows // WINDOWS)
        if kind == "count":
            return wr.CountWindow(apart * 4, apart)
        if kind == "slide by tuple":
            return wr.SlideByTupleWindow(apart * keys * micros * 4, apart)
        return wr.TimeWindow(apart * keys * micros * 4, apart * keys * micros)

    def _busy(
        self, cost: int, rows: float, *, by_rows: bool
    ) -> Callable[[wr.Window], dict[str, float]]:
        """A function of so many microseconds per window: of this many rows, or of any number.

        Windows that slide by tuples are most frequent where they are the largest.
        """
        steps = self.loops[cost]

        def busy(window: wr.Window) -> dict[str, float]:
            for _ in range(round(steps * len(window) / rows) if by_rows else steps):
                pass
            return {"r": float(window["x"].sum())}

        return busy


def _run_bounded(query: wr.Query) -> tuple[float, Any]:
    start = perf_counter()
    found = _told(query.to_df())
    return perf_counter() - start, found


def _run_stream(query: wr.Query) -> tuple[float, Any]:
    df = query.to_df()
    name = f"results_{monotonic_ns()}"
    with TemporaryDirectory() as checkpoint:
        writer = df.writeStream.format("memory").queryName(name)
        writer = writer.option("checkpointLocation", checkpoint).trigger(availableNow=True)
        running = writer.start()
        running.awaitTermination()
    batches = [p for p in running.recentProgress if p.numInputRows]
    seconds = [p.durationMs["triggerExecution"] / 1000 for p in batches]
    return mean(seconds[1:]), _told(df.sparkSession.table(name))


def _told(df: DataFrame) -> Any:
    own = F.xxhash64("k", "window_id", F.round("r", 3))
    return df.agg(F.count("*"), F.bit_xor(own)).collect()


def try_plans(case: Case) -> tuple[float, list[float]]:
    """How many times the best time the chosen plan takes, and how far predictions are off."""
    query = case.query.window_query()
    resources = case.resources()
    chosen = choose(query, resources).plan
    predictions = weigh(query, resources, Statistics(rows=case.rows), chosen)
    limit = FAR_OFF * min(p.seconds for p in predictions)
    tried = {p.plan: p for p in predictions if p.seconds < limit or p.plan == chosen}
    runs = {plan: _with(case.query, plan) for plan in list(tried)[:MOST_PLANS]}
    times = dict.fromkeys(runs, float("inf"))
    results = []
    for _ in range(REPEATS):
        for plan, planned in runs.items():
            seconds, found = case.run(planned)
            times[plan] = min(times[plan], seconds)
            results.append(found)
    if any(found != results[0] for found in results):
        raise AssertionError(f"{case.name}: the plans disagree")
    best = min(times, key=lambda plan: times[plan])
    ratio = times[chosen] / times[best]
    errors = []
    print(f"{case.name}: chosen {chosen.describe()}, {ratio:.2f} x the best, {best.describe()}")
    for plan in sorted(times, key=lambda plan: times[plan]):
        predicted = tried[plan].seconds
        errors.append(abs(predicted - times[plan]) / times[plan])
        print(f"    {times[plan]:6.2f} s, predicted {predicted:6.2f} s  {plan.describe()}")
    sys.stdout.flush()
    return ratio, errors


def _with(query: Any, plan: Plan) -> wr.Query:
    """The query with this plan; what Spark computes itself is chosen if nothing is hinted."""
    if plan.native is not None:
        found: wr.Query = replace(query, hints=UNKNOWN)
        return found
    used: wr.Query = query.using(plan.pattern)
    return used


def main(rows: int = ROWS, *wanted: str) -> None:
    spark = wr.local_spark(cores=CORES)
    with TemporaryDirectory() as folder:
        every = list(Cases(spark, rows, Path(folder)).all())
        _try_all([c for c in every if not wanted or any(w in c.name for w in wanted)], rows)
    spark.stop()


def _try_all(cases: list[Case], rows: int) -> None:
    ratios, errors = [], []
    try_plans(cases[0])
    print(f"--- {rows:,} rows, {CORES} cores; the first query has been run before")
    for case in cases:
        ratio, off = try_plans(case)
        ratios.append(ratio)
        errors += off
    within = sum(ratio <= WANTED for ratio in ratios)
    print(
        f"{len(ratios)} queries: {within / len(ratios):.0%} within {WANTED} x the best plan "
        f"(target 90 %), at worst {max(ratios):.2f} x (target {NEVER} x); "
        f"predictions are off by {median(errors):.0%} (median of {len(errors)} runs)"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:])
