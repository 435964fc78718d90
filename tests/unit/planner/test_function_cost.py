"""What a function costs is measured on windows of sampled rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from windrow import functions as wf
from windrow.core.statistics import Statistics
from windrow.planner.constants import Constants
from windrow.planner.function_cost import LEAST_WINDOWS, measured_cost
from windrow.planner.load import load_of

N = 10_000
ROWS = pa.table(
    {
        "k": np.arange(N) % 10,
        "t": pa.array(np.arange(N), pa.timestamp("us")),
        "x": np.arange(N) * 1.0,
    }
)
KEYED: Any = wr.stream(ROWS).key_by("k").event_time("t")


def measured(query: Any, rows: pa.Table = ROWS, known: Statistics | None = None) -> float | None:
    complete = query.window_query()
    told = known or Statistics(keys=10, rate=1e6, rows=10**6)
    return measured_cost(complete, rows, load_of(complete, told, Constants()))


@pytest.mark.parametrize(
    ("model", "rows"),
    [(wr.TimeWindow("1 ms"), 100), (wr.CountWindow(100, 10), 100), (wr.SessionWindow("46 us"), 99)],
    ids=str,
)
def test_windows_look_as_they_will(model: wr.WindowModel, rows: int) -> None:
    seen: list[Any] = []

    def look(window: wr.Window) -> dict[str, float]:
        seen.append((window.key, len(window), bool(window.end > window.start), window.columns))
        return {"r": float(window["x"].sum())}

    cost = measured(KEYED.window(model).apply(look, "r double"))
    assert cost is not None
    assert cost > 0
    assert set(seen) == {(0, rows, True, ("k", "t", "x"))}


def test_fold_and_decompose_are_measured_too() -> None:
    windows = KEYED.window(wr.TimeWindow("1 ms"))
    folded = windows.fold(lambda acc, row: acc + row["x"], 0.0, "r double")
    pieces = windows.decompose(
        partial=lambda w: {"s": float(w["x"].sum())},
        combine=lambda parts: {"r": sum(p["s"] for p in parts)},
        partial_returns="s double",
        returns="r double",
    )
    assert measured(folded) is not None
    assert measured(pieces) is not None


def test_a_window_of_more_rows_than_there_are_is_taken_to_cost_in_proportion() -> None:
    lengths: list[int] = []

    def look(window: wr.Window) -> dict[str, int]:
        lengths.append(len(window))
        return {"n": 1}

    assert measured(KEYED.window(wr.CountWindow(100_000, 100)).apply(look, "n bigint")) is not None
    assert set(lengths) == {N}


def test_a_function_that_fails_or_is_the_librarys_own_is_not_measured() -> None:
    def fails(window: wr.Window) -> dict[str, int]:
        raise RuntimeError("no such file")

    windows = KEYED.window(wr.TimeWindow("1 ms"))
    assert measured(windows.apply(fails, "n bigint")) is None
    assert measured(windows.agg(m=wf.median("x"))) is None
    assert measured(windows.apply(lambda w: {"n": 1}, "n bigint"), ROWS.slice(0, 0)) is None


def test_no_function_is_called_for_a_few_windows() -> None:
    called: list[int] = []

    def look(window: wr.Window) -> dict[str, int]:
        called.append(1)
        return {"n": 1}

    query = KEYED.window(wr.CountWindow(100)).apply(look, "n bigint")
    few = Statistics(keys=10, rate=1e6, rows=100 * (LEAST_WINDOWS - 1))
    assert measured(query, known=few) is None
    assert not called
