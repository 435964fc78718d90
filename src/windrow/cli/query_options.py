"""The options that describe a query over files, once for all commands that take them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from windrow.core.durations import TimeUnit

if TYPE_CHECKING:
    from windrow.cli.file_query import FileQuery


@dataclass(frozen=True)
class QueryOptions:
    """The fields are the options, in the order in which ``--help`` shows them."""

    files: Annotated[
        list[str],
        typer.Argument(help="Files of one format, or a folder of them."),
    ]
    window: Annotated[
        str,
        typer.Option(
            "--window",
            "-w",
            help='"count 1000/25", "time 10 s/2 s", "session 30 min", "delta COLUMN 5/1", '
            '"slide-by-tuple 1 min/100", "slide-by-time 100/1 min", "landmark 1 day/1 h".',
        ),
    ]
    agg: Annotated[
        list[str],
        typer.Option(
            "--agg", "-a", help='"mean(price)" or "p95=quantile(price, 0.95)"; repeatable.'
        ),
    ]
    key: Annotated[
        list[str] | None, typer.Option("--key", "-k", help="A key column; repeatable.")
    ] = None
    time: Annotated[str | None, typer.Option("--time", "-t", help="The column of event times.")] = (
        None
    )
    unit: Annotated[
        TimeUnit, typer.Option("--unit", help="The unit of times that are integers.")
    ] = "us"
    delay: Annotated[
        str, typer.Option(help="How late a stream's rows may be; for --open-windows drop.")
    ] = "0 s"
    order_by: Annotated[
        list[str] | None,
        typer.Option("--order-by", help="Orders rows of equal time; repeatable."),
    ] = None
    format: Annotated[
        str | None,
        typer.Option("--format", help="parquet, csv, ipc, orc or json; by default by extension."),
    ] = None
    open_windows: Annotated[
        Literal["emit", "drop"],
        typer.Option("--open-windows", help="Give windows still open at the end, or drop them."),
    ] = "emit"
    ordered: Annotated[
        bool, typer.Option("--ordered", help="Results in order of key and window.")
    ] = False

    def query(self) -> FileQuery:
        """The query; only now is what runs it imported, so that ``--help`` need not wait."""
        from windrow.cli.file_query import FileQuery

        keys, order = self.key or (), self.order_by or ()
        return FileQuery(
            self.files,
            self.window,
            self.agg,
            keys,
            self.time,
            self.unit,
            self.delay,
            order,
            self.format,
            self.open_windows,
            self.ordered,
        )


def takes_query(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose first argument is ``QueryOptions``; they come before options of its own.

    Typer makes options of a function's signature, so the command gets one with the fields in place
    of that argument.
    """
    hints = get_type_hints(command, include_extras=True)
    _, *own = signature(command).parameters.values()
    hints |= get_type_hints(QueryOptions, include_extras=True)
    options = signature(QueryOptions).parameters

    @wraps(command)
    def with_options(**given: Any) -> None:
        command(QueryOptions(**{name: given.pop(name) for name in options}), **given)

    taken = [*options.values(), *own]
    with_options.__annotations__ = {p.name: hints[p.name] for p in taken}
    with_options.__signature__ = Signature(  # type: ignore[attr-defined]
        [p.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[p.name]) for p in taken]
    )
    return with_options
