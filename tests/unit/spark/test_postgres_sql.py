"""The SQL of upserts into PostgreSQL, and what is said of tables that do not fit. No server."""

from __future__ import annotations

import pytest

import windrow as wr
from windrow.spark.sinks import postgres_sql as sql

TREND, STAGING = sql.Table(("trend",)), sql.Table(("staging",))


def test_identifiers_are_quoted_whatever_they_contain() -> None:
    table = sql.Table.named('"My ""Schema"".x".Trend_1$')
    assert table.parts == ('My "Schema".x', "trend_1$")
    assert str(table) == '"My ""Schema"".x"."trend_1$"'
    assert str(table.beside("s'")) == '"My ""Schema"".x"."s\'"'
    assert "to_regclass('\"it''s\"')" in sql.columns_of(sql.Table(("it's",)))


def test_the_rows_of_keys_that_are_there_are_updated() -> None:
    columns = {"symbol": None, "window_id": None, "doc": "jsonb", 'p"95': None}
    assert sql.insert(TREND, STAGING, columns, ["symbol", "window_id"]) == (
        'INSERT INTO "trend" ("symbol", "window_id", "doc", "p""95") '
        'SELECT "symbol", "window_id", CAST("doc" AS jsonb), "p""95" '
        'FROM (SELECT DISTINCT "symbol", "window_id", "doc", "p""95" FROM "staging") AS staged '
        'ON CONFLICT ("symbol", "window_id") '
        'DO UPDATE SET "doc" = EXCLUDED."doc", "p""95" = EXCLUDED."p""95"'
    )


def test_a_table_of_keys_only_keeps_its_rows() -> None:
    assert sql.insert(TREND, STAGING, {"symbol": None}, ["symbol"]).endswith(
        'ON CONFLICT ("symbol") DO NOTHING'
    )


@pytest.mark.parametrize(
    ("version", "constraint"), [(150000, "UNIQUE NULLS NOT DISTINCT"), (140012, "PRIMARY KEY")]
)
def test_a_missing_table_gets_the_key_that_its_server_can_have(
    version: int, constraint: str
) -> None:
    assert sql.create(TREND, STAGING, ["symbol"], version) == (
        f'CREATE TABLE IF NOT EXISTS "trend" (LIKE "staging", {constraint} ("symbol"))'
    )


def index(*columns: str, holds_for_nulls: bool = True) -> sql.UniqueIndex:
    return sql.UniqueIndex(frozenset(columns), holds_for_nulls)


def test_an_index_on_exactly_the_key_in_any_order_will_do() -> None:
    sql.check_index(TREND, [index("other"), index("w", "k")], ["k", "w"])
    sql.check_index(TREND, [index("k", holds_for_nulls=False), index("k")], ["k"])


@pytest.mark.parametrize("indexes", [[], [index("k")], [index("k", "w", "x")]])
def test_another_index_will_not(indexes: list[sql.UniqueIndex]) -> None:
    with pytest.raises(wr.WindrowError) as caught:
        sql.check_index(TREND, indexes, ["k", "w"])
    assert 'Hint: CREATE UNIQUE INDEX ON "trend" ("k", "w") NULLS NOT DISTINCT' in str(caught.value)


def test_an_index_that_takes_nulls_for_different_will_not() -> None:
    with pytest.raises(wr.WindrowError, match="must hold for null keys, too"):
        sql.check_index(TREND, [index("k", holds_for_nulls=False)], ["k"])
