"""What a batch writes: as much as it changes, however much is retained."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest

import windrow as wr
from tests.stored import QUERY, SCHEMA, CountingStore, query_of, tuples_of, worker_of
from windrow import functions as wf
from windrow.core import WindowModel
from windrow.core.watermark import BEGINNING
from windrow.engine.state import chunks as chunk_log
from windrow.engine.state.log import StateLog


def written(
    query: wr.Query, batches: list[tuple[list[Any], Any]], watermarks: list[int]
) -> list[int]:
    """The bytes each batch writes."""
    worker, log, sizes = worker_of(query), StateLog(QUERY), []
    store = CountingStore()
    for (keys, times), watermark in zip(batches, watermarks, strict=True):
        worker.push(tuples_of(query, keys, times))
        worker.advance(watermark)
        store.written = 0
        log.save(worker, store)
        sizes.append(store.written)
    return sizes


NEVER_FIRING: list[WindowModel] = [
    wr.CountWindow(10**9),
    wr.TimeWindow(10**12),
    wr.SessionWindow(10**9),
    wr.SlideByTimeWindow(10**9, 10**12),
    wr.DeltaWindow("d", 10**12, 10**11),
]


@pytest.mark.parametrize("model", NEVER_FIRING, ids=str)
@pytest.mark.parametrize("kind", ["sums", "apply"])
def test_a_batch_writes_the_same_however_much_is_retained(model: WindowModel, kind: str) -> None:
    given = [([f"k{i}" for i in range(100)] * 5, range(b * 500, b * 500 + 500)) for b in range(60)]
    sizes = written(query_of(model, kind), given, [b * 500 + 500 for b in range(60)])
    assert max(sizes[20:]) < 1.5 * max(sizes[1:20])


def test_tuples_that_wait_for_the_watermark_are_not_written_again() -> None:
    query = query_of(wr.CountWindow(10), "apply")
    given = [(["a"] * 500, range(b * 500, b * 500 + 500)) for b in range(60)]
    sizes = written(query, given, [BEGINNING] * 60)
    assert max(sizes[20:]) < 1.5 * max(sizes[1:20])


def test_what_is_put_together_now_and_then_is_little_over_many_batches() -> None:
    query = query_of(wr.TimeWindow(10**12), "apply")
    given = [(["a"] * 50, range(b * 50, b * 50 + 50)) for b in range(400)]
    with patch.multiple(chunk_log, _MOST_CHUNKS=32, _MERGED=8):
        sizes = written(query, given, [b * 50 + 50 for b in range(400)])
    assert sum(sizes[300:]) < 4 * sum(sizes[10:30]) / 20 * 100


def test_a_batch_of_few_keys_does_not_write_a_million_known_ones() -> None:
    query = query_of(wr.CountWindow(10**6), "sums")
    many = list(range(1_000_000))
    ints = pa.schema([SCHEMA.field(n).with_type(pa.int64()) for n in ("k", "t", "seq", "x", "d")])
    query = wr.stream(ints.empty_table()).key_by("k").event_time("t")
    query = query.window(wr.CountWindow(10**6)).agg(total=wf.sum("x"))
    given = [(many, many)] + [([5, 10**7 + b, 7], [2 * 10**6 + b] * 3) for b in range(20)]
    sizes = written(query, given, [2 * 10**6 + b for b in range(21)])
    assert sizes[0] > 8_000_000
    assert max(sizes[1:]) < 10_000
