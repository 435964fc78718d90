"""Conversion between Spark's DDL types and Arrow types."""

from __future__ import annotations

import re

import pyarrow as pa

from windrow.core.errors import WindrowError
from windrow.core.types import split_fields
from windrow.functions.types import quoted_field

_SIMPLE = {
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "void": pa.null(),
}
_ALIASES = {
    "bool": "boolean",
    "byte": "tinyint",
    "short": "smallint",
    "integer": "int",
    "long": "bigint",
    "real": "float",
    "timestamp_ltz": "timestamp",
    "decimal": "decimal(10,0)",
    "dec": "decimal(10,0)",
    "numeric": "decimal(10,0)",
}
_DECIMAL = re.compile(r"(?:decimal|dec|numeric)\s*\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)")
_TEXT = re.compile(r"(?:varchar|char)\s*\(\s*\d+\s*\)|string\s+collate\s+\w+")
_DURATION = re.compile(r"interval\s+(?:day|hour|minute|second)(?:\s+to\s+(?:hour|minute|second))?")
_TIME_OF_DAY = re.compile(r"time(?:\s*\(\s*\d\s*\))?")
_NOT_HELD = re.compile(
    r"\b(?:variant|(?:var)?char\s*\([^)]*\)|interval(?:\s+(?:year|month)(?:\s+to\s+month)?)?"
    r"|(?:geometry|geography)\s*\([^)]*\)|string\s+collate\s+\w+)(?=\s*(?:$|[,>]|not\s+null))",
    re.IGNORECASE,
)
"""Types of Spark that results cannot have."""
_FIELD = re.compile(r"\s*(?:`((?:[^`]|``)*)`|(\w+))\s*(?::\s*|\s+)(.+?)\s*", re.DOTALL)
_UNQUOTED = re.compile(r"()\s*([^:<>,]+):\s*(.+?)\s*", re.DOTALL)
"""A struct field as Spark prints it: the name is not quoted, even if it contains spaces."""
_HINT = 'write it as in Spark, for example returns="slope double, points array<double>".'


def parse_schema(returns: object, what: str) -> pa.Schema:
    """The fields of ``"a double, b array<int>"``. A bare type gives one field named ``value``.

    >>> parse_schema("a double, b array<struct<x:int>>", "returns").names
    ['a', 'b']
    """
    if not isinstance(returns, str) or not returns.strip():
        raise WindrowError(f"{what} must list the result's fields and types", repr(returns), _HINT)
    text = returns.strip()
    if found := _NOT_HELD.search(text):
        hint = "return a value of another type, and cast it in Spark if need be."
        if "char" in found[0].lower():
            hint = "declare string: the length of a text is not checked."
        raise WindrowError(f"{what}: a result cannot have this type", repr(found[0]), hint)
    if text.lower().startswith("struct<") and text.endswith(">"):
        text = text[len("struct<") : -1]
    elif _type_or_none(text) is not None:
        return pa.schema([("value", parse_type(text))])
    try:
        fields = _parse_fields(text)
    except WindrowError as e:
        raise WindrowError(f"{what}: {e.rule}", e.got or repr(returns), _HINT) from None
    names = [f.name for f in fields]
    if len(set(names)) < len(names):
        raise WindrowError(f"{what} names a field twice", repr(returns))
    return pa.schema(fields)


def parse_type(text: str) -> pa.DataType:
    """The Arrow type of a DDL type.

    >>> parse_type("array<decimal(10,2)>")
    ListType(list<element: decimal128(10, 2)>)
    """
    found = _type_or_none(text)
    if found is None:
        raise WindrowError("a type must be a Spark SQL type", repr(text), _HINT)
    return found


def type_name(arrow: pa.DataType) -> str:
    """The DDL name of an Arrow type. Types that Spark does not have keep their Arrow name.

    >>> type_name(pa.list_(pa.int64())), type_name(pa.timestamp("ns"))
    ('array<bigint>', 'timestamp_ntz')
    """
    if pa.types.is_timestamp(arrow):
        return "timestamp_ntz" if arrow.tz is None else "timestamp"
    if pa.types.is_decimal(arrow):
        return f"decimal({arrow.precision},{arrow.scale})"
    if pa.types.is_dictionary(arrow):
        return type_name(arrow.value_type)
    if pa.types.is_large_string(arrow) or pa.types.is_string_view(arrow):
        return "string"
    if pa.types.is_large_binary(arrow) or pa.types.is_binary_view(arrow):
        return "binary"
    if pa.types.is_date(arrow):
        return "date"
    if pa.types.is_duration(arrow):
        return "interval day to second"
    if pa.types.is_time(arrow):
        return "time(6)"
    if pa.types.is_list(arrow) or pa.types.is_large_list(arrow):
        return f"array<{type_name(arrow.value_type)}>"
    if pa.types.is_map(arrow):
        return f"map<{type_name(arrow.key_type)},{type_name(arrow.item_type)}>"
    if pa.types.is_struct(arrow):
        fields = (arrow.field(i) for i in range(arrow.num_fields))
        named = (f"{quoted_field(f.name)}:{type_name(f.type)}" for f in fields)
        return f"struct<{','.join(named)}>"
    return next((name for name, known in _SIMPLE.items() if known == arrow), str(arrow))


def _type_or_none(text: str) -> pa.DataType | None:
    text = text.strip()
    lower = text.lower()
    if (simple := _SIMPLE.get(_ALIASES.get(lower, lower))) is not None:
        return simple
    if _TEXT.fullmatch(lower):
        return pa.string()
    if _DURATION.fullmatch(lower):
        return pa.duration("us")
    if _TIME_OF_DAY.fullmatch(lower):
        return pa.time64("ns")
    if match := _DECIMAL.fullmatch(_ALIASES.get(lower, lower)):
        precision, scale = int(match[1]), int(match[2] or 0)
        return pa.decimal128(precision, scale) if scale <= precision <= 38 else None
    if not text.endswith(">") or "<" not in text:
        return None
    outer, inner = lower.split("<", 1)[0].strip(), text[text.index("<") + 1 : -1]
    if outer == "struct":
        return pa.struct(_parse_fields(inner))
    parts = [_type_or_none(p) for p in split_fields(inner)]
    if None in parts:
        return None
    if outer == "array" and len(parts) == 1:
        return pa.list_(pa.field("element", parts[0]))
    return pa.map_(*parts) if outer == "map" and len(parts) == 2 else None


def _parse_fields(text: str) -> list[pa.Field]:
    fields = []
    for part in split_fields(text):
        match = _FIELD.fullmatch(part) or _UNQUOTED.fullmatch(part)
        if match is None:
            raise WindrowError("a field must be a name and a type", repr(part.strip()), _HINT)
        declared = re.sub(r"\s+not\s+null$", "", match[3], flags=re.IGNORECASE)
        name = match[2] or match[1].replace("``", "`")
        fields.append(pa.field(name, parse_type(declared), nullable=declared == match[3]))
    return fields
