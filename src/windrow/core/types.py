"""Types by their DDL names: which of them can be compared, and how a refused one is explained."""

from __future__ import annotations

import re
from itertools import pairwise

from windrow.core.errors import WindrowError

INTEGERS = ("tinyint", "smallint", "int", "bigint")
FLOATS = ("float", "double")
_PLAIN = re.compile(
    r"tinyint|smallint|int|bigint|float|double|decimal\(\d+,-?\d+\)|boolean|string|binary|date"
    r"|timestamp|timestamp_ntz|time\(\d\)"
    r"|interval (?:day|hour|minute|second)(?: to (?:hour|minute|second))?"
    # Arrow's own types, which tables may have.
    r"|uint\d+|time(?:32|64)\[\w+\]|duration\[\w+\]|fixed_size_binary\[\d+\]"
)
_COLLATED = re.compile(r"string collate (\w+)")


def is_plain(kind: str) -> bool:
    """Whether values have one order and one equality, whatever computes with them.

    >>> [is_plain(kind) for kind in ("string", "string collate UNICODE_CI", "variant")]
    [True, False, False]
    """
    return _PLAIN.fullmatch(kind) is not None


def is_comparable(kind: str) -> bool:
    """Whether values can be told apart: plain values, nulls of no type, and structs of these.

    >>> is_comparable("struct<a:int,b c:struct<d:date>>"), is_comparable("struct<a:array<int>>")
    (True, False)
    """
    if not kind.startswith("struct<"):
        return is_plain(kind) or kind in ("void", "null")
    fields = split_fields(kind.removeprefix("struct<").removesuffix(">"))
    return all(is_comparable(field[_colon(field) + 1 :].strip()) for field in fields)


def split_fields(text: str) -> list[str]:
    """Split at the commas outside of brackets and of quoted names.

    >>> split_fields("a:int,`b,c`:map<int,date>")
    ['a:int', '`b,c`:map<int,date>']
    """
    edges = [-1, *_places(text, ","), len(text)]
    return [text[begin + 1 : end] for begin, end in pairwise(edges)]


def _colon(field: str) -> int:
    """Where the name of a field ends: at its last colon outside of brackets and quoted names."""
    return _places(field, ":")[-1]


def _places(text: str, wanted: str) -> list[int]:
    """Where the character stands outside of brackets and of quoted names."""
    places, depth, is_quoted = [], 0, False
    for i, char in enumerate(text):
        is_quoted ^= char == "`"
        if not is_quoted:
            depth += (char in "<(") - (char in ">)")
            if char == wanted and depth == 0:
                places.append(i)
    return places


def refused(rule: str, kind: str, name: str | None = None) -> WindrowError:
    """The error that a column's type does not allow what it is used for."""
    got = f"one of {kind}" if name is None else f"{name!r} of {kind}"
    hint = "cast it to string." if "char(" in kind else None
    if found := _COLLATED.search(kind):
        hint = f"{found[1]} compares strings its own way: cast the column to string"
        hint += ", or use F.lower(...) of it first." if "LCASE" in kind or "CI" in kind else "."
    return WindrowError(rule, got, hint)
