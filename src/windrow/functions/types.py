"""Checks of the column types a function accepts; types are named as in Spark's DDL."""

from __future__ import annotations

from windrow.core.errors import WindrowError
from windrow.core.types import FLOATS, INTEGERS, is_plain, refused


def is_numeric(type_name: str) -> bool:
    """Whether values of the type are numbers."""
    return type_name in INTEGERS or type_name in FLOATS or type_name.startswith("decimal")


def require_numeric(function: str, *types: str) -> None:
    """Raise if a column does not hold numbers."""
    for type_name in types:
        if not is_numeric(type_name):
            raise WindrowError(f"{function} takes numeric columns", f"a column of {type_name}")


def require_orderable(function: str, type_name: str) -> None:
    """Raise if the values of a column have no order."""
    if not is_plain(type_name):
        raise refused(f"{function} takes columns that can be ordered", type_name)
