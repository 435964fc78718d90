"""Memory is bounded by batches and state, not by the size of files or of their row groups.

The query runs in a process of its own, this file as a program, so that its peak of memory is the
query's.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import windrow as wr
from windrow import functions as wf

ROWS = 12_000_000
"""In memory they take 288 MB."""
WIDE = 500_000
"""Rows with a string of 2000 bytes each: 1000 MB in memory."""
BOUND = 200


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file whose rows are all in one row group."""
    path = tmp_path_factory.mktemp("files") / "a.parquet"
    rows = np.arange(ROWS)
    table = pa.table({"k": rows % 100, "t": pa.array(rows, pa.timestamp("us")), "x": rows})
    pq.write_table(table, path, row_group_size=ROWS, use_dictionary=False)
    return path


def test_wide_rows_are_not_in_memory_as_a_whole(tmp_path: Path) -> None:
    rows = np.arange(WIDE)
    columns = {"k": rows % 2, "t": pa.array(rows, pa.timestamp("us")), "x": rows}
    # The file has each string once per row group.
    columns["s"] = pa.array(["a" * 2000, "b" * 2000]).take(pa.array(rows % 2))
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table(columns), path, row_group_size=50_000)
    del columns
    command = [sys.executable, __file__, str(path), "wide"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(run.stdout) < WIDE * 2000 // 10**6


@pytest.mark.parametrize("kind", ["all", "filtered"])
def test_a_row_group_is_never_in_memory_as_a_whole(path: Path, kind: str) -> None:
    command = [sys.executable, __file__, str(path), kind]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(run.stdout) < BOUND


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def grown(path: str, kind: str) -> int:
    """Megabytes that a query over the file takes at most."""
    rows = wr.scan(path, filter=pc.field("x") >= 0) if kind == "filtered" else wr.scan(path)
    small = pa.table({"k": [1], "t": pa.array([1], pa.timestamp("us")), "x": [1], "s": [""]})
    read, length = ("s", "1 ms") if kind == "wide" else ("x", "100 ms")

    def query(rows: wr.Query) -> wr.Query:
        keyed = rows.key_by("k").event_time("t").window(wr.TimeWindow(length))
        return keyed.agg(n=wf.count(), last=wf.last(read))

    query(wr.stream(small)).collect()
    before = peak()
    expected = WIDE if kind == "wide" else ROWS
    assert query(rows).collect(threads=2)["n"].to_numpy().sum() == expected
    return peak() - before


if __name__ == "__main__":
    print(grown(*sys.argv[1:]))
