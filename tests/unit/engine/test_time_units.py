"""Event times that are integers, in seconds, milliseconds, microseconds or nanoseconds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from windrow import functions as wf
from windrow.core.durations import TimeUnit
from windrow.engine.columns.arrays import to_microseconds


def bounds_shown(times: list[int], unit: TimeUnit, model: Any) -> list[tuple[Any, Any]]:
    """The bounds that a function sees."""
    query = wr.stream({"t": np.array(times)}).event_time("t", unit=unit).window(model)
    shown = query.apply(lambda w: {"start": w.start, "end": w.end}, "start long, end long")
    return [(row["start"], row["end"]) for row in shown.ordered().collect().to_pylist()]


@pytest.mark.parametrize(
    ("unit", "times", "bounds"),
    [
        ("s", [10, 21], [(10, 20), (20, 30)]),
        ("ms", [10_000, 21_000], [(10_000, 20_000), (20_000, 30_000)]),
        ("us", [10_000_000], [(10_000_000, 20_000_000)]),
        ("ns", [10_000_000_999], [(10_000_000_000, 20_000_000_000)]),
        ("s", [-1], [(-10, 0)]),
    ],
)
def test_functions_see_bounds_in_the_unit_of_the_times(
    unit: TimeUnit, times: list[int], bounds: list[tuple[int, int]]
) -> None:
    assert bounds_shown(times, unit, wr.TimeWindow("10 s")) == bounds


def test_bounds_between_two_units_are_rounded_outwards() -> None:
    assert bounds_shown([2], "s", wr.TimeWindow("1500 ms")) == [(1, 3)]
    assert bounds_shown([5], "s", wr.SlideByTupleWindow("500 ms", 1)) == [(4, 5)]


def test_bounds_in_nanoseconds_may_need_more_than_64_bits() -> None:
    seen = []
    query = wr.stream({"t": np.array([2**63 - 1])}).event_time("t", unit="ns")
    query = query.window(wr.TimeWindow("100000 days"))
    query.apply(lambda w: seen.append(w.end) or {"n": len(w)}, "n int").collect()  # type: ignore[func-returns-value]
    assert seen == [2 * 100_000 * 86_400 * 10**9]


def test_window_columns_of_the_result_are_timestamps_in_every_unit() -> None:
    query = wr.stream({"t": np.array([3], np.int32)}).event_time("t", unit="s")
    result = query.window(wr.TimeWindow("2 s")).agg(n=wf.count()).collect()
    assert str(result["window_start"][0]) == "1970-01-01 00:00:02"


@pytest.mark.parametrize("unit", ["s", "ms"])
@pytest.mark.parametrize("time", [2**62, -(2**63)])
def test_times_beyond_64_bit_microseconds_are_refused(unit: TimeUnit, time: int) -> None:
    query = wr.stream({"t": np.array([0, time])}).event_time("t", unit=unit)
    with pytest.raises(wr.WindrowError, match=f"must fit 64-bit microseconds; got {time}"):
        query.window(wr.CountWindow(2)).agg(n=wf.count()).collect()


@pytest.mark.parametrize("unit", ["s", "ms"])
def test_timestamps_beyond_64_bit_microseconds_are_refused(unit: TimeUnit) -> None:
    times = pa.table({"t": pa.array([0, 2**62], pa.timestamp(unit))})
    query = wr.stream(times).event_time("t").window(wr.CountWindow(2)).agg(n=wf.count())
    with pytest.raises(wr.WindrowError, match=f"times in {unit} must fit 64-bit microseconds"):
        query.collect()


@pytest.mark.parametrize("kind", [pa.date32(), pa.date64(), pa.timestamp("s"), pa.timestamp("ns")])
def test_days_and_timestamps_are_microseconds_rounded_down(kind: pa.DataType) -> None:
    days = pa.array([-1, 0, 20_000], pa.int32()).cast(pa.date32()).cast(kind)
    found = to_microseconds(pa.chunked_array([days]))
    assert found.tolist() == [-86_400_000_000, 0, 20_000 * 86_400_000_000]


def test_the_greatest_times_that_fit_are_taken() -> None:
    greatest = (2**63 - 1) // 1_000_000
    query = wr.stream({"t": np.array([greatest, -greatest])}).event_time("t", unit="s")
    result = query.window(wr.CountWindow(2)).agg(last=wf.last("t")).collect()
    assert result["last"].to_pylist() == [greatest]
