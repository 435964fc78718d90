"""The library of window functions, for ``agg``.

The type of a function declares its algebra (see :mod:`windrow.core.aggregate`). Each function also
has a columnar form (see :mod:`windrow.functions.columnar`). Nulls are skipped.
"""

from typing import TYPE_CHECKING

from windrow.functions.arg_extremes import arg_max, arg_min
from windrow.functions.collect import collect
from windrow.functions.count import count
from windrow.functions.count_distinct import count_distinct
from windrow.functions.extremes import max, min
from windrow.functions.linear_regression import linear_regression
from windrow.functions.mean import mean
from windrow.functions.missteps import unknown_function
from windrow.functions.mode import mode
from windrow.functions.ohlc import ohlc
from windrow.functions.polynomial_fit import polynomial_fit
from windrow.functions.position import first, last
from windrow.functions.quantile import median, quantile
from windrow.functions.skyline import skyline
from windrow.functions.sum import sum
from windrow.functions.top_k import top_k
from windrow.functions.variance import stddev, var

__all__ = [
    "arg_max",
    "arg_min",
    "collect",
    "count",
    "count_distinct",
    "first",
    "last",
    "linear_regression",
    "max",
    "mean",
    "median",
    "min",
    "mode",
    "ohlc",
    "polynomial_fit",
    "quantile",
    "skyline",
    "stddev",
    "sum",
    "top_k",
    "var",
]

if not TYPE_CHECKING:  # or else every name would be known to type checkers

    def __getattr__(name: str) -> object:
        raise unknown_function(name, __all__)
