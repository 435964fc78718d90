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
BOUND = 200


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file whose rows are all in one row group."""
    path = tmp_path_factory.mktemp("files") / "a.parquet"
    rows = np.arange(ROWS)
    table = pa.table({"k": rows % 100, "t": pa.array(rows, pa.timestamp("us")), "x": rows})
    pq.write_table(table, path, row_group_size=ROWS, use_dictionary=False)
    return path


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
    query = rows.key_by("k").event_time("t").window(wr.TimeWindow("100 ms"))
    query = query.agg(n=wf.count(), last=wf.last("x"))
    small = pa.table({"k": [1], "t": pa.array([1], pa.timestamp("us")), "x": [1]})
    warm = wr.stream(small).key_by("k").event_time("t").window(wr.TimeWindow("100 ms"))
    warm.agg(n=wf.count(), last=wf.last("x")).collect()
    before = peak()
    assert query.collect(threads=2)["n"].to_numpy().sum() == ROWS
    return peak() - before


if __name__ == "__main__":
    print(grown(*sys.argv[1:]))
