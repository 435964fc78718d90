"""Checks of a complete query."""

from __future__ import annotations

from windrow.core.computation import Aggregation, Decompose
from windrow.core.errors import WindrowError
from windrow.core.names import check_reserved, same_name
from windrow.engine.columns.ddl import parse_schema
from windrow.engine.evaluate.partials import PartialColumns
from windrow.engine.window_query import CONTROL_COLUMNS, WindowQuery
from windrow.patterns import KeyFarm, Pattern
from windrow.patterns.hot_keys import hot_keys_of


def check_columns(query: WindowQuery) -> None:
    """Raise if a function needs a column whose type it cannot see."""
    computation = query.computation
    names = computation.columns if isinstance(computation, Aggregation) else query.types
    for name in names:
        query.arrow_type(name)


def check_hot_keys(query: WindowQuery, pattern: Pattern | None) -> None:
    """Raise unless hot keys, of the pattern or of hints, are values of the key columns."""
    if isinstance(pattern, KeyFarm):
        hot_keys_of(query, pattern.hot_keys)
    hot_keys_of(query, [key for key, _ in query.hints.hot_keys or ()])


def check_result_names(query: WindowQuery, *, is_case_sensitive: bool) -> None:
    """Raise unless the names of the output columns are distinct, and none is Windrow's own."""
    for key in query.keys:
        if same_name(key, CONTROL_COLUMNS, is_case_sensitive=is_case_sensitive):
            rule = f"a key column must not be named {CONTROL_COLUMNS}"
            raise WindrowError(rule, f"{list(query.keys)}", "rename it first.")
    _check_partial_names(query)
    taken = [*query.keys, *CONTROL_COLUMNS]
    for name in query.result_schema().names:
        check_reserved("result", name)
        if known := same_name(name, taken, is_case_sensitive=is_case_sensitive):
            raise WindrowError(
                "result names must differ from the key columns, the window's columns "
                "and each other",
                repr(name) if name == known else f"{name!r} beside {known!r}",
                "choose another name.",
            )
        taken.append(name)


def _check_partial_names(query: WindowQuery) -> None:
    """Raise if a column of partials, which are beside their keys, has the name of a key column."""
    if isinstance(query.computation, Decompose):
        for r in query.computation.rounds:
            fields = parse_schema(r.partial_returns, "partial_returns").names
            for name in fields:
                check_reserved("field of partial_returns", name)
            if clash := [name for name in fields if name in query.keys]:
                rule = "fields of partial_returns must differ from the key columns"
                raise WindrowError(rule, f"{clash}", "choose another name.")
    if isinstance(query.computation, Aggregation):
        names = PartialColumns(query).schema.names
        if clash := [key for key in query.keys if key in names]:
            rule = 'a key column must not be named as a result followed by "#"'
            raise WindrowError(rule, f"{clash}", "rename it first.")
