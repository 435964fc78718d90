from __future__ import annotations

from typing import Any

import pytest

import windrow as wr
from windrow.core import oracle


def test_watermark_is_in_whole_milliseconds() -> None:
    rows = [{"t": 500}, {"t": 1500}, {"t": 2999}]
    dropped = oracle.windows(wr.TimeWindow("1 ms"), rows, time="t", open_windows="drop")
    assert [w.id for w in dropped] == [0, 1]


def test_tuples_at_the_watermark_do_not_count_yet() -> None:
    rows = [{"t": 0}, {"t": 1000}, {"t": 2000}, {"t": 3000}]
    how: Any = {"time": "t", "open_windows": "drop"}
    assert len(oracle.windows(wr.CountWindow(3), rows, **how)) == 1
    assert len(oracle.windows(wr.CountWindow(4), rows, **how)) == 0
    assert len(oracle.windows(wr.CountWindow(3), rows, delay="1 ms", **how)) == 0


def test_session_fires_only_past_its_end() -> None:
    rows = [{"t": 0}, {"t": 3000}]
    how: Any = {"time": "t", "open_windows": "drop"}
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


def always(x: oracle.Row, y: oracle.Row) -> bool:
    return True


def pairs_of(found: list[tuple[oracle.Row | None, oracle.Row | None]], name: str) -> list[Any]:
    return [(x and x[name], y and y[name]) for x, y in found]


def test_join_is_asymmetric_in_its_lengths_and_inclusive() -> None:
    left, right = [{"t": 10}], [{"t": 6}, {"t": 7}, {"t": 10}, {"t": 15}, {"t": 16}]
    pairs = oracle.join(left, right, always, within=("5 us", "3 us"), time="t")
    assert pairs_of(pairs, "t") == [(10, 7), (10, 10), (10, 15)]


def test_join_by_count_sees_the_last_tuples_before() -> None:
    #   left   0   2 3     6
    #   right    1     4 5   7
    left, right = [{"t": t} for t in (0, 2, 3, 6)], [{"t": t} for t in (1, 4, 5, 7)]
    pairs = oracle.join(left, right, always, within=(2, 1), time="t")
    # 1 sees 0; 4 and 5 see 2 and 3; 7 sees 3 and 6. 2 and 3 see 1; 6 sees 5.
    assert sorted(pairs_of(pairs, "t")) == [
        (0, 1), (2, 1), (2, 4), (2, 5), (3, 1), (3, 4), (3, 5), (3, 7), (6, 5), (6, 7),
    ]  # fmt: skip


def test_join_by_count_puts_left_tuples_first_where_times_are_equal() -> None:
    pairs = oracle.join([{"t": 1, "n": 0}], [{"t": 1, "n": 1}], always, within=(1, 1), time="t")
    assert pairs_of(pairs, "n") == [(0, 1)]


def test_join_by_count_without_time_takes_both_sides_in_turn() -> None:
    left, right = [{"n": n} for n in range(3)], [{"n": n} for n in range(3)]
    pairs = oracle.join(left, right, always, within=1)
    # left 0, right 0, left 1, right 1, ...
    assert sorted(pairs_of(pairs, "n")) == [(0, 0), (1, 0), (1, 1), (2, 1), (2, 2)]


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("inner", [(1, 1)]),
        ("left_outer", [(1, 1), (9, None)]),
        ("right_outer", [(1, 1), (None, 5)]),
        ("full_outer", [(1, 1), (9, None), (None, 5)]),
        ("semi", [(1, None)]),
        ("anti", [(9, None)]),
    ],
)
def test_join_keeps_what_does_not_match(how: str, expected: list[Any]) -> None:
    left: list[oracle.Row] = [{"t": 1}, {"t": 9}, {"t": None}]
    right = [{"t": 1}, {"t": 5}]
    found = oracle.join(left, right, always, within="1 us", time="t", how=how)
    assert pairs_of(found, "t") == expected
