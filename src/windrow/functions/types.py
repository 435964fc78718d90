"""Which column types a function takes; types are named as in Spark's DDL."""

from __future__ import annotations

from windrow.core.errors import WindrowError

INTEGERS = ("tinyint", "smallint", "int", "bigint")
FLOATS = ("float", "double")


def is_numeric(type_name: str) -> bool:
    """Whether the type is one of numbers."""
    return type_name in INTEGERS or type_name in FLOATS or type_name.startswith("decimal")


def require_numeric(function: str, *types: str) -> None:
    """Refuse a column that does not hold numbers."""
    for type_name in types:
        if not is_numeric(type_name):
            raise WindrowError(f"{function} takes numeric columns", f"a column of {type_name}")


def require_orderable(function: str, type_name: str) -> None:
    """Refuse a column whose values have no order."""
    if type_name.startswith(("array", "struct", "map", "void")):
        raise WindrowError(f"{function} takes columns that can be ordered", f"one of {type_name}")
