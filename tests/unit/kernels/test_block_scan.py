from __future__ import annotations

import math

import numpy as np
import pytest

from windrow.kernels.block_scan import scan_ranges, scan_ranges_with
from windrow.kernels.operators import Operator
from windrow.kernels.segmented_scan import Partials

NAN, INF = math.nan, math.inf


#   values   4  1  3  5  2
#   windows  [------)
#               [------)
#                  [------)
#                     [---      cut short at the end
@pytest.mark.parametrize(
    ("operator", "expected"),
    [("add", [8, 9, 10, 7]), ("min", [1, 1, 2, 2]), ("max", [4, 5, 5, 5])],
)
def test_sliding_windows(operator: Operator, expected: list[int]) -> None:
    results = scan_ranges([4, 1, 3, 5, 2], [0, 1, 2, 3], [3, 4, 5, 5], operator)
    assert results.tolist() == expected


def test_ranges_inside_one_block_that_touch_no_boundary() -> None:
    values = np.arange(10)
    assert scan_ranges(values, [0, 2, 3, 4], [8, 8, 8, 9], "add").tolist() == [28, 27, 25, 30]


def test_ranges_in_any_order_are_correct() -> None:
    values = [4, 1, 3, 5, 2]
    assert scan_ranges(values, [2, 0, 1, 0], [5, 2, 3, 5], "add").tolist() == [10, 5, 4, 15]


def test_gaps_between_ranges_are_left_out() -> None:
    assert scan_ranges([9, 1, 9, 9, 2, 9], [1, 4], [2, 5], "max").tolist() == [1, 2]


def test_empty_range_gives_the_identity() -> None:
    assert scan_ranges([1.0], [0, 1], [0, 1], "add").tolist() == [0.0, 0.0]
    assert scan_ranges([1.0], [1], [1], "max").tolist() == [-INF]
    assert math.isnan(scan_ranges([1.0], [1], [1], "min")[0])
    assert scan_ranges([1], [1], [1], "min").tolist() == [2**63 - 1]


def test_no_values_and_no_ranges_give_no_results() -> None:
    assert scan_ranges(np.empty(0), [], [], "max").tolist() == []


def test_nan_is_greater_than_any_number() -> None:
    values = [1.0, NAN, INF, 2.0]
    lo, hi = [0, 1, 1, 2], [2, 2, 3, 4]
    np.testing.assert_equal(scan_ranges(values, lo, hi, "min"), [1.0, NAN, INF, 2.0])
    np.testing.assert_equal(scan_ranges(values, lo, hi, "max"), [NAN, NAN, NAN, INF])


def test_sum_of_integers_wraps_around() -> None:
    assert scan_ranges([2**63 - 1, 1, 5], [0, 1], [2, 3], "add").tolist() == [-(2**63), 6]


def test_sum_of_floats_loses_nothing_to_cancellation() -> None:
    # Floats of this magnitude are 2 apart: only with its last term is the second nearer to the 8.
    results = scan_ranges([1e16, 1.0, -1e16, 1e-5], [0, 1], [3, 4], "add")
    assert results.tolist() == [1.0, -9999999999999998.0]


def test_sum_overflows_only_if_the_result_does() -> None:
    values = [1.5e308, 1.5e308, -1.5e308, -1.5e308, 1e-3]
    results = scan_ranges(values, [0, 0, 0, 4], [4, 2, 3, 5], "add")
    assert results.tolist() == [0.0, INF, 1.5e308, 1e-3]


def test_infinities_and_nan_stay_in_their_ranges() -> None:
    values = [1.0, INF, -INF, NAN, 2.0]
    results = scan_ranges(values, [0, 0, 1, 2, 3, 4], [1, 2, 3, 3, 4, 5], "add")
    np.testing.assert_equal(results, [1.0, INF, NAN, -INF, NAN, 2.0])


def test_float_sums_of_a_long_stream_do_not_drift() -> None:
    rng = np.random.default_rng(3)
    values = rng.normal(1e8, 1e4, 1_200_000)
    lo = np.arange(0, 1_190_000, 7_000)
    results = scan_ranges(values, lo, lo + 10_000, "add")
    expected = [math.fsum(values[a : a + 10_000]) for a in lo]
    np.testing.assert_allclose(results, expected, rtol=3e-16)


def join(a: Partials, b: Partials) -> Partials:
    return (a[0] + b[0],)


def test_function_that_does_not_commute_is_combined_in_order() -> None:
    letters = (np.array(list("abcdef"), dtype=object),)
    sliding = scan_ranges_with(letters, [0, 1, 2, 3, 4], [3, 4, 5, 6, 6], join, ("",))
    assert sliding[0].tolist() == ["abc", "bcd", "cde", "def", "ef"]
    shuffled = scan_ranges_with(letters, [2, 0, 3], [5, 2, 3], join, ("",))
    assert shuffled[0].tolist() == ["cde", "ab", ""]


def test_only_empty_ranges_are_never_combined() -> None:
    def refuse(a: Partials, b: Partials) -> Partials:
        raise AssertionError

    assert scan_ranges_with((np.arange(3),), [1, 0], [1, 0], refuse, (7,))[0].tolist() == [7, 7]


def test_work_of_a_given_function_does_not_grow_with_the_length() -> None:
    def work(length: int) -> int:
        combined: list[int] = []

        def add(a: Partials, b: Partials) -> Partials:
            combined.append(len(a[0]))
            return (a[0] + b[0],)

        lo = np.arange(0, 3_000)
        scan_ranges_with((np.arange(4_000),), lo, lo + length, add, (0,))
        return sum(combined)

    assert work(1_000) < 1.3 * work(10)
