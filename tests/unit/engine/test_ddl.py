from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import windrow as wr
from windrow.engine.columns.ddl import parse_schema, parse_type, type_name


@pytest.mark.parametrize(
    ("text", "arrow"),
    [
        ("double", pa.float64()),
        ("LONG", pa.int64()),
        ("decimal(12, 3)", pa.decimal128(12, 3)),
        ("decimal", pa.decimal128(10, 0)),
        ("varchar(20)", pa.string()),
        ("array<array<int>>", pa.list_(pa.list_(pa.int32()))),
        ("map<string,double>", pa.map_(pa.string(), pa.float64())),
        ("struct<a:int,b:array<date>>", pa.struct({"a": pa.int32(), "b": pa.list_(pa.date32())})),
        ("timestamp", pa.timestamp("us", "UTC")),
        ("timestamp_ntz", pa.timestamp("us")),
        ("interval day to second", pa.duration("us")),
        ("interval hour", pa.duration("us")),
        ("time(6)", pa.time64("ns")),
    ],
)
def test_types_of_the_ddl(text: str, arrow: pa.DataType) -> None:
    assert parse_type(text) == arrow


def test_fields_may_be_quoted_and_not_null() -> None:
    schema = parse_schema("`a b` double NOT NULL, c: array<struct<x:int>>", "returns")
    assert schema.names == ["a b", "c"]
    assert [f.nullable for f in schema] == [False, True]


def test_bare_type_is_a_field_named_value() -> None:
    assert parse_schema("double", "returns").names == ["value"]


@pytest.mark.parametrize(
    "text", ["", " ", "a", "a doubel", "a double,", "a array<int", "a double, a int", 3, None]
)
def test_bad_returns_is_refused(text: Any) -> None:
    with pytest.raises(wr.WindrowError, match="returns"):
        parse_schema(text, "returns")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("a int, b variant", "variant"),
        ("variant", "variant"),
        ("a array<variant>", "variant"),
        ("a map<string,interval year to month>", "interval year to month"),
        ("a interval not null", "interval"),
        ("a struct<b:interval month>", "interval month"),
        ("a string collate UNICODE_CI", "string collate UNICODE_CI"),
        ("a geometry(4326)", "geometry(4326)"),
        ("v varchar(3)", "varchar(3)"),
        ("a array<char(2)>", "char(2)"),
    ],
)
def test_spark_types_that_results_cannot_have_are_named(text: str, kind: str) -> None:
    with pytest.raises(wr.WindrowError) as refused:
        parse_schema(text, "returns")
    assert f"returns: a result cannot have this type; got '{kind}'" in str(refused.value)


def test_fields_may_be_named_like_types_that_results_cannot_have() -> None:
    assert parse_schema("variant int, interval string", "returns").names == ["variant", "interval"]


def test_arrow_types_have_spark_names() -> None:
    names = {
        pa.large_string(): "string",
        pa.dictionary(pa.int32(), pa.string()): "string",
        pa.timestamp("ns", "Europe/Rome"): "timestamp",
        pa.date64(): "date",
        pa.struct({"a": pa.int8()}): "struct<a:tinyint>",
        pa.decimal128(5, 2): "decimal(5,2)",
    }
    assert {t: type_name(t) for t in names} == names
