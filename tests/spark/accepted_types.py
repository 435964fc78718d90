"""Which types are accepted in which role, written down: a change to it is a change for users."""

from __future__ import annotations

WHOLE = {"tinyint", "smallint", "int", "bigint"}
FLOATS = {"float", "double"}
NUMBERS = {*WHOLE, *FLOATS, "decimal(10,2)", "decimal(38,18)", "decimal(2,2)"}
MOMENTS = {"date", "timestamp", "timestamp_ntz"}
EQUAL = {*NUMBERS, *MOMENTS, "boolean", "string", "binary"}
PLAIN = {*EQUAL, "time(0)", "time(3)", "time(6)", "interval day", "interval day to second"}
COLLATED = {
    f"string collate {collation}"
    for collation in ("UTF8_LCASE", "UNICODE_CI", "UTF8_BINARY_RTRIM", "UNICODE_RTRIM")
}
PADDED = {"varchar(4)", "char(2)", "array<varchar(4)>", "array<char(2)>"}
READ = {*PLAIN, *COLLATED, *PADDED, "void"}

ACCEPTED: dict[str, set[str]] = {
    "key_by": {*PLAIN, "void"},
    "order_by": PLAIN,
    "event_time": {*MOMENTS, "int", "bigint"},
    "delta": {*WHOLE, *FLOATS},
    "fold": {*PLAIN, "void"},
    "equi": EQUAL,
    "band": {*WHOLE, *FLOATS, *MOMENTS},
    "join": {*PLAIN, *COLLATED, "variant", "geometry(0)", "void"},
    **dict.fromkeys(("count", "first", "last", "collect", "first_known", "last_known"), READ),
    **dict.fromkeys(("min", "max", "mode", "count_distinct", "top_k", "ohlc"), PLAIN),
    **dict.fromkeys(("arg_min", "arg_max"), PLAIN),
    **dict.fromkeys(("sum", "mean", "var", "stddev", "median", "quantile"), NUMBERS),
}
"""Types by role: a step of a query, a term of a join, or the argument of a function.

``fold`` stands for all functions of users, which see and return values; ``join`` for the columns
that a join carries.
"""
