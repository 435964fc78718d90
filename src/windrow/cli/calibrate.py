"""`windrow calibrate`: measures the planner's constants on this machine and keeps them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import asdict

from rich.console import Console
from rich.table import Table

from windrow.cli.calibration_here import Here
from windrow.cli.java import can_start_spark
from windrow.engine.threads import cores_here
from windrow.planner.constants import IN_PROCESS, ON_SPARK, Constants
from windrow.planner.machine import store


def calibrate(master: str | None, *, with_spark: bool, keeps: bool) -> None:
    """Measure, print a table and store the result for the next queries."""
    console = Console(highlight=False, markup=False)
    progress = Console(stderr=True, highlight=False, markup=False)
    if os.getloadavg()[0] > cores_here() / 2:
        progress.print("the machine is busy: measure again when it is not", soft_wrap=True)
    here = Here()
    shared = _seen(here.all(), progress)
    own = shared | _seen(here.in_process(), progress)
    on_spark = dict(shared)
    if with_spark and _can_start(progress):
        on_spark |= _seen(_on_spark(master, shared.get("keep", ON_SPARK.keep)), progress)
        # There, a partial is sent, and a window's result goes back to the JVM.
        for name, more in (
            ("piece", on_spark.get("exchange", 0)),
            ("window", on_spark.pop("result", 0)),
        ):
            if name in on_spark:
                on_spark[name] += more
    for title, found, shipped in (
        ("in this process", own, IN_PROCESS),
        ("on Spark", on_spark, ON_SPARK),
    ):
        console.print(_table(title, found, shipped))
    if keeps:
        console.print(f"kept in {store(on_spark, own)}", soft_wrap=True)


def _seen(measured: Iterable[tuple[str, float]], console: Console) -> dict[str, float]:
    found = {}
    for name, value in measured:
        is_lost = value <= 0
        console.print(f"{name}: {'lost in the noise' if is_lost else f'{value:.4g} us'}")
        if not is_lost:
            found[name] = value
    return found


def _can_start(console: Console) -> bool:
    """Whether Spark can be measured here."""
    is_there = can_start_spark()
    if not is_there:
        console.print("Spark's steps keep what ships: see windrow check for what it lacks")
    return is_there


def _on_spark(master: str | None, keep: float) -> Iterable[tuple[str, float]]:
    import windrow as wr
    from windrow.cli.calibration_spark import OnSpark

    settings = {} if master is None else {"spark.master": master}
    spark = wr.local_spark(**settings)
    try:
        yield from OnSpark(spark, keep).all()
    finally:
        spark.stop()


def _table(title: str, found: dict[str, float], shipped: Constants) -> Table:
    table = Table(title=f"{title}, in microseconds", title_justify="left", box=None, pad_edge=False)
    table.add_column("step")
    for name in ("ships", "measured"):
        table.add_column(name, justify="right")
    for name, value in asdict(shipped).items():
        measured = f"{found[name]:.4g}" if name in found else "as it ships"
        table.add_row(name, f"{value:.4g}", measured)
    return table
