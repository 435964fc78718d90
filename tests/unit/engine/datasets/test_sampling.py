"""What a sample of a dataset tells about its rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import windrow as wr
from windrow import functions as wf
from windrow.core.statistics import UNKNOWN, Statistics
from windrow.engine.datasets import sampling
from windrow.engine.datasets.pieces import filter_of, pieces_of
from windrow.engine.datasets.scan import Scan
from windrow.engine.datasets.splits import splits_of

N = 400_000


def table_of(keys: int, skew: float, every: int = 100) -> pa.Table:
    random = np.random.default_rng(1)
    found = np.where(random.random(N) < skew, 0, random.integers(0, keys, N))
    times = pa.array(np.arange(N) * every, pa.timestamp("us"))
    return pa.table({"k": found, "t": times, "x": random.normal(size=N)})


@pytest.fixture(autouse=True)
def small_is_large(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sampling, "LEAST_BYTES", 1 << 20)
    yield


def median(windows: Any) -> Any:
    return windows.agg(m=wf.median("x"))


def own(windows: Any) -> Any:
    return windows.apply(lambda w: {"n": len(w)}, "n bigint")


def statistics_of(dataset: ds.Dataset, compute: Any = median) -> Statistics:
    query: Any = wr.stream(dataset).key_by("k").event_time("t")
    complete = compute(query.window(wr.TimeWindow("1 s"))).window_query()
    names = tuple(dataset.schema.names)
    scan = Scan(dataset.schema.remove_metadata(), names, filter_of(dataset))
    splits = splits_of(scan, pieces_of(dataset), 2)
    pieces = [piece for split in splits for piece in split.pieces]
    return sampling.sampled(complete, scan, pieces, {name: name for name in names})


def files(folder: Path, table: pa.Table, n: int) -> ds.Dataset:
    rows = len(table) // n
    for i in range(n):
        path = folder / f"{i:03}.parquet"
        pq.write_table(table.slice(i * rows, rows), path, row_group_size=20_000)
    return ds.dataset(folder)


@pytest.mark.parametrize(("keys", "skew"), [(1, 0.0), (100, 0.0), (1000, 0.5), (5000, 0.16)])
@pytest.mark.parametrize("n", [1, 4])
def test_keys_skew_rate_and_rows_are_about_right(
    tmp_path: Path, keys: int, skew: float, n: int
) -> None:
    found = statistics_of(files(tmp_path, table_of(keys, skew), n))
    assert found.keys == pytest.approx(keys, rel=0.1)
    assert found.skew == pytest.approx(skew + (1 - skew) / keys, rel=0.2)
    assert found.rate == pytest.approx(10_000, rel=0.2)
    assert found.rows == pytest.approx(N, rel=0.05)


def test_a_key_per_row_is_no_frequent_key(tmp_path: Path) -> None:
    table = table_of(1, 0).set_column(0, "k", pa.array(np.arange(N)))
    found = statistics_of(files(tmp_path, table, 2))
    assert found.keys == N
    assert found.skew == pytest.approx(0, abs=1e-3)


def test_tables_in_memory_are_sampled_too() -> None:
    found = statistics_of(ds.dataset(table_of(100, 0)))
    assert found.keys == pytest.approx(100)
    assert found.rows == N


def test_the_first_rows_that_pass_a_filter_stand_for_the_others(tmp_path: Path) -> None:
    """A tenth of the rows: all of those of ten of the keys."""
    table = table_of(100, 0).set_column(0, "k", pa.array(np.arange(N) % 100))
    dataset = files(tmp_path, table, 2)
    found = statistics_of(dataset.filter(pc.field("k") < 10))
    assert found.keys == 10
    assert found.skew == pytest.approx(0.1, rel=0.01)
    assert found.rows == pytest.approx(N / 10, rel=0.01)
    assert found.rate == pytest.approx(1000, rel=0.1)
    assert statistics_of(dataset.filter(pc.field("x") > 1e9)) == UNKNOWN


def test_nothing_is_read_of_small_datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = files(tmp_path, table_of(100, 0), 1)
    monkeypatch.setattr(sampling, "LEAST_BYTES", 1 << 40)
    assert statistics_of(dataset) == UNKNOWN


def test_less_input_is_worth_a_sample_if_the_function_is_the_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = files(tmp_path, table_of(100, 0), 1)
    size = sum(path.stat().st_size for path in tmp_path.iterdir())
    monkeypatch.setattr(sampling, "LEAST_BYTES", 2 * size)
    assert statistics_of(dataset) == UNKNOWN
    assert statistics_of(dataset, own).keys == pytest.approx(100)


def test_files_that_cannot_be_read_are_left_to_the_tasks(tmp_path: Path) -> None:
    dataset = files(tmp_path, table_of(100, 0), 2)
    pieces = pieces_of(dataset)
    for path in tmp_path.iterdir():
        path.write_bytes(b"x" * path.stat().st_size)
    query: Any = wr.stream(table_of(1, 0)).key_by("k").event_time("t")
    complete = query.window(wr.TimeWindow("1 s")).agg(m=wf.median("x")).window_query()
    scan = Scan(dataset.schema, tuple(dataset.schema.names))
    assert sampling.sampled(complete, scan, pieces, {"k": "k", "t": "t"}) == UNKNOWN


@pytest.mark.parametrize("is_ordered", [True, False])
def test_one_piece_tells_the_rate_of_rows_in_any_order(is_ordered: bool) -> None:
    """Only the first rows of it are read."""
    table = table_of(100, 0)
    if not is_ordered:
        table = table.take(np.random.default_rng(2).permutation(len(table)))
    query: Any = wr.stream(table).key_by("k").event_time("t")
    complete = query.window(wr.TimeWindow("1 s")).agg(m=wf.median("x")).window_query()
    dataset = ds.dataset(table.combine_chunks())
    scan = Scan(table.schema, tuple(table.column_names))
    names = {name: name for name in table.column_names}
    found = sampling.sampled(complete, scan, pieces_of(dataset), names)
    assert found.rate == pytest.approx(10_000, rel=0.1)
    first = sampling.statistics_of_parts(complete, [(table.slice(0, 10_000), N)], N)
    assert first.rate == pytest.approx(10_000, rel=0.1)


def test_frequent_keys_are_named(tmp_path: Path) -> None:
    found = statistics_of(files(tmp_path, table_of(1000, 0.3), 2)).hot_keys
    assert found is not None
    ((key, share),) = found
    assert key == 0
    assert share == pytest.approx(0.3, rel=0.05)


def test_keys_that_are_equally_frequent_are_not() -> None:
    assert statistics_of(ds.dataset(table_of(50, 0.0))).hot_keys == ()
