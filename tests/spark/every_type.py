"""Columns of every type that Spark has, as SQL expressions of their values."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F


@dataclass(frozen=True)
class Type:
    """A type with a few of its values, of which the second may be a null."""

    name: str
    values: tuple[str, ...]


def _atom(name: str, *values: str) -> Type:
    return Type(name, (values[0], f"CASE WHEN rand() > 2 THEN {values[0]} END", *values[1:]))


def _collated(collation: str) -> list[str]:
    return [f"{text} collate {collation}" for text in ("'a'", "'a '", "'b'")]


ATOMS = [
    _atom("boolean", "true", "false"),
    _atom("tinyint", "1Y", "-128Y"),
    _atom("smallint", "1S", "-300S"),
    _atom("int", "1", "-2147483647"),
    _atom("bigint", "1L", "-1099511627776L"),
    _atom("float", "float('NaN')", "float('-0.0')", "float('0.0')", "1.5F"),
    _atom("double", "-0.0D", "0.0D", "double('NaN')", "double('-Infinity')"),
    _atom("decimal(10,2)", "cast(1.1 as decimal(10,2))", "cast(-1 as decimal(10,2))"),
    _atom("decimal(38,18)", "cast(1.1 as decimal(38,18))", "cast('1e15' as decimal(38,18))"),
    _atom("decimal(2,2)", "0.10BD", "-0.99BD"),
    _atom("string", "'a'", "''", "'A'", "'é'", "'\\U0001d11e'", "'\\uffff'"),
    _atom("varchar(4)", "cast('a' as varchar(4))", "cast('a ' as varchar(4))"),
    _atom("char(2)", "cast('a' as char(2))", "cast('b ' as char(2))"),
    _atom("string collate UTF8_LCASE", "'a' collate UTF8_LCASE", "'A' collate UTF8_LCASE"),
    _atom("string collate UNICODE_CI", "'a' collate UNICODE_CI", "'Á' collate UNICODE_CI"),
    _atom("string collate UTF8_BINARY_RTRIM", *_collated("UTF8_BINARY_RTRIM")),
    _atom("string collate UNICODE_RTRIM", *_collated("UNICODE_RTRIM")),
    _atom("array<varchar(4)>", "array(cast('a' as varchar(4)))", "array(cast('b ' as varchar(4)))"),
    _atom("array<char(2)>", "array(cast('a' as char(2)))", "array(cast('b' as char(2)))"),
    _atom("binary", "X'00'", "X''", "X'FF00'"),
    _atom("date", "date'1970-01-01'", "date'0001-01-01'", "date'9999-12-31'"),
    _atom(
        "timestamp",
        "timestamp'2024-11-03 05:30:00 UTC'",
        "timestamp'2024-11-03 06:30:00 UTC'",
        "timestamp'1900-01-01 00:00:00.000001 UTC'",
    ),
    _atom(
        "timestamp_ntz",
        "timestamp_ntz'2024-03-10 02:30:00'",
        "timestamp_ntz'1900-01-01 00:00:00.000001'",
    ),
    _atom("time(6)", "time'12:00:00'", "time'23:59:59.999999'"),
    _atom("time(0)", "cast(time'12:00:00' as time(0))", "cast(time'00:00:01' as time(0))"),
    _atom("time(3)", "cast(time'12:00:00.001' as time(3))", "cast(time'23:59:59.999' as time(3))"),
    _atom("interval day", "interval '1' day", "interval '-1' day"),
    _atom(
        "interval day to second",
        "interval '1 02:03:04.000005' day to second",
        "interval '-1 00:00:00' day to second",
    ),
    _atom(
        "interval year to month", "interval '1-2' year to month", "interval '-1-0' year to month"
    ),
    _atom("interval", "make_interval(1, 2, 3)", "make_interval(0, 0, 0, 1)"),
    _atom("variant", "parse_json('1')", "parse_json('{\"a\": [1, null]}')"),
    _atom("geometry(0)", "st_geomfromwkb(X'0101000000000000000000F03F0000000000000040')"),
    Type("void", ("null",)),
]


def _array(inner: Type) -> Type:
    first, *others = inner.values
    return _atom(
        f"array<{inner.name}>", f"array({first})", *(f"array({first}, {v})" for v in others)
    )


def _map(inner: Type) -> Type:
    return _atom(f"map<string,{inner.name}>", *(f"map('k', {v})" for v in inner.values))


def _struct(inner: tuple[Type, Type]) -> Type:
    a, b = inner
    pairs = [(a.values[0], v) for v in b.values] + [(v, b.values[0]) for v in a.values[1:]]
    values = (f"named_struct('a', {v}, 'b c', {w})" for v, w in pairs)
    return _atom(f"struct<a:{a.name},b c:{b.name}>", *values)


def types(atoms: list[Type]) -> st.SearchStrategy[Type]:
    """Types of any depth."""
    return st.recursive(
        st.sampled_from(atoms),
        lambda inner: inner.map(_array) | inner.map(_map) | st.tuples(inner, inner).map(_struct),
        max_leaves=4,
    )


def known_atoms(spark: SparkSession) -> list[Type]:
    """The atoms that this version of Spark has."""
    return [atom for atom in ATOMS if _is_known(spark, atom)]


def _is_known(spark: SparkSession, atom: Type) -> bool:
    try:
        found = spark.range(1).select(F.expr(atom.values[0]).alias("v")).schema["v"]
    except Exception:
        return False
    assert found.dataType.simpleString() == atom.name
    return True


def rows(spark: SparkSession, columns: list[Type], repeats: int = 2) -> DataFrame:
    """The columns of these types over the numbers of the rows."""
    n = length_of(columns) * repeats
    return with_columns(spark.range(0, n, 1, 3).withColumnRenamed("id", "t"), columns)


def length_of(columns: list[Type]) -> int:
    """How many different rows there are."""
    return 1 + sum(len(kind.values) - 1 for kind in columns)


def with_columns(numbers: DataFrame, columns: list[Type]) -> DataFrame:
    """A column ``c0``, ``c1``, ... per type, and ``t``, the number of the row.

    Every row is the row of all first values, or differs from it in one column. It is repeated, so
    that equal rows come in several partitions.
    """
    changes = [(i, v) for i, kind in enumerate(columns) for v in range(1, len(kind.values))]
    n = length_of(columns)
    made = []
    for i, kind in enumerate(columns):
        mine = [(at + 1, kind.values[v]) for at, (c, v) in enumerate(changes) if c == i]
        cases = "".join(f" WHEN {at} THEN {value}" for at, value in mine)
        value = f"CASE t % {n}{cases} ELSE {kind.values[0]} END" if cases else kind.values[0]
        made.append(F.expr(value).alias(f"c{i}"))
    return numbers.select("t", *made)
