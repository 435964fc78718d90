"""The demo's check finds whatever is wrong with the results."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from windrow.cli.progress import Batch
from windrow.cli.quotes import DELAY, SYMBOLS, windows
from windrow.cli.replay import Differs, compare

ROWS_PER_SECOND = 4000
SECONDS = 4
FIRST = 1_700_000_000_000_000


def make_quotes() -> pa.Table:
    """Four seconds of quotes, in order."""
    random = np.random.default_rng(1)
    numbers = np.arange(SECONDS * ROWS_PER_SECOND)
    times = FIRST + numbers * (1_000_000 // ROWS_PER_SECOND)
    symbols = random.choice(list(SYMBOLS), len(numbers))
    return pa.table(
        {
            "symbol": pa.array(symbols),
            "number": numbers,
            "ts": pa.array(times, pa.timestamp("us", "UTC")),
            "price": random.normal(100, 1, len(numbers)).round(2),
        }
    )


def make_batch(number: int, **fields: int) -> Batch:
    """The quotes of one second; the watermark is that of the batches before."""
    newest = FIRST + number * 1_000_000 - 1_000_000 // ROWS_PER_SECOND
    return Batch(
        number=number,
        rows=ROWS_PER_SECOND,
        source_second=number + 1,
        rows_per_second=ROWS_PER_SECOND,
        processed_per_second=ROWS_PER_SECOND,
        seconds=0.5,
        watermark=fields.get("watermark", (newest - DELAY) // 1000 * 1000 if number else 0),
        newest_quote=None,
        newest_in_window=None,
        state_bytes=0,
        windows=0,
        dropped=fields.get("dropped", 0),
    )


BATCHES = [make_batch(number) for number in range(SECONDS)]


def fired(quotes: pa.Table, watermark: int) -> pa.Table:
    """Full windows of the quotes before the watermark."""
    is_before = pc.less(quotes["ts"].cast(pa.int64()), watermark)
    found = windows(quotes.filter(is_before)).collect()
    return found.filter(pc.equal(found["n"], 1000))


@pytest.fixture(scope="module")
def results() -> pa.Table:
    return fired(make_quotes(), BATCHES[-1].watermark)


def test_results_of_the_query_pass(results: pa.Table) -> None:
    assert len(results) > 20
    assert compare(results, make_quotes(), BATCHES, ROWS_PER_SECOND) == 0


@pytest.mark.parametrize("name", ["n", "mean", "low", "high"])
def test_a_wrong_value_is_found(results: pa.Table, name: str) -> None:
    column = results[name].to_numpy().copy()
    column[7] += 1
    wrong = results.set_column(results.schema.get_field_index(name), name, pa.array(column))
    with pytest.raises(Differs, match=f"window 7 of .*: {name} is"):
        compare(wrong, make_quotes(), BATCHES, ROWS_PER_SECOND)


def test_a_missing_window_is_found(results: pa.Table) -> None:
    with pytest.raises(Differs, match="were due"):
        compare(results.slice(1), make_quotes(), BATCHES, ROWS_PER_SECOND)


def test_quotes_behind_the_watermark_must_be_dropped() -> None:
    quotes = make_quotes()
    times = quotes["ts"].cast(pa.int64()).to_numpy().copy()
    strays = 3 * ROWS_PER_SECOND + np.arange(5)
    times[strays] -= 3_000_000
    quotes = quotes.set_column(2, "ts", pa.array(times, pa.timestamp("us", "UTC")))
    on_time = quotes.filter(pc.invert(pc.is_in(quotes["number"], pa.array(strays))))
    found = fired(on_time, BATCHES[-1].watermark)
    with pytest.raises(Differs, match="0 quotes were dropped, but 5 came too late"):
        compare(found, quotes, BATCHES, ROWS_PER_SECOND)
    counted = [*BATCHES[:-1], replace(BATCHES[-1], dropped=5)]
    assert compare(found, quotes, counted, ROWS_PER_SECOND) == 5
