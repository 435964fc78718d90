"""Checks of a join's time columns and result names, made when it is built."""

from __future__ import annotations

from windrow.core.errors import WindrowError
from windrow.core.names import check_reserved
from windrow.engine.columns.ddl import type_name
from windrow.engine.joins.attributes import SIDES, column_type
from windrow.engine.joins.join_query import JoinQuery

_TIMES = ("timestamp", "timestamp_ntz", "date", "bigint", "int")


def check(query: JoinQuery, *, is_case_sensitive: bool) -> None:
    """Raise if a time column has the wrong type, or two columns of the result the same name."""
    for side, time in enumerate(query.time or ()):
        kind = type_name(column_type(query.schemas[side], side, time, "time"))
        if kind not in _TIMES:
            raise WindrowError(
                "join time must be a column of timestamps, dates or integer microseconds",
                f"{time!r} of {kind} on the {SIDES[side]}",
                "convert it first, for example with to_timestamp().",
            )
    check_names(query, is_case_sensitive=is_case_sensitive)


def check_names(query: JoinQuery, *, is_case_sensitive: bool) -> None:
    """Raise if two columns of the result have the same name, or one a name of Windrow's own."""
    taken: dict[str, str] = {}
    for name in query.output_schema().names:
        check_reserved("result", name)
        folded = name if is_case_sensitive else name.lower()
        if folded in taken:
            same = f"{taken[folded]!r} and {name!r}"
            raise WindrowError(
                "the columns of both sides must have different names in the result",
                f"{f'{name!r} twice' if taken[folded] == name else same} "
                f"with prefixes={query.prefixes}",
                'choose other prefixes, for example ("left_", "right_"), or other names.',
            )
        taken[folded] = name
