"""What `wr.sinks.upsert` accepts, and what it says of the rest. No server, no JVM."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

import windrow as wr
from windrow.spark.sinks.delta import DeltaUpsert
from windrow.spark.sinks.postgres import PostgresUpsert
from windrow.spark.sinks.postgres_sql import Table

URL = "jdbc:postgresql://localhost/market"
KEY = ["symbol", "window_id"]


def refused(*args: Any, **how: Any) -> str:
    with pytest.raises(wr.WindrowError) as caught:
        wr.sinks.upsert(*args, **how)
    return str(caught.value)


def test_a_target_in_postgres_is_named_as_in_spark() -> None:
    properties = {"user": "me", "password": "secret"}
    made: Any = wr.sinks.upsert(URL, "Market.trend", key=KEY, properties=properties)
    assert isinstance(made, PostgresUpsert)
    assert (made.table, made.key) == (Table(("market", "trend")), ("symbol", "window_id"))
    assert "secret" not in repr(made)
    # Spark Connect sends it to the server.
    assert pickle.loads(pickle.dumps(made)) == made


@pytest.mark.parametrize(
    ("delta", "target"),
    [
        ("/data/trend", "/data/trend"),
        ("market.trend", "market.trend"),
        (Path("trend"), "./trend"),
        (Path("/data/trend"), "/data/trend"),
    ],
)
def test_a_delta_table_is_a_path_or_a_name(delta: Any, target: str) -> None:
    assert wr.sinks.upsert(delta=delta, key="symbol") == DeltaUpsert(target, ("symbol",))


@pytest.mark.parametrize("key", [[], "", ["symbol", ""], ["symbol", "symbol"], [1], 1, None])
def test_the_key_must_name_columns(key: Any) -> None:
    said = refused(URL, "trend", key=key)
    assert f"key must be the names of different columns; got key={key!r}.\nHint: name" in said


def test_the_target_must_be_one() -> None:
    assert 'got none.\nHint: pass url and table, or delta="/path' in refused(key=KEY)
    assert "takes either url and table, or delta; got both" in refused(URL, key=KEY, delta="/t")
    assert "needs the name of a table; got table=None" in refused(URL, key=KEY)
    assert "delta must be a path; got delta=1" in refused(delta=1, key=KEY)
    assert "did you mean one of these arguments: ['key']?" in refused(URL, "trend", keys=KEY)


@pytest.mark.parametrize("url", ["postgresql://me:secret@h/m", "jdbc:mysql://h/m?password=secret"])
def test_a_url_of_another_database_is_refused(url: str) -> None:
    said = refused(url, "trend", key=KEY)
    assert 'Hint: write "jdbc:postgresql://HOST:PORT/DATABASE"' in said
    assert "secret" not in said


def test_properties_are_strings() -> None:
    said = refused(URL, "trend", key=KEY, properties={"password": "secret", "batchsize": 10})
    assert "properties must be a dict of strings; got ['password', 'batchsize']" in said


@pytest.mark.parametrize("table", ["", "trend; drop", "a.b.c.d", 'a"b', '"a', "1a", "a b", ".a"])
def test_a_table_must_have_a_name(table: str) -> None:
    assert f"table must be the name of a table in SQL; got table={table!r}" in refused(
        URL, table, key=KEY
    )


class Batch:
    """As much of a DataFrame as is looked at before anything runs."""

    sparkSession = None
    columns = ("symbol", "window_id")

    def __init__(self, is_streaming: bool = False) -> None:
        self.isStreaming = is_streaming


def refused_batch(batch: Any, key: str = "symbol") -> str:
    write: Any = wr.sinks.upsert(URL, "trend", key=key)
    with pytest.raises(wr.WindrowError) as caught:
        write(batch, 0)
    return str(caught.value)


def test_a_batch_must_be_one_and_have_the_key() -> None:
    assert "did you mean one of these columns: ['symbol']?" in refused_batch(Batch(), "symbl")
    assert "foreachBatch(wr.sinks.upsert(...))" in refused_batch(Batch(is_streaming=True))
    assert "pass it to .writeStream.foreachBatch(...)" in refused_batch([1, 2])
