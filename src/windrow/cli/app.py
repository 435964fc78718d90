"""The command line: its commands and their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from windrow.cli.query_options import QueryOptions, takes_query
from windrow.core.version import VERSION

app = typer.Typer(
    help="Windows over files and streams.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def windrow(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Windows over files and streams."""
    if version:
        print(f"windrow {VERSION}")
        raise typer.Exit


@app.command()
@takes_query
def run(
    options: QueryOptions,
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", help="A .parquet, .csv, .arrow or .orc file; else a table."),
    ] = None,
    limit: Annotated[int, typer.Option(min=0, help="Rows of the table.")] = 20,
) -> None:
    """Compute windows over files, in this process."""
    options.query().run(out, limit)


@app.command()
@takes_query
def explain(options: QueryOptions) -> None:
    """Say what `run` with the same options does."""
    options.query().explain()


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
        str | None,
        typer.Option(
            help="Spark's master, or sc://host:15002 for Spark Connect; by default this machine."
        ),
    ] = None,
) -> None:
    """Check the installation, and say how to repair what is wrong."""
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
    """Show whose state a checkpoint holds, and how much of it."""
    from windrow.cli.inspection import show_checkpoint

    show_checkpoint(checkpoint, keys)


@app.command()
def bench(
    rows: Annotated[int, typer.Option(min=1000, help="Rows of each query.")] = 2_000_000,
    spark: Annotated[bool, typer.Option(help="Time Spark, too.")] = True,
) -> None:
    """Time typical queries here, beside Spark's own ways; takes minutes."""
    from windrow.cli.bench import bench

    bench(rows, with_spark=spark)


@app.command()
def calibrate(
    master: Annotated[
        str | None, typer.Option(help="Spark's master; by default all cores of this machine.")
    ] = None,
    spark: Annotated[bool, typer.Option(help="Measure Spark's steps, too.")] = True,
    keep: Annotated[bool, typer.Option(help="Keep the result for the next queries.")] = True,
) -> None:
    """Measure what the planner's steps cost here; takes a minute."""
    from windrow.cli.calibrate import calibrate

    calibrate(master, with_spark=spark, keeps=keep)


@app.command()
@takes_query
def simulate(
    options: QueryOptions,
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
    """Predict how long `run` takes on any number of cores."""
    from windrow.cli.simulation import show_simulation

    show_simulation(options.query(), slots, replays=replay, masters=check or ())
