"""collect, ohlc, first and last: functions that mind the order."""

from __future__ import annotations

import math

import numpy as np

from windrow import functions as wf
from windrow.functions.columnar import Values


def test_collect_keeps_order_and_duplicates() -> None:
    assert wf.collect("x").over(["b", None, "a", "b"]) == ["b", "a", "b"]
    assert wf.collect("x").over([None]) == []


def test_positions_put_parts_in_order() -> None:
    collect = wf.collect("x")
    newer, older = collect.lift((7, "new")), collect.lift((2, "old"))
    assert collect.lower(collect.combine(newer, older)) == ["old", "new"]
    bar = wf.ohlc("x")
    parts = bar.combine(bar.lift((7, 1)), bar.lift((2, 3)))
    assert bar.lower(parts) == {"open": 3, "high": 3, "low": 1, "close": 1}


def test_bar_skips_nulls_and_takes_nan_as_the_greatest() -> None:
    assert wf.ohlc("x").over([None, 2.0, 1.0, None]) == {
        "open": 2.0,
        "high": 2.0,
        "low": 1.0,
        "close": 1.0,
    }
    bar = wf.ohlc("x").over([2.0, math.nan])
    assert bar is not None and math.isnan(bar["high"]) and bar["low"] == 2.0
    assert wf.ohlc("x").over([None]) is None


def test_columnar_sequences_over_windows_without_values() -> None:
    x = Values(np.array([0, 5, 6]), np.array([False, True, True]))
    lo, hi = np.array([0, 0]), np.array([1, 3])
    assert wf.collect("x").over_ranges([x], lo, hi).to_list() == [[], [5, 6]]
    assert wf.ohlc("x").over_ranges([x], lo, hi).to_list() == [
        None,
        {"open": 5, "high": 6, "low": 5, "close": 6},
    ]


def test_first_and_last_see_nulls_unless_told_to_ignore_them() -> None:
    x = Values(np.array([0, 5, 6]), np.array([False, True, True]))
    lo, hi = np.array([0, 1, 0]), np.array([3, 3, 1])
    assert wf.first("x").over_ranges([x], lo, hi).to_list() == [None, 5, None]
    assert wf.last("x").over_ranges([x], lo, hi).to_list() == [6, 6, None]
    ignoring = wf.first("x", ignore_nulls=True)
    assert ignoring.over_ranges([x], lo, hi).to_list() == [5, 5, None]
