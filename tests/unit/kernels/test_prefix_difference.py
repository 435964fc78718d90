from __future__ import annotations

import math

import numpy as np
import pytest

from windrow.kernels import prefix_difference
from windrow.kernels.prefix_difference import sum_ranges

NAN, INF = math.nan, math.inf


def test_sliding_windows_of_integers() -> None:
    assert sum_ranges([4, 1, 3, 5, 2], [0, 1, 2, 3, 3], [3, 4, 5, 5, 3]).tolist() == [
        8,
        9,
        10,
        7,
        0,
    ]


def test_running_sums_of_integers_may_wrap_around() -> None:
    values = [2**63 - 1, 2**63 - 1, 5, -7]
    assert sum_ranges(values, [2, 0], [4, 1]).tolist() == [-2, 2**63 - 1]


def test_narrow_integers_do_not_overflow() -> None:
    assert sum_ranges(np.full(3, 127, dtype=np.int8), [0], [3]).tolist() == [381]


def test_nan_and_infinities_affect_only_their_ranges() -> None:
    values = [1.0, NAN, 2.0, INF, -INF, 3.0, INF]
    lo, hi = [0, 0, 2, 2, 3, 4, 5, 5, 6], [1, 2, 3, 4, 5, 5, 6, 7, 6]
    expected = [1.0, NAN, 2.0, INF, NAN, -INF, 3.0, INF, 0.0]
    np.testing.assert_equal(sum_ranges(values, lo, hi), expected)


def test_running_sum_that_overflows_spoils_nothing() -> None:
    values = [1.5e308, 1.5e308, 1e-300, -1.5e308, 4.0]
    lo, hi = [2, 4, 0, 0, 0], [3, 5, 1, 2, 4]
    assert sum_ranges(values, lo, hi).tolist() == [1e-300, 4.0, 1.5e308, INF, 1.5e308]


def test_tiny_values_after_huge_ones_keep_every_digit() -> None:
    values = [1e300, 1e-300, 2e-300, -1e300, 3.5]
    assert sum_ranges(values, [1, 0, 4], [3, 4, 5]).tolist() == [3e-300, 3e-300, 3.5]


def test_sums_that_cancel_are_exact() -> None:
    values = np.tile([0.1, 1e8, -1e8, -0.1], 1_000)
    lo = np.arange(0, 3_990, 4)
    assert sum_ranges(values, lo, lo + 8).tolist() == [0.0] * len(lo)


@pytest.mark.parametrize("scale", [1.0, 1e8])
@pytest.mark.parametrize("mean", [0.0, 1.0])
def test_long_stream_does_not_drift(scale: float, mean: float) -> None:
    rng = np.random.default_rng(11)
    values = rng.normal(mean * scale, scale, 1_500_000)
    lo = np.arange(1_400_000, 1_499_000, 450)
    results = sum_ranges(values, lo, lo + 1_000)
    expected = [math.fsum(values[a : a + 1_000]) for a in lo]
    np.testing.assert_allclose(results, expected, rtol=1e-12)


def test_ordinary_floats_need_no_block_scan(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a range was in doubt")

    monkeypatch.setattr(prefix_difference, "scan_sums", refuse)
    values = np.random.default_rng(2).normal(100.0, 1.0, 100_000)
    lo = np.arange(0, 99_000, 10)
    sum_ranges(values, lo, lo + 1_000)
    sum_ranges(np.tile([1.0, -1.0], 50_000), lo, lo + 1_000)
