"""The log's format: a header in JSON, blobs of Arrow tables, and whose state is refused."""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest

import windrow as wr
from tests.stored import QUERY, query_of, tuples_of, worker_of
from windrow.core.watermark import BEGINNING
from windrow.engine.columns.packed import unpack_tables
from windrow.engine.state import log as state_log
from windrow.engine.state.log import StateLog
from windrow.engine.state.store import MemoryStore


def stored(identity: dict[str, Any] = QUERY) -> MemoryStore:
    """The state of a worker after two batches: of the second, a tuple waits."""
    query = query_of(wr.CountWindow(3), "apply")
    store, worker, log = MemoryStore(), worker_of(query), StateLog(identity, 1)
    batches: list[tuple[list[Any], list[int], int]] = [
        (["a", None], [1, 2], 3),
        (["a", "b"], [4, 9], 5),
    ]
    for keys, times, watermark in batches:
        worker.push(tuples_of(query, keys, times))
        worker.advance(watermark)
        log.save(worker, store)
    return store


def loaded(store: MemoryStore, identity: dict[str, Any] = QUERY, stage: int = 1) -> None:
    StateLog(identity, stage).load(worker_of(query_of(wr.CountWindow(3), "apply")), store)


def tables_of(blob: bytes) -> dict[str, dict[str, list[Any]]]:
    tables, meta = unpack_tables(blob)
    assert meta == {}
    return {name: table.to_pydict() for name, table in tables.items()}


def test_the_header_says_what_is_stored_and_by_whom() -> None:
    header = json.loads(stored().blobs[""])
    token, tokens = header.pop("token"), header.pop("tokens")
    assert tokens[-1] == [token, 1] and len(tokens) == 2
    assert header == {
        "version": 4,
        "windrow": wr.__version__,
        "query": QUERY,
        "stage": 1,
        "number": 1,
        "base": 0,
        "entries": 1,
        "n_keys": 2,
        "chunks": ["pending 1", "chunk 0-0", "chunk 1-1"],
        "scalars": {
            "dropped": 0,
            "watermark": 5,
            "next_pending": 2,
            "fired": BEGINNING,
            "next_chunk": 2,
            "base": 0,
            "forgotten": 0,
        },
        "extra": {},
    }


def test_a_record_holds_new_keys_and_the_numbers_that_changed() -> None:
    blobs = stored().blobs
    assert tables_of(blobs["record 0"]) == {
        "numbers": {"next_id": [0, 0], "count": [1, 1], "alive": [1, 1]},
        "keys": {"k": ["a", None]},
    }
    assert tables_of(blobs["record 1"]) == {
        "numbers": {"windrow.code": [0], "next_id": [0], "count": [2], "alive": [2]},
    }


def test_chunks_hold_tuples_in_the_types_of_their_columns() -> None:
    blobs = stored().blobs
    (chunk,) = tables_of(blobs["chunk 0-0"]).values()
    assert chunk == {
        "windrow.code": [0, 1],
        "k": ["a", None],
        "t": [1, 2],
        "seq": [0, 1],
        "x": [0, 1],
        "y": [0.0, 0.5],
        "d": [1, 2],
        "windrow.axis": [0, 0],
    }
    (waiting,) = tables_of(blobs["pending 1"]).values()
    assert waiting["k"] == ["b"] and waiting["t"] == [9]


def test_no_blob_is_pickled() -> None:
    for name, blob in stored().blobs.items():
        assert blob[:1] == b"{" if name == "" else isinstance(unpack_tables(blob)[0], dict)


def test_state_of_a_newer_format_is_refused() -> None:
    with patch.object(state_log, "FORMAT", state_log.FORMAT + 1):
        store = stored()
    with pytest.raises(wr.WindrowError, match="a newer version of Windrow"):
        loaded(store)


def test_state_of_the_first_format_is_refused() -> None:
    with pytest.raises(wr.WindrowError, match="an older version of Windrow"):
        loaded(MemoryStore({"": b"O\x80\x05}\x94."}))


def test_a_newer_format_is_told_with_the_version_that_wrote_it() -> None:
    header = {"version": 9, "windrow": "7.5", "shape": "nobody knows"}
    with pytest.raises(wr.WindrowError) as raised:
        loaded(MemoryStore({"": json.dumps(header).encode()}))
    assert raised.value.got == (
        f"state format 9, written by Windrow 7.5; Windrow {wr.__version__} reads 2 to 4"
    )


@pytest.mark.parametrize(
    "stored", [b"", b"{}", b'{"version": 2}', b'{"version": "2", "windrow": 1}', b"[1]", b"\xff{"]
)
def test_state_that_is_not_ours_is_refused(stored: bytes) -> None:
    with pytest.raises(wr.WindrowError, match="state that Windrow did not write") as raised:
        loaded(MemoryStore({"": stored}))
    assert raised.value.hint == "start with a new checkpoint location."


def test_state_of_another_query_is_refused() -> None:
    other = {"window": {"model": "TimeWindow", "length": 5}}
    with pytest.raises(wr.WindrowError, match="another query") as raised:
        loaded(stored(), other)
    assert "window.length: was 10, is 5" in str(raised.value)


def test_state_of_another_stage_is_refused() -> None:
    with pytest.raises(wr.WindrowError, match="stage: was 1, is 0"):
        loaded(stored(), stage=0)


def test_a_query_with_a_new_field_that_has_a_default_goes_on() -> None:
    window = {**QUERY["window"], "origin": 0}
    loaded(stored(), {"window": window, "defaults": {"window": {"origin": 0}}})
    with pytest.raises(wr.WindrowError, match=r"window\.origin: was 0, is 1"):
        loaded(stored(), {"window": {**window, "origin": 1}, "defaults": {"window": {"origin": 0}}})


def in_version_2(store: MemoryStore) -> MemoryStore:
    header = json.loads(store.blobs[""])
    header["version"] = 2
    store.set_header(json.dumps(header).encode())
    return store


def test_state_of_the_version_before_is_read_if_its_layout_is_the_same() -> None:
    loaded(in_version_2(stored()))
    with pytest.raises(wr.WindrowError, match="another query"):
        loaded(in_version_2(stored()), {"window": {"model": "TimeWindow", "length": 5}})


def test_state_in_the_layout_of_the_version_before_is_refused_with_the_versions() -> None:
    with pytest.raises(wr.WindrowError) as raised:
        loaded(in_version_2(stored()), {**QUERY, "rankers": 2})
    assert raised.value.rule == (
        "the checkpoint holds this query's state in the layout of an older version of Windrow"
    )
    assert raised.value.got == (
        f"state format 2, written by Windrow {wr.__version__}; Windrow {wr.__version__} writes 4, "
        "and these differences:\n  rankers: was 1, is 2"
    )


def test_unpacked_tables_are_views_of_the_blob() -> None:
    blob = stored().blobs["chunk 0-0"]
    (table,) = unpack_tables(blob)[0].values()
    values = table["y"].chunk(0).buffers()[1]
    start = pa.py_buffer(blob).address
    assert start <= values.address < start + len(blob)
