"""The order of values as in Spark: NaN is greater than any other number and equals itself."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray


def sort_key(value: Any) -> tuple[bool, Any]:
    """A key that sorts NaN last.

    >>> sorted([float("nan"), 2.0, 1.0], key=sort_key)
    [1.0, 2.0, nan]
    """
    return (True, 0) if value != value else (False, value)


def is_less(a: Any, b: Any) -> bool:
    """Whether a comes before b.

    >>> is_less(1.0, float("nan")), is_less(float("nan"), float("nan"))
    (True, False)
    """
    return sort_key(a) < sort_key(b)


def are_less(a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether each value of ``a`` comes before the value of ``b`` at the same position.

    >>> are_less(np.array([1.0, np.nan]), np.array([np.nan, np.nan]))
    array([ True, False])
    """
    less: NDArray[np.bool_] = (a < b) | ((b != b) & (a == a))
    return less


def distinct_key(value: Any) -> tuple[bool, Any]:
    """A key that sorts like the value and is the same for values that count as equal.

    NaN equals NaN, and -0.0 equals 0.0.

    >>> len({distinct_key(v) for v in [float("nan"), float("nan"), 0.0, -0.0]})
    2
    """
    is_nan, rest = sort_key(value)
    return is_nan, rest + 0.0 if isinstance(rest, float) else rest


def keyed_value(key: tuple[bool, Any]) -> Any:
    """The value that a key stands for.

    >>> keyed_value(sort_key(float("nan")))
    nan
    """
    return math.nan if key[0] else key[1]
