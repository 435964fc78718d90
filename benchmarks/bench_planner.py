"""Whether the planner chooses the fastest plan, and how far its predictions are off.

Run with ``make bench-planner``, or ``python -m benchmarks.bench_planner [options] [names]``, where
a query runs if its name contains one of the names. For each query, all plans that are weighed run
on Spark, one after the other, and must give the same results; a plan that takes far longer than the
best one so far is ended. The planner chooses twice: told the number of keys, the share of the most
frequent one, the rate and the cost of the function, and without hints, by what it samples.

Every query's times are added to a file, so that a long run can be stopped and continued: queries
that are in the file are not run again. ``--quick`` runs a few queries of every kind, ``--report``
none. With ``--cpu``, ratios are those of the CPU seconds of all processes, which a busy machine
changes little, but which say nothing of how evenly cores are used.

The bounded input is a cached DataFrame, which tasks cannot read by themselves, or files. Streams
read Parquet files in some batches; their time is that of the mean batch after the first.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory
from threading import Timer
from time import monotonic_ns, perf_counter
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import windrow as wr
from benchmarks.cpu_seconds import cpu_seconds
from benchmarks.planner_cases import QUICK, Case, Cases
from windrow.core.statistics import Statistics
from windrow.planner.choice import weigh
from windrow.planner.plans import Plan

ROWS = 1_000_000
CORES = 2
REPEATS = 2
MOST_TIMES, MOST_MORE = 3.0, 5.0
"""A plan is ended after so many times the best time so far, and so many seconds more."""
WANTED, NEVER = 1.15, 1.5
"""How many times the time of the best plan the chosen one may take: usually, and at worst."""
FILE = Path("artifacts/bench_planner.jsonl")


@dataclass(frozen=True)
class Tried:
    """A plan that has run."""

    plan: str
    predicted: float
    seconds: float | None
    """The best time; None if it was ended."""
    cpu: float | None


@dataclass(frozen=True)
class Found:
    """What a query has shown."""

    name: str
    rows: int
    tried: list[Tried]
    hinted: str
    """The plan that is chosen with hints."""
    unhinted: str
    chose_in: float
    """Seconds that it took to choose without hints."""

    def ratio(self, plan: str, *, by_cpu: bool) -> float:
        """How many times the best time the plan takes."""
        times = {t.plan: t.cpu if by_cpu else t.seconds for t in self.tried}
        known = [time for time in times.values() if time is not None]
        own = times.get(plan)
        return float("inf") if own is None else own / min(known)

    @property
    def errors(self) -> list[float]:
        """How far the predictions are off."""
        return [abs(t.predicted - t.seconds) / t.seconds for t in self.tried if t.seconds]


def try_plans(case: Case) -> Found:
    """Run all plans of a query."""
    hinted = case.query.hint(**case.hints)
    on = hinted.source.decision(hinted.window_query(), None)
    start = perf_counter()
    unhinted = case.query.source.decision(case.query.window_query(), None).choice.plan
    chose_in = perf_counter() - start
    predictions = weigh(on.query, on.resources, Statistics(rows=case.rows), on.choice.plan)
    # The first job of a query compiles its code.
    _run(case, _with(case.query, on.choice.plan), None)
    best: dict[Plan, tuple[float, float] | None] = {}
    results = []
    least = float("inf")
    for number in range(REPEATS):
        for plan in [p.plan for p in predictions]:
            if number and best[plan] is None:
                continue
            limit = None if least == float("inf") else MOST_TIMES * least + MOST_MORE
            ran = _run(case, _with(case.query, plan), limit)
            if ran is None:
                best[plan] = None
                continue
            seconds, cpu, told = ran
            results.append(told)
            earlier = best.get(plan) or (seconds, cpu)
            best[plan] = min(earlier[0], seconds), min(earlier[1], cpu)
            least = min(least, seconds)
    if any(told != results[0] for told in results):
        raise AssertionError(f"{case.name}: the plans disagree")
    tried = [
        Tried(p.plan.describe(), p.seconds, *(best[p.plan] or (None, None))) for p in predictions
    ]
    names = on.choice.plan.describe(), unhinted.describe()
    return Found(case.name, case.rows, tried, *names, chose_in)


def _with(query: Any, plan: Plan) -> wr.Query:
    """The query with this plan."""
    if plan.native is not None:
        native: wr.Query = replace(query, prefers_native=True)
        return native
    used: wr.Query = query.using(plan.pattern)
    return used


def _run(case: Case, query: wr.Query, limit: float | None) -> tuple[float, float, Any] | None:
    """Wall and CPU seconds, and what tells the results from others; None if it was ended."""
    spark = wr.local_spark()
    timer = Timer(limit or 0, _ended, [spark]) if limit else None
    if timer:
        timer.start()
    start, cpu = perf_counter(), cpu_seconds()
    try:
        seconds, told = (_run_stream if case.is_stream else _run_bounded)(query)
    except PySparkException:
        if limit is None or perf_counter() - start < limit:
            raise
        return None
    finally:
        if timer:
            timer.cancel()
    return seconds, cpu_seconds() - cpu, told


def _ended(spark: SparkSession) -> None:
    for running in spark.streams.active:
        running.stop()
    spark.sparkContext.cancelAllJobs()


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
    keys = [name for name in df.columns if name == "k"]
    own = F.xxhash64(*keys, "window_id", F.round("r", 3))
    return df.agg(F.count("*"), F.bit_xor(own)).collect()


def show(found: Found, *, by_cpu: bool) -> None:
    """Print the plans of a query, the fastest first."""
    ratios = [found.ratio(plan, by_cpu=by_cpu) for plan in (found.hinted, found.unhinted)]
    print(
        f"{found.name}: hinted {ratios[0]:.2f} x the best, {found.hinted}; "
        f"unhinted {ratios[1]:.2f} x, {found.unhinted}, chosen in {found.chose_in:.2f} s"
    )
    for t in sorted(found.tried, key=lambda t: t.seconds or float("inf")):
        took = "   ended" if t.seconds is None else f"{t.seconds:6.2f} s"
        cpu = "" if t.cpu is None else f", {t.cpu:6.2f} CPU s"
        print(f"    {took}{cpu}, predicted {t.predicted:6.2f} s  {t.plan}", flush=True)


def summarise(every: list[Found], *, by_cpu: bool) -> None:
    """Print how many choices are right, and how far predictions are off."""
    for mode in ("hinted", "unhinted"):
        ratios = {f.name: f.ratio(getattr(f, mode), by_cpu=by_cpu) for f in every}
        within = sum(ratio <= WANTED for ratio in ratios.values()) / len(ratios)
        worst = max(ratios, key=lambda name: ratios[name])
        print(
            f"{mode}: {len(ratios)} queries, {within:.0%} within {WANTED} x the best plan "
            f"(target 90 %), at worst {ratios[worst]:.2f} x (target {NEVER} x): {worst}"
        )
    errors = [error for found in every for error in found.errors]
    print(f"predictions are off by {median(errors):.0%} (median of {len(errors)} runs)")


def read(path: Path) -> dict[str, Found]:
    """What earlier runs have found, by query."""
    lines = path.read_text().splitlines() if path.exists() else []
    data = [json.loads(line) for line in lines]
    return {
        d["name"]: Found(**{**d, "tried": [Tried(**tried) for tried in d["tried"]]}) for d in data
    }


def main(arguments: Iterable[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Measure the planner's choices.")
    parser.add_argument("names", nargs="*", help="parts of names of queries")
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--quick", action="store_true", help="a few queries of every kind")
    parser.add_argument("--report", action="store_true", help="only what the file tells")
    parser.add_argument("--cpu", action="store_true", help="ratios of CPU seconds")
    parser.add_argument("--file", type=Path, default=FILE)
    options = parser.parse_args(None if arguments is None else list(arguments))
    known = {n: f for n, f in read(options.file).items() if f.rows == options.rows}
    if not options.report:
        options.file.parent.mkdir(parents=True, exist_ok=True)
        spark = wr.local_spark(cores=CORES)
        with TemporaryDirectory() as folder:
            for name, make in Cases(spark, options.rows, Path(folder)).all():
                is_wanted = not options.quick or name in QUICK
                is_named = not options.names or any(part in name for part in options.names)
                if name in known or not (is_wanted and is_named):
                    continue
                known[name] = try_plans(make())
                with options.file.open("a") as file:
                    file.write(json.dumps(asdict(known[name])) + "\n")
                show(known[name], by_cpu=options.cpu)
        spark.stop()
    found = [f for n, f in known.items() if not options.names or any(p in n for p in options.names)]
    if options.report:
        for each in found:
            show(each, by_cpu=options.cpu)
    if found:
        summarise(found, by_cpu=options.cpu)


if __name__ == "__main__":
    main()
