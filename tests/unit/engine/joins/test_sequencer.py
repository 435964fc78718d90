"""The sequencer: one order of both sides."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

import windrow as wr
from windrow.engine.columns.control import RANK
from windrow.engine.joins.intake import join_tuples
from windrow.engine.joins.join_query import JoinQuery
from windrow.engine.joins.messages import SEEN, counts_of, kind_of, side_of
from windrow.engine.joins.sequencer import Sequencer
from windrow.engine.state.log import StateLog
from windrow.engine.state.store import MemoryStore

SCHEMA = pa.schema([("t", pa.int64())])


def query_of(time: str | None) -> JoinQuery:
    table = SCHEMA.empty_table()
    return wr.join(table, table, within=2, on=wr.equi("t"), time=time).query


def batch(query: JoinQuery, side: int, times: list[Any], arrived: int = 0) -> pa.Table:
    return join_tuples(query, side, pa.table({"t": times}, schema=SCHEMA), arrived)[0]


def placed(given: list[pa.Table]) -> tuple[list[Any], list[Any], Any]:
    """(t, rank, seen) of the left and of the right, and how many have taken their place."""
    sides: tuple[list[Any], list[Any]] = ([], [])
    counts = None
    for message in given:
        if kind_of(message) == "progress":
            counts = counts_of(message)
            continue
        columns = (message[name].to_pylist() for name in ("t", RANK, SEEN))
        sides[side_of(message)].extend(zip(*columns, strict=True))
    return *sides, counts


def test_tuples_take_their_place_behind_the_watermark_left_first() -> None:
    query = query_of("t")
    sequencer = Sequencer(query)
    sequencer.push(batch(query, 0, [5, 1, 3]))
    sequencer.push(batch(query, 1, [3, 0, 9]))
    left, right, counts = placed(sequencer.advance(5))
    assert left == [(1, 0, 1), (3, 1, 1)]
    assert right == [(0, 0, 0), (3, 1, 2)]
    assert counts == (2, 2)
    left, right, counts = placed(sequencer.advance(10))
    assert (left, right, counts) == ([(5, 2, 2)], [(9, 2, 3)], (3, 3))


def test_late_tuples_are_dropped_and_counted() -> None:
    query = query_of("t")
    sequencer = Sequencer(query)
    sequencer.advance(5)
    sequencer.push(batch(query, 0, [4, 5]))
    assert placed(sequencer.advance(6))[0] == [(5, 0, 0)]
    assert sequencer.dropped == 1


def test_without_time_the_tuples_of_a_batch_come_in_turn() -> None:
    query = query_of(None)
    sequencer = Sequencer(query)
    sequencer.push(batch(query, 0, [7, 8]))
    sequencer.push(batch(query, 1, [9, 9, 9]))
    left, right, counts = placed(sequencer.advance(0))
    assert left == [(7, 0, 0), (8, 1, 1)]
    assert right == [(9, 0, 1), (9, 1, 2), (9, 2, 2)]
    assert counts == (2, 3)


def test_what_waits_is_stored_once() -> None:
    query = query_of("t")
    sequencer = Sequencer(query)
    sequencer.push(batch(query, 0, [1, 5]))
    sequencer.advance(0)
    log, store = StateLog({}), MemoryStore()
    log.save(sequencer, store)
    chunks = {name for name in store.blobs if name}
    assert len(chunks) == 1
    stored = {name: store.get(name) for name in chunks}
    sequencer.advance(3)
    log.save(sequencer, store)
    assert {name: blob for name, blob in store.blobs.items() if name} == stored
    copy, copied = Sequencer(query), StateLog({})
    copied.load(copy, store)
    assert placed(copy.advance(9))[0] == [(5, 1, 0)]
    copied.save(copy, store)
    assert set(store.blobs) == {""}
