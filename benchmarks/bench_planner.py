"""Whether the planner chooses the fastest plan, and how far its predictions are off.

Run with ``make bench-planner``, or ``python -m benchmarks.bench_planner [options] [names]``, where
a query runs if its name contains one of the names. By default the core queries run, one of each
model, function, distribution of keys and source at least; ``--all`` runs all of them.

For each query, all plans that are weighed run on Spark, one after the other, and must give the same
results; a plan that takes far longer than the best one so far is ended. Those that are close to
the best one run again. The planner chooses twice: told the number of keys, the share of the most
frequent one, the rate and the cost of the function, and without hints, by what it samples.

Every query's times are added to a file, so that a long run can be stopped and continued: queries
that are in the file are not run again. With ``--choose`` the planner chooses again for these, and
only plans run that have no times. ``--report`` runs none. ``--again`` runs all anew.

The bounded input is a cached DataFrame, which tasks cannot read by themselves, or files. Streams
read Parquet files in some batches; their time is that of the mean batch after the first.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from threading import Timer
from time import monotonic_ns, perf_counter, sleep
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import DoubleType, StructField

import windrow as wr
from benchmarks.cpu_seconds import busy_seconds, cpu_seconds
from benchmarks.planner_cases import BATCHES, CORE, Case, Cases, all_names
from benchmarks.planner_report import Found, Tried, add, read, show, summarise
from windrow.core.statistics import Statistics
from windrow.planner.choice import weigh
from windrow.planner.plans import Plan
from windrow.spark import streaming
from windrow.spark.settings import PARTITIONS
from windrow.spark.stages import StagePlan

ROWS = 1_000_000
CORES = 2
MEMORY = "4g"
REPEATS = 2
WARMING = 5
"""How often the first query runs before anything is measured."""
CLOSE = 1.25
"""Plans that take up to so many times the best time run again."""
ENOUGH, CLOSE_ENOUGH = 5, 1.05
"""How often chosen plans and the best one run at most, if they differ by more than so much."""
MOST_TIMES, MOST_MORE = 3.0, 3.0
"""A plan is ended after so many times the best time so far, and so many seconds more."""
ATTEMPTS, ALONE = 2, 0.2
"""A run is tried again if other programs take more than so many cores meanwhile."""
SETTLING, IDLE = 0.2, 0.3
"""How often it is looked whether tasks have ended, and the cores that are busy without them."""
FILE = Path("artifacts/bench_planner.jsonl")


def try_plans(case: Case, known: dict[str, Tried]) -> Found:
    """Choose, and run all plans of a query whose times are not known."""
    hinted = case.query.hint(**case.hints)
    told = hinted.source.decision(hinted.window_query(), None)
    start = perf_counter()
    untold = case.query.source.decision(case.query.window_query(), None)
    chose_in = perf_counter() - start
    statistics = Statistics(rows=case.rows, hot_keys=untold.sampled.hot_keys)
    weighed = weigh(told.query, told.resources, statistics, told.choice.plan)
    predicted = {untold.choice.plan: untold.predictions()[0].seconds}
    predicted |= {p.plan: p.seconds for p in weighed}
    missing = [plan for plan in predicted if plan.describe() not in known]
    chosen = {told.choice.plan, untold.choice.plan}
    times = _timed(case, missing, chosen) if missing else {}
    every = {plan: known.get(plan.describe()) or times[plan] for plan in predicted}
    _race(case, every, chosen)
    tried = [replace(t, predicted=predicted[plan]) for plan, t in every.items()]
    names = told.choice.plan.describe(), untold.choice.plan.describe()
    return Found(case.name, case.rows, tried, *names, chose_in)


def _timed(case: Case, plans: list[Plan], chosen: set[Plan]) -> dict[Plan, Tried]:
    """The best times of the plans."""
    # The first job of a query compiles its code.
    _run(case, _with(case.query, plans[0]), None)
    found = {plan: Tried(plan.describe(), 0.0, None, None, 0) for plan in plans}
    results, least = [], inf
    for number in range(REPEATS):
        for plan, tried in found.items():
            is_close = (tried.seconds or inf) <= CLOSE * least
            if number and not is_close and not (plan in chosen and tried.seconds):
                continue
            limit = None if least == inf else (MOST_TIMES * least + MOST_MORE) * case.parts
            for _ in range(ATTEMPTS if number else 1):
                ran = _run(case, _with(case.query, plan), limit)
                if ran is None or ran.others <= ALONE:
                    break
            if ran is None:
                _settle()
                continue
            seconds, cpu, told = ran.seconds, ran.cpu, ran.told
            results.append(told)
            best = min(tried.seconds or inf, seconds), min(tried.cpu or inf, cpu)
            found[plan] = Tried(tried.plan, 0.0, *best, tried.runs + 1)
            least = min(least, seconds)
    if any(told != results[0] for told in results):
        raise AssertionError(f"{case.name}: the plans disagree")
    return found


def _with(query: Any, plan: Plan) -> wr.Query:
    """The query with this plan."""
    if plan.native is not None:
        native: wr.Query = replace(query, prefers_native=True)
        return native
    used: wr.Query = query.using(plan.pattern)
    return used


def _race(case: Case, tried: dict[Plan, Tried], chosen: set[Plan]) -> None:
    """Run the chosen plans and the best one again, in turn, unless the chosen are as good.

    The best of many equal plans is the one that was disturbed the least.
    """
    for _ in range(ENOUGH):
        best = min(tried, key=lambda plan: tried[plan].seconds or inf)
        least = tried[best].seconds or inf
        behind = [plan for plan in chosen if (tried[plan].seconds or inf) > CLOSE_ENOUGH * least]
        again = [plan for plan in (*behind, best) if tried[plan].runs < ENOUGH]
        if not behind or not any(plan in again for plan in behind):
            break
        for plan in again:
            ran = _run(case, _with(case.query, plan), None)
            assert ran is not None
            known = tried[plan]
            best_time = min(known.seconds or inf, ran.seconds)
            cpu = min(known.cpu or inf, ran.cpu)
            tried[plan] = replace(known, seconds=best_time, cpu=cpu, runs=known.runs + 1)


@dataclass(frozen=True)
class Ran:
    """A run that was not ended."""

    seconds: float
    cpu: float
    others: float
    """How many cores other programs took meanwhile."""
    told: Any
    """What tells the results from others."""


def _run(case: Case, query: wr.Query, limit: float | None) -> Ran | None:
    """Run a query; None if it was ended."""
    spark = case.query.source.session
    timer = Timer(limit or 0, _ended, [spark]) if limit else None
    if timer:
        timer.start()
    start, cpu, busy = perf_counter(), cpu_seconds(), busy_seconds()
    try:
        if case.is_stream:
            _set_partitions(query)
        seconds, told = (_run_stream if case.is_stream else _run_bounded)(query)
    except (PySparkException, Py4JError):
        if limit is None or perf_counter() - start < limit:
            raise
        return None
    finally:
        if timer:
            timer.cancel()
    took, own, all_of_it = perf_counter() - start, cpu_seconds() - cpu, busy_seconds() - busy
    return Ran(seconds, own, (all_of_it - own) / took, told)


def _ended(spark: SparkSession) -> None:
    for running in spark.streams.active:
        running.stop()
    spark.sparkContext.cancelAllJobs()


def _settle() -> None:
    """Wait until the tasks of a job that was ended have noticed it."""
    before = -inf
    while (now := cpu_seconds()) - before > IDLE * SETTLING:
        before = now
        sleep(SETTLING)


def _run_bounded(query: wr.Query) -> tuple[float, Any]:
    start = perf_counter()
    found = _told(query.to_df())
    return perf_counter() - start, found


def _set_partitions(query: wr.Query) -> None:
    """Let workers share as many partitions of the state as they do where a plan is chosen."""
    source: Any = query.source
    stages = streaming.plan(query.window_query(), source.df, query.pattern).stages
    planned = StagePlan.of(stages, query.window_query(), is_stream=True)
    wanted = streaming.state_partitions(planned, source.session, is_given=False)
    source.session.conf.set(PARTITIONS, wanted)


def _run_stream(query: wr.Query) -> tuple[float, Any]:
    df = query.to_df()
    name = f"results_{monotonic_ns()}"
    with TemporaryDirectory() as checkpoint:
        writer = df.writeStream.format("memory").queryName(name)
        writer = writer.option("checkpointLocation", checkpoint).trigger(availableNow=True)
        running = writer.start()
        running.awaitTermination()
    batches = [p for p in running.recentProgress if p.numInputRows]
    if len(batches) < BATCHES:
        raise PySparkException("the stream was ended")
    seconds = [p.durationMs["triggerExecution"] / 1000 for p in batches]
    told = _told(df.sparkSession.table(name))
    df.sparkSession.catalog.dropTempView(name)  # It holds all results.
    return mean(seconds[1:]), told


def _told(df: DataFrame) -> Any:
    return df.agg(F.count("*"), F.bit_xor(F.xxhash64(*map(_rounded, df.schema)))).collect()


def _rounded(field: StructField) -> Column:
    """A column, less what floats lose in another order."""
    column = F.col(field.name)
    if field.dataType == DoubleType():
        return F.round(column, 3)
    return F.round(column["slope"], 3) if field.name == "fit" else column


def main(arguments: Iterable[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Measure the planner's choices.")
    parser.add_argument("names", nargs="*", help="parts of names of queries")
    parser.add_argument("--all", action="store_true", help="all queries, not only the core ones")
    parser.add_argument("--choose", action="store_true", help="choose again for measured queries")
    parser.add_argument("--again", action="store_true", help="run measured queries anew")
    parser.add_argument("--report", action="store_true", help="only what the file tells")
    parser.add_argument("--seconds", type=float, default=inf, help="begin no query after so long")
    parser.add_argument("--file", type=Path, default=FILE)
    options = parser.parse_args(None if arguments is None else list(arguments))
    start, known = perf_counter(), read(options.file)
    names = [
        name
        for name in (dict.fromkeys(all_names()) if options.all else CORE)
        if not options.names or any(part in name for part in options.names)
    ]
    if options.report:
        for name in known.keys() & set(names):
            show(known[name])
    else:
        options.file.parent.mkdir(parents=True, exist_ok=True)
        spark, is_warm = wr.local_spark(cores=CORES, spark__driver__memory=MEMORY), False
        with TemporaryDirectory() as folder:
            cases = Cases(spark, ROWS, Path(folder))
            for name in names:
                if name in known and not (options.choose or options.again):
                    continue
                if perf_counter() - start > options.seconds:
                    break
                if not is_warm:
                    # The first jobs of a session compile Spark's code.
                    first = cases.case(name)
                    for _ in range(WARMING):
                        _run(first, first.query, None)
                    is_warm = True
                times = [] if name not in known or options.again else known[name].tried
                known[name] = try_plans(cases.case(name), {t.plan: t for t in times})
                add(options.file, known[name])
                show(known[name])
        spark.stop()
    shown = [known[name] for name in names if name in known]
    if shown:
        summarise(shown)


if __name__ == "__main__":
    main()
