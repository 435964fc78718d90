"""Late tuples under patterns that compute windows in pieces."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

import windrow as wr
from tests.close import assert_close
from tests.trail import Trail
from tests.unit.engine.test_partials import FUNCTIONS
from windrow import functions as wf
from windrow.core import oracle
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


ROWS: list[dict[str, Any]] = [
    {"t": t, "seq": seq, "x": x, "y": y, "s": s, "b": b, "m": None if m is None else Decimal(m)}
    for t, seq, x, y, s, b, m in [
        (1, 0, 4, 1.0, "q", True, "1.50"),
        (5, 1, None, 2.5, "r", None, None),
        (6, 1, 7, -3.0, None, False, "0.25"),
        (9, 0, 2, None, "p", True, "1.50"),
        # The watermark is at 8, so the panes of these have fired; they come before those held.
        (5, 0, 9, 0.5, "s", False, "9.00"),
        (6, 1, 7, -3.5, "p", True, "-2.00"),
        (6, 0, -1, 8.0, "s", None, "9.00"),
        (4, 2, None, None, None, None, None),
    ]
]


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "joined"])
def test_late_tuples_count_in_open_windows_whatever_the_function(name: str) -> None:
    """Windows 0 and 1, of [0, 12) and [4, 16), are open when the last four tuples come."""
    model, function = wr.TimeWindow(12, 4), FUNCTIONS[name]
    query = wr.stream(pa.Table.from_pylist(ROWS)).event_time("t").order_by("seq")
    complete = query.window(model).agg(r=function, n=wf.count()).window_query()
    expected = {
        w.id: [oracle.aggregate(function, w.rows), len(w.rows)]
        for w in oracle.windows(model, ROWS, time="t", order_by=["seq"])
        if w.id >= 0
    }
    for pattern in (wr.WinSeq(), wr.PaneFarm(2, 2), wr.WinFarm(2, wr.PaneFarm(1, 2, level=2))):
        runner = WindowRunner(complete, window_stages(complete, pattern))
        tables = runner.push(pa.Table.from_pylist(ROWS[:4]))
        tables += runner.advance(8)
        tables += runner.push(pa.Table.from_pylist(ROWS[4:]))
        found = [row for table in tables + runner.finish() for row in table.to_pylist()]
        got = {row["window_id"]: [row["r"], row["n"]] for row in found if row["window_id"] >= 0}
        assert got.keys() == expected.keys()
        for window, results in expected.items():
            assert_close(got[window], results)
