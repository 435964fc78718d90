"""The associative operators that the compiled kernels know: add, min and max."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from windrow.kernels.compiled import compiled

Operator = Literal["add", "min", "max"]

ADD, MIN, MAX = 0, 1, 2
CODES: dict[Operator, int] = {"add": ADD, "min": MIN, "max": MAX}


@compiled
def combine(code: int, a: Any, b: Any) -> Any:
    """Combine a, the older, with b under the operator of this code.

    NaN is greater than any other number, as in Spark: max is NaN if any value is, min only if all
    are.

    >>> combine(MAX, 1.0, float("nan")), combine(MIN, 1.0, float("nan"))
    (nan, 1.0)
    """
    if code == ADD:
        return a + b
    if code == MIN:
        return b if (a != a or b < a) else a
    return a if (a != a or a >= b) else b


def identity(operator: Operator, dtype: np.dtype[Any]) -> Any:
    """The operator's neutral value: combined with x it gives x.

    For the minimum of floats it is NaN, because NaN is the greatest number.

    >>> identity("min", np.dtype("float64")), identity("max", np.dtype("float64"))
    (np.float64(nan), np.float64(-inf))
    """
    if operator == "add":
        return dtype.type(0)
    if dtype.kind == "f":
        return dtype.type(np.nan if operator == "min" else -np.inf)
    limits = np.iinfo(dtype)
    return dtype.type(limits.max if operator == "min" else limits.min)
