"""Late tuples under patterns that compute windows in pieces."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import windrow as wr
from tests.trail import Trail
from windrow import functions as wf
from windrow.engine.in_process import WindowRunner
from windrow.patterns import Pattern
from windrow.patterns.windows import window_stages

SCHEMA = pa.schema([("k", pa.string()), ("t", pa.int64()), ("x", pa.string())])


def run(pattern: Pattern, model: wr.TimeWindow, *steps: int | list[tuple[int, str]]) -> Any:
    """Numbers are watermarks, lists are batches of (time, x); ids and texts of all windows."""
    query = wr.stream(SCHEMA.empty_table()).key_by("k").event_time("t").window(model)
    complete = query.agg(text=Trail("x"), n=wf.count()).window_query()
    runner, tables = WindowRunner(complete, window_stages(complete, pattern)), []
    for step in steps:
        if isinstance(step, int):
            tables += runner.advance(step)
        else:
            rows = [{"k": "a", "t": t, "x": x} for t, x in step]
            tables += runner.push(pa.Table.from_pylist(rows, SCHEMA))
    tables += runner.finish()
    found = [row for table in tables for row in table.to_pylist()]
    return sorted((row["window_id"], row["text"]) for row in found)


@pytest.mark.parametrize("pattern", [wr.WinSeq(), wr.WinFarm(2)], ids=str)
def test_a_tuple_late_for_its_pane_takes_its_place_in_the_window(pattern: Pattern) -> None:
    """Pane [4, 8) has fired when the tuple at 6 comes, windows 0 and 1 have not.

    time      4   5   6   7   8   9
    tuple         p   q   r       s
    watermark                 ^
    """
    found = run(pattern, wr.TimeWindow(12, 4), [(5, "p"), (7, "r")], 8, [(6, "q"), (9, "s")])
    assert found == [(-1, "pr"), (0, "pqrs"), (1, "pqrs"), (2, "s")]


@pytest.mark.parametrize("pattern", [wr.WinSeq(), wr.PaneFarm(2, 2), wr.WinFarm(2)], ids=str)
def test_a_worker_whose_first_tuple_is_late_for_its_pane(pattern: Pattern) -> None:
    assert run(pattern, wr.TimeWindow(10, 5), 12, [(7, "p")]) == [(1, "p")]
