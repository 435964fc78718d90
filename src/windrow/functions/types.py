"""Checks of the column types a function accepts; types are named as in Spark's DDL."""

from __future__ import annotations

import re

from windrow.core.errors import WindrowError
from windrow.core.types import FLOATS, INTEGERS, is_plain, refused


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
            hint = "cast it first, or take another column."
            if type_name == "void":
                hint = "nulls, and lists without values, have no type; cast the column to double."
            got = f"a column of {type_name}"
            raise WindrowError(f"{function} takes numeric columns", got, hint)


def require_orderable(function: str, type_name: str) -> None:
    """Raise if the values of a column have no order."""
    if not is_plain(type_name):
        raise refused(f"{function} takes columns that can be ordered", type_name)


MOST_DIGITS = 38
"""The most digits a decimal can have."""


def decimal_digits(type_name: str) -> tuple[int, int] | None:
    """The precision and the scale of a decimal type; None for other types.

    >>> decimal_digits("decimal(10,2)"), decimal_digits("double")
    ((10, 2), None)
    """
    if not type_name.startswith("decimal"):
        return None
    precision, scale = map(int, re.findall(r"\d+", type_name))
    return precision, scale


def decimal_type(precision: int, scale: int) -> str:
    """The decimal type with so many digits, or as many as there can be.

    >>> decimal_type(42, 4)
    'decimal(38,4)'
    """
    return f"decimal({min(precision, MOST_DIGITS)},{min(scale, MOST_DIGITS)})"
