"""The SQL with which PostgreSQL merges a staging table into its target."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from windrow.core.errors import WindrowError

_PART = r'"(?:[^"]|"")+"|[^\W\d][\w$]*'
_NULLS_EQUAL_SINCE = 150000
"""PostgreSQL 15: unique constraints that take null for equal to null."""


def quoted(name: str) -> str:
    """The name as an identifier of SQL, whatever it contains.

    >>> quoted('p"95')
    '"p""95"'
    """
    return '"' + name.replace('"', '""') + '"'


def listed(names: Iterable[str]) -> str:
    """The names as identifiers, separated by commas."""
    return ", ".join(map(quoted, names))


@dataclass(frozen=True)
class Table:
    """A table by its name and, before it, its schema if one was given.

    >>> str(Table.named('Market."Trend"'))
    '"market"."Trend"'
    """

    parts: tuple[str, ...]

    @classmethod
    def named(cls, text: str) -> Table:
        """The table of this name, which PostgreSQL reads in lower case unless it is in quotes."""
        if not re.fullmatch(rf"({_PART})(\.({_PART})){{0,2}}", text):
            hint = 'write "trend" or "schema.trend", and other names in double quotes.'
            raise WindrowError("table must be the name of a table in SQL", f"table={text!r}", hint)
        parts = re.findall(_PART, text)
        return cls(tuple(p[1:-1].replace('""', '"') if p[0] == '"' else p.lower() for p in parts))

    def beside(self, name: str) -> Table:
        """The table of this name in the same schema."""
        return Table((*self.parts[:-1], name))

    def __str__(self) -> str:
        return ".".join(map(quoted, self.parts))


@dataclass(frozen=True)
class UniqueIndex:
    """The columns of a unique index, and whether it holds for null keys, too."""

    columns: frozenset[str]
    holds_for_nulls: bool


def server_version() -> str:
    """The query of the server's version as a number, such as 150018."""
    return "SELECT CAST(current_setting('server_version_num') AS int) AS version"


def columns_of(table: Table) -> str:
    """The query of the table's columns and their types; no rows if there is no such table."""
    return (
        "SELECT attname AS name, format_type(atttypid, atttypmod) AS type FROM pg_attribute "
        f"WHERE attrelid = {_oid(table)} AND attnum > 0 AND NOT attisdropped"
    )


def unique_columns_of(table: Table) -> str:
    """The query of the columns of all unique indexes that ON CONFLICT can use."""
    # Version 14 has no column indnullsnotdistinct; read as JSON, it is null there.
    return (
        "SELECT CAST(i.indexrelid AS bigint) AS index, a.attname AS name, a.attnotnull AS not_null,"
        " COALESCE(CAST(to_jsonb(i)->>'indnullsnotdistinct' AS boolean), false) AS nulls_equal"
        " FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid"
        " AND a.attnum = ANY((CAST(i.indkey AS int2[]))[0:i.indnkeyatts - 1])"
        f" WHERE i.indrelid = {_oid(table)} AND i.indisunique AND i.indimmediate"
        " AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL"
    )


def create(table: Table, staging: Table, key: Sequence[str], version: int) -> str:
    """Create the target with the columns of the staging table.

    Before version 15 a unique constraint takes nulls for different. There the key is the primary
    key, which refuses them.
    """
    constraint = "UNIQUE NULLS NOT DISTINCT" if version >= _NULLS_EQUAL_SINCE else "PRIMARY KEY"
    return f"CREATE TABLE IF NOT EXISTS {table} (LIKE {staging}, {constraint} ({listed(key)}))"


def check_index(table: Table, indexes: Iterable[UniqueIndex], key: Sequence[str]) -> None:
    """Raise unless a unique index lets PostgreSQL find the row with the same key."""
    fitting = [index for index in indexes if index.columns == frozenset(key)]
    if any(index.holds_for_nulls for index in fitting):
        return
    hint = (
        f"CREATE UNIQUE INDEX ON {table} ({listed(key)}) NULLS NOT DISTINCT; before PostgreSQL 15, "
        f"ALTER TABLE {table} ADD PRIMARY KEY ({listed(key)})."
    )
    if fitting:
        rule = "the unique index on the key must hold for null keys, too"
        raise WindrowError(rule, f"an index of {table} that takes nulls for different", hint)
    rule = f"an upsert needs a unique index on exactly the key {list(key)}"
    raise WindrowError(rule, f"none on {table}", hint)


def insert(
    table: Table, staging: Table, columns: Mapping[str, str | None], key: Sequence[str]
) -> str:
    """Insert the staged rows, or update the rows that have their keys, in one statement.

    ``columns`` has the types to cast to, where PostgreSQL does not by itself. A task of Spark that
    was repeated may have staged its rows twice, hence the DISTINCT. Different rows with the same
    key are an error of PostgreSQL's.
    """
    values = ", ".join(
        quoted(name) if type is None else f"CAST({quoted(name)} AS {type})"
        for name, type in columns.items()
    )
    changed = [f"{quoted(n)} = EXCLUDED.{quoted(n)}" for n in columns if n not in key]
    action = f"UPDATE SET {', '.join(changed)}" if changed else "NOTHING"
    return (
        f"INSERT INTO {table} ({listed(columns)}) SELECT {values} "
        f"FROM (SELECT DISTINCT {listed(columns)} FROM {staging}) AS staged "
        f"ON CONFLICT ({listed(key)}) DO {action}"
    )


def drop(table: Table) -> str:
    """Drop a table that may be gone already."""
    return f"DROP TABLE IF EXISTS {table}"


def _oid(table: Table) -> str:
    return "to_regclass('" + str(table).replace("'", "''") + "')"
