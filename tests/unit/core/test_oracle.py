from __future__ import annotations

from typing import Any

import pytest

import windrow as wr
from windrow.core import oracle


def test_watermark_is_in_whole_milliseconds() -> None:
    rows = [{"t": 500}, {"t": 1500}, {"t": 2999}]
    dropped = oracle.windows(wr.TimeWindow("1 ms"), rows, time="t", partial="drop")
    assert [w.id for w in dropped] == [0, 1]


def test_tuples_at_the_watermark_do_not_count_yet() -> None:
    rows = [{"t": 0}, {"t": 1000}, {"t": 2000}, {"t": 3000}]
    how: Any = {"time": "t", "partial": "drop"}
    assert len(oracle.windows(wr.CountWindow(3), rows, **how)) == 1
    assert len(oracle.windows(wr.CountWindow(4), rows, **how)) == 0
    assert len(oracle.windows(wr.CountWindow(3), rows, delay="1 ms", **how)) == 0


def test_session_fires_only_past_its_end() -> None:
    rows = [{"t": 0}, {"t": 3000}]
    how: Any = {"time": "t", "partial": "drop"}
    assert len(oracle.windows(wr.SessionWindow("2 ms"), rows, **how)) == 1
    late = [{"t": 0}, {"t": 2500}]
    assert len(oracle.windows(wr.SessionWindow("2 ms"), late, **how)) == 0


def test_null_times_and_deltas_belong_nowhere_but_null_keys_do() -> None:
    rows: list[dict[str, Any]] = [
        {"k": None, "t": 1, "d": 1},
        {"k": None, "t": None, "d": 2},
        {"k": 1, "t": 2, "d": None},
    ]
    found = oracle.windows(wr.CountWindow(5), rows, key=["k"], time="t")
    assert [(w.key, len(w.rows)) for w in found] == [((None,), 1), ((1,), 1)]
    assert oracle.windows(wr.DeltaWindow("d", 1, 1), rows, key=["k"], time="t") == []


def test_order_is_time_then_order_by_then_arrival() -> None:
    rows: list[dict[str, Any]] = [
        {"t": 1, "s": 2, "i": 0},
        {"t": 1, "s": None, "i": 1},
        {"t": 0, "s": 9, "i": 2},
        {"t": 1, "s": 2, "i": 3},
    ]
    (window,) = oracle.windows(wr.CountWindow(9), rows, time="t", order_by=["s"])
    assert [r["i"] for r in window.rows] == [2, 1, 0, 3]


def test_time_windows_need_a_time() -> None:
    with pytest.raises(wr.WindrowError, match="TimeWindow needs an event time"):
        oracle.windows(wr.TimeWindow(1), [{"t": 1}])


def test_join_is_asymmetric_in_its_lengths_and_inclusive() -> None:
    left, right = [{"t": 10}], [{"t": 6}, {"t": 7}, {"t": 10}, {"t": 15}, {"t": 16}]
    pairs = oracle.join(left, right, lambda x, y: True, within=("5 us", "3 us"), time="t")
    assert [y["t"] for _, y in pairs] == [7, 10, 15]
