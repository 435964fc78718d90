"""Checks of a complete query."""

from __future__ import annotations

from windrow.core.computation import Aggregation, Decompose
from windrow.core.errors import WindrowError
from windrow.engine.columns.ddl import parse_schema
from windrow.engine.window_query import CONTROL_COLUMNS, WindowQuery


def check_columns(query: WindowQuery) -> None:
    """Raise if a function needs a column whose type it cannot see."""
    computation = query.computation
    names = computation.columns if isinstance(computation, Aggregation) else query.types
    for name in names:
        query.arrow_type(name)


def check_result_names(query: WindowQuery) -> None:
    """Raise unless the names of the output columns are distinct, ignoring case."""
    taken = {name.casefold(): name for name in (*query.keys, *CONTROL_COLUMNS)}
    if len(taken) < len(query.keys) + len(CONTROL_COLUMNS):
        rule = f"a key column must not be named {CONTROL_COLUMNS}"
        raise WindrowError(rule, f"{list(query.keys)}", "rename it first.")
    if isinstance(query.computation, Decompose):
        for r in query.computation.rounds:
            fields = parse_schema(r.partial_returns, "partial_returns").names
            if clash := [name for name in fields if name in query.keys]:
                rule = "fields of partial_returns must differ from the key columns"
                raise WindrowError(rule, f"{clash}", "choose another name.")
    for name in query.result_schema().names:
        if name.casefold() in taken:
            raise WindrowError(
                "result names must differ from the key columns, the window's columns "
                "and each other",
                f"{name!r}, which is {taken[name.casefold()]!r} already",
                "choose another name.",
            )
        taken[name.casefold()] = name
