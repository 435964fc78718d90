"""Checks of the column types a function accepts; types are named as in Spark's DDL."""

from __future__ import annotations

import re

from windrow.core.errors import WindrowError

INTEGERS = ("tinyint", "smallint", "int", "bigint")
FLOATS = ("float", "double")


def quoted_field(name: str) -> str:
    """A field's name in a DDL type, quoted unless it is made of letters, digits and underscores.

    >>> quoted_field("größe_2"), quoted_field("a,b")
    ('größe_2', '`a,b`')
    """
    return name if re.fullmatch(r"\w+", name) else "`" + name.replace("`", "``") + "`"


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
    if type_name.startswith(("array", "struct", "map", "void")):
        raise WindrowError(f"{function} takes columns that can be ordered", f"one of {type_name}")
