"""Writing the results of a stream to tables, each window once: ``wr.sinks``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from windrow.core.calls import checks_call
from windrow.core.checks import path_of
from windrow.core.errors import WindrowError
from windrow.core.packages import require

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_POSTGRES = "jdbc:postgresql:"


@checks_call
def upsert(
    url: str | None = None,
    table: str | None = None,
    *,
    key: str | Sequence[str],
    properties: Mapping[str, str] | None = None,
    delta: str | PathLike[str] | None = None,
) -> Callable[[DataFrame, int], None]:
    """A function for ``foreachBatch`` that inserts rows, or updates the rows with the same key.

    After a restart Spark may run a batch again. With the key columns of the query and
    ``window_id`` as the key, each window is then written over itself, so it is in the table once.
    Null keys are keys.

    The target is a table of PostgreSQL or a Delta table:

        results.writeStream.foreachBatch(
            wr.sinks.upsert(
                "jdbc:postgresql://localhost/market", "trend", key=["symbol", "window_id"],
                properties={"user": "me", "password": "..."},
            )
        )
        results.writeStream.foreachBatch(
            wr.sinks.upsert(delta="/data/trend", key=["symbol", "window_id"])
        )

    ``url``, ``table`` and ``properties`` are those of Spark's ``df.write.jdbc``; ``delta`` is a
    path, which has a slash, or the name of a table. The table is created with the first batch if
    it is missing. The columns of the batch must be columns of the table. A batch is written
    wholly or not at all.
    """
    columns = _key(key)
    require("upsert", "spark", "pyspark")
    if delta is not None:
        if url is not None or table is not None or properties is not None:
            rule = "upsert takes either url and table, or delta"
            raise WindrowError(rule, "both", "call it once for each target.")
        from windrow.spark.sinks.delta import DeltaUpsert

        path = path_of(delta, "delta")
        # A relative path from pathlib may have no slash.
        return DeltaUpsert(path if isinstance(delta, str) or "/" in path else f"./{path}", columns)
    from windrow.spark.sinks.postgres import PostgresUpsert
    from windrow.spark.sinks.postgres_sql import Table

    address = _url(url)
    if not isinstance(table, str):
        rule = "upsert into PostgreSQL needs the name of a table"
        raise WindrowError(rule, f"table={table!r}", 'write upsert(url, "trend", key=...).')
    return PostgresUpsert(address, Table.named(table), columns, _properties(properties))


def _key(key: Any) -> tuple[str, ...]:
    names = (key,) if isinstance(key, str) else tuple(key) if isinstance(key, Sequence) else ()
    is_named = names and all(isinstance(name, str) and name for name in names)
    if not is_named or len(set(names)) < len(names):
        hint = 'name the columns of key_by, and "window_id".'
        raise WindrowError("key must be the names of different columns", f"key={key!r}", hint)
    return names


def _url(url: Any) -> str:
    if url is None:
        hint = 'pass url and table, or delta="/path/of/the/table".'
        raise WindrowError("upsert needs a target", "none", hint)
    if not isinstance(url, str) or not url.startswith(_POSTGRES):
        # Without a password, which stands before the host or behind the question mark.
        got = re.sub("//.*@", "//", url.split("?")[0]) if isinstance(url, str) else url
        raise WindrowError(
            "the url of upsert is one of PostgreSQL, for its JDBC driver",
            f"url={got!r}",
            f'write "{_POSTGRES}//HOST:PORT/DATABASE"; for Delta Lake write delta=.',
        )
    return url


def _properties(properties: Any) -> dict[str, str]:
    if properties is None:
        return {}
    if not isinstance(properties, Mapping) or not all(
        isinstance(text, str) for item in properties.items() for text in item
    ):
        rule = "properties must be a dict of strings"
        hint = 'for example {"user": "me", "password": "secret"}.'
        # Not its values: one of them may be a password.
        got = list(properties) if isinstance(properties, Mapping) else type(properties).__name__
        raise WindrowError(rule, f"{got}", hint)
    return dict(properties)
