"""The command line: its commands and their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from windrow.core import durations
from windrow.core.version import VERSION

app = typer.Typer(
    help="Windows over files and streams.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


Files = Annotated[list[str], typer.Argument(help="Files of one format, or a folder of them.")]
WindowText = Annotated[
    str,
    typer.Option(
        "--window",
        "-w",
        help='"count 1000/25", "time 10 s/2 s", "slide-by-tuple 1 min/100", '
        '"slide-by-time 100/1 min", "delta COLUMN 5/1", "session 30 min", "landmark 1 day/1 h".',
    ),
]
Functions = Annotated[
    list[str],
    typer.Option("--agg", "-a", help='"mean(price)" or "p95=quantile(price, 0.95)"; repeatable.'),
]
Keys = Annotated[list[str] | None, typer.Option("--key", "-k", help="A key column; repeatable.")]
Time = Annotated[str | None, typer.Option("--time", "-t", help="The column of event times.")]
TimeUnit = Annotated[
    durations.TimeUnit, typer.Option("--unit", help="The unit of times that are integers.")
]
Delay = Annotated[str, typer.Option(help="How late a stream's rows may be; for drop.")]
OrderBy = Annotated[
    list[str] | None,
    typer.Option("--order-by", help="Orders rows of equal time; repeatable."),
]
Format = Annotated[
    str | None,
    typer.Option("--format", help="parquet, csv, ipc, orc or json; by default by extension."),
]
Open = Annotated[
    Literal["emit", "drop"],
    typer.Option("--open-windows", help="Give windows still open at the end, or drop them."),
]
Ordered = Annotated[bool, typer.Option("--ordered", help="Results in order of key and window.")]


@app.callback(invoke_without_command=True)
def windrow(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Windows over files and streams."""
    if version:
        print(f"windrow {VERSION}")
        raise typer.Exit


@app.command()
def run(
    files: Files,
    window: WindowText,
    agg: Functions,
    key: Keys = None,
    time: Time = None,
    unit: TimeUnit = "us",
    delay: Delay = "0 s",
    order_by: OrderBy = None,
    format: Format = None,
    open_windows: Open = "emit",
    ordered: Ordered = False,
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", help="A .parquet, .csv, .arrow or .orc file; else a table."),
    ] = None,
    limit: Annotated[int, typer.Option(min=0, help="Rows of the table.")] = 20,
) -> None:
    """Compute windows over files, in this process."""
    from windrow.cli.file_query import FileQuery

    keys, order = key or (), order_by or ()
    query = FileQuery(
        files, window, agg, keys, time, unit, delay, order, format, open_windows, ordered
    )
    query.run(out, limit)


@app.command()
def explain(
    files: Files,
    window: WindowText,
    agg: Functions,
    key: Keys = None,
    time: Time = None,
    unit: TimeUnit = "us",
    delay: Delay = "0 s",
    order_by: OrderBy = None,
    format: Format = None,
    open_windows: Open = "emit",
    ordered: Ordered = False,
) -> None:
    """Say what `run` with the same options does."""
    from windrow.cli.file_query import FileQuery

    keys, order = key or (), order_by or ()
    query = FileQuery(
        files, window, agg, keys, time, unit, delay, order, format, open_windows, ordered
    )
    query.explain()


@app.command()
def demo(
    seconds: Annotated[int, typer.Option(min=1, help="Duration from the first windows on.")] = 20,
    rows_per_second: Annotated[int, typer.Option(min=1, help="Rate of the source.")] = 50_000,
    png: Annotated[Path, typer.Option(help="Where the plot goes.")] = Path("artifacts/demo.png"),
) -> None:
    """Show windows over a live stream, check them and plot them."""
    from windrow.cli.demo import demo

    raise typer.Exit(demo(rows_per_second, seconds, png))


@app.command(context_settings={"allow_interspersed_args": False, "ignore_unknown_options": True})
def dashboard(
    program: Annotated[Path | None, typer.Argument(help="A Python program with streams.")] = None,
    arguments: Annotated[list[str] | None, typer.Argument(help="What it is given.")] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Show streams made for it.")] = False,
    host: Annotated[str, typer.Option(help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port; 0 for any free one.")] = 4050,
) -> None:
    """Run a program and show its streams in the browser, live."""
    from windrow.cli.dashboard import dashboard

    if demo == (program is not None):
        raise typer.BadParameter("give a program to run, or --demo")
    dashboard(program, arguments or (), host, port)


@app.command()
def check(
    master: Annotated[
        str | None, typer.Option(help="Spark's master; by default all cores of this machine.")
    ] = None,
) -> None:
    """Check the installation, and Spark with a self-test; every problem comes with its remedy."""
    from windrow.cli.check import check
    from windrow.cli.findings import show

    raise typer.Exit(1 if show(check(master)) else 0)


@app.command()
def warm(
    folder: Annotated[
        Path | None, typer.Argument(help="Where to keep them; by default in the package.")
    ] = None,
) -> None:
    """Compile the kernels of all kinds of queries, to be shipped to other machines."""
    from windrow.cli.warm import show_warming

    show_warming(folder)


@app.command()
def inspect(
    checkpoint: Annotated[str, typer.Argument(help="The checkpoint of a streaming query.")],
    keys: Annotated[int, typer.Option(min=0, help="How many of the biggest keys to show.")] = 5,
) -> None:
    """Show whose state a checkpoint holds, and how much of it; nothing is changed."""
    from windrow.cli.inspection import show_checkpoint

    show_checkpoint(checkpoint, keys)


@app.command()
def calibrate(
    master: Annotated[
        str | None, typer.Option(help="Spark's master; by default all cores of this machine.")
    ] = None,
    spark: Annotated[bool, typer.Option(help="Measure Spark's steps, too.")] = True,
    keep: Annotated[bool, typer.Option(help="Keep the result for the next queries.")] = True,
) -> None:
    """Measure what the planner's steps cost on this machine; takes a minute or two."""
    from windrow.cli.calibrate import calibrate

    calibrate(master, with_spark=spark, keeps=keep)


@app.command()
def simulate(
    files: Files,
    window: WindowText,
    agg: Functions,
    key: Keys = None,
    time: Time = None,
    unit: TimeUnit = "us",
    order_by: OrderBy = None,
    format: Format = None,
    slots: Annotated[
        list[int], typer.Option(min=1, max=65_536, help="Tasks that run at once; repeatable.")
    ] = [4, 64, 1024],  # noqa: B006 (Typer copies it)
    replay: Annotated[
        bool, typer.Option(help="Time each worker by itself, and replay them on the slots.")
    ] = False,
    check: Annotated[
        list[str] | None,
        typer.Option(help='Run on this Spark master, such as "local[2]", too; repeatable.'),
    ] = None,
) -> None:
    """Predict how long a query over files takes on any number of cores of a cluster."""
    from windrow.cli.file_query import FileQuery
    from windrow.cli.simulation import show_simulation

    query = FileQuery(
        files, window, agg, key or (), time, unit, order_by=order_by or (), format=format
    )
    show_simulation(query, slots, replays=replay, masters=check or ())
