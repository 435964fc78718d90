"""Checks of a join's time columns and result names, made when it is built."""

from __future__ import annotations

from windrow.core.errors import WindrowError
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
    _check_names(query, is_case_sensitive)


def _check_names(query: JoinQuery, is_case_sensitive: bool) -> None:
    taken: set[str] = set()
    for name in query.output_schema().names:
        folded = name if is_case_sensitive else name.lower()
        if folded in taken:
            raise WindrowError(
                "the columns of both sides must have different names in the result",
                f"{name!r} twice with prefixes={query.prefixes}",
                'choose other prefixes, for example ("left_", "right_").',
            )
        taken.add(folded)
