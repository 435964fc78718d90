"""`windrow simulate`: how long a query over files takes on any number of slots."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

from rich.console import Console
from rich.table import Table

from windrow.api.datasets import DatasetSource
from windrow.api.query import Query
from windrow.cli.file_query import FileQuery
from windrow.engine.datasets.sampling import sampled
from windrow.engine.intake import needed_columns
from windrow.planner.alternatives import bytes_of, seconds_of
from windrow.planner.simulate import Simulated, simulate


def show_simulation(
    files: FileQuery, slots: Sequence[int], *, replays: bool, masters: Sequence[str]
) -> None:
    """Print the simulated times, and how far they are from those on Spark."""
    query = files.query()
    complete, source = query.window_query(), query.source
    assert isinstance(source, DatasetSource)
    scan = source.reading(needed_columns(complete), complete.time)
    pieces = source.pieces
    names = {name: name for name in scan.columns}
    known = sampled(complete, scan, pieces, names, least=0)
    width = None if sys.stdout.isatty() else 1000
    console = Console(width=width, highlight=False, markup=False)
    told = ", ".join(f"{name} {value:.4g}" for name, value in known.known.items())
    console.print(f"a sample tells: {told or 'nothing'}", soft_wrap=True)
    given = (scan, pieces) if replays else None
    measured = [Measured(master, *_on_spark(query, master)) for master in masters]
    wanted = sorted({*slots, *(m.slots for m in measured)})
    found = simulate(complete, known, wanted, given, query.pattern)
    console.print(_table(found, measured, replays=replays), soft_wrap=True)


@dataclass(frozen=True)
class Measured:
    """What a query took on Spark."""

    master: str
    slots: int
    seconds: float


def _on_spark(query: Query, master: str) -> tuple[int, float]:
    """How many slots a session has, and how long the query takes there once it is warm."""
    import windrow as wr
    from windrow.spark.cores import cores_of

    spark = wr.local_spark(**{"spark.master": master, "spark.sql.shuffle.partitions": 8})
    try:
        took = []
        for _ in range(3):
            start = perf_counter()
            query.to_df(spark).write.format("noop").mode("overwrite").save()
            took.append(perf_counter() - start)
        return cores_of(spark), min(took[1:])
    finally:
        spark.stop()


def _table(found: Sequence[Simulated], measured: Sequence[Measured], *, replays: bool) -> Table:
    columns = ["slots", "plan", "model", "rows/s", "held"]
    columns += ["replay"] * replays
    columns += ["checked on", "took", "model is off"] if measured else []
    columns += ["replay is off"] * (replays and bool(measured))
    table = Table(box=None, pad_edge=False)
    for name in columns:
        is_text = name in ("plan", "checked on")
        table.add_column(name, justify="left" if is_text else "right", no_wrap=True)
    for each in found:
        checks = [_checked(each, m) for m in measured if m.slots == each.slots]
        for check in checks or [[]]:
            table.add_row(*_cells(each), *check)
    return table


def _cells(each: Simulated) -> list[str]:
    p = each.prediction
    cells = [f"{each.slots}", p.plan.describe(), seconds_of(p.seconds)]
    cells += [f"{p.rows_per_second / 1e6:.3g} M", bytes_of(p.bytes)]
    return cells + ([] if each.replayed is None else [seconds_of(each.replayed)])


def _checked(each: Simulated, check: Measured) -> list[str]:
    real = check.seconds
    cells = [check.master, seconds_of(real), _off(each.prediction.seconds, real)]
    return cells + ([] if each.replayed is None else [_off(each.replayed, real)])


def _off(predicted: float, real: float) -> str:
    return f"{predicted / real - 1:+.0%}"
