"""Naive recompute: one range at a time, in plain Python."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

INT64 = np.iinfo(np.int64)


def naive_sum(values: list[Any]) -> Any:
    if all(isinstance(v, int) for v in values):
        return (sum(values) - INT64.min) % 2**64 + INT64.min
    if not all(math.isfinite(v) for v in values):
        return sum(v for v in values if not math.isfinite(v))
    exact = sum((Fraction(v) for v in values), Fraction(0))
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def order_key(value: Any) -> tuple[bool, Any]:
    """NaN is greater than every number and equal to itself."""
    return (True, 0) if value != value else (False, value)


def naive_min(values: list[Any]) -> Any:
    return min(values, key=order_key)


def naive_max(values: list[Any]) -> Any:
    return max(values, key=order_key)


def naive_quantile(fraction: float) -> Callable[[list[Any]], float]:
    def quantile(values: list[Any]) -> float:
        ordered = sorted(values, key=order_key)
        position = fraction * (len(ordered) - 1)
        lower, upper = math.floor(position), math.ceil(position)
        below, above = ordered[lower], ordered[upper]
        if lower == upper or order_key(below) == order_key(above):
            return float(below)
        return float(below) + (position - lower) * (float(above) - float(below))

    return quantile


def naive_mode(values: list[Any]) -> Any:
    counts = Counter(map(order_key, values))
    most = max(counts.values())
    is_nan, value = min(key for key, count in counts.items() if count == most)
    return math.nan if is_nan else value


def naive_count_distinct(values: list[Any]) -> int:
    return len(set(map(order_key, values)))


NAIVE: dict[str, Callable[[list[Any]], Any]] = {
    "sum": naive_sum,
    "min": naive_min,
    "max": naive_max,
    "median": naive_quantile(0.5),
    "quantile(0.9)": naive_quantile(0.9),
    "mode": naive_mode,
    "count_distinct": naive_count_distinct,
}

EMPTY: dict[tuple[str, str], Any] = {
    ("sum", "i"): 0,
    ("sum", "f"): 0.0,
    ("min", "i"): INT64.max,
    ("min", "f"): math.nan,
    ("max", "i"): INT64.min,
    ("max", "f"): -math.inf,
    ("median", "i"): math.nan,
    ("median", "f"): math.nan,
    ("quantile(0.9)", "i"): math.nan,
    ("quantile(0.9)", "f"): math.nan,
    ("mode", "i"): 0,
    ("mode", "f"): math.nan,
    ("count_distinct", "i"): 0,
    ("count_distinct", "f"): 0,
}


def assert_same(actual: Any, expected: Any, scale: float = 0.0) -> None:
    if isinstance(expected, float) and math.isnan(expected):
        assert math.isnan(actual)
    elif scale:
        assert math.isclose(actual, expected, rel_tol=1e-12, abs_tol=scale)
    else:
        assert actual == expected
