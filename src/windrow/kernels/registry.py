"""The kernels that reduce ranges, what each demands of the function, and over which types."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Flag, auto
from functools import partial

from windrow.kernels.block_scan import scan_ranges
from windrow.kernels.columns import Column, Positions
from windrow.kernels.operators import Operator
from windrow.kernels.order_statistics import (
    count_distinct_ranges,
    median_ranges,
    mode_ranges,
    quantile_ranges,
)
from windrow.kernels.prefix_difference import sum_ranges
from windrow.kernels.sparse_table import disjoint_ranges, overlapping_ranges


class Algebra(Flag):
    """What a kernel demands of the function it reduces ranges with.

    >>> Algebra.INVERTIBLE in Algebra.ASSOCIATIVE | Algebra.COMMUTATIVE
    False
    """

    ANY = 0
    ASSOCIATIVE = auto()
    COMMUTATIVE = auto()
    INVERTIBLE = auto()
    IDEMPOTENT = auto()


@dataclass(frozen=True)
class RangeKernel:
    """A reduction ``reduce(values, lo, hi)`` that gives one result for each range [lo, hi).

    ``rounding`` bounds the error of a float64 result, relative to the sum of the magnitudes in its
    range. ``may_overflow`` tells that a partial may overflow where the result does not.
    """

    algorithm: str
    function: str
    reduce: Callable[[Column, Positions, Positions], Column]
    demands: Algebra
    dtypes: frozenset[str] = frozenset({"int64", "float64"})
    rounding: float = 0.0
    may_overflow: bool = False

    @property
    def name(self) -> str:
        """The algorithm and the function.

        >>> REGISTRY[0].name
        'prefix_difference:sum'
        """
        return f"{self.algorithm}:{self.function}"


def _ninth_decile(values: Column, lo: Positions, hi: Positions) -> Column:
    return quantile_ranges(values, lo, hi, [0.9])[:, 0]


_EXACT_SUM = 2.0**-50
_ORDINARY_SUM = 2.0**-40
_OPERATORS: tuple[tuple[str, Operator], ...] = (("sum", "add"), ("min", "min"), ("max", "max"))

REGISTRY: tuple[RangeKernel, ...] = (
    RangeKernel(
        "prefix_difference",
        "sum",
        sum_ranges,
        Algebra.ASSOCIATIVE | Algebra.INVERTIBLE,
        rounding=_EXACT_SUM,
    ),
    *(
        RangeKernel(
            "block_scan",
            function,
            partial(scan_ranges, operator=operator),
            Algebra.ASSOCIATIVE,
            rounding=_EXACT_SUM if operator == "add" else 0.0,
        )
        for function, operator in _OPERATORS
    ),
    *(
        RangeKernel(
            "disjoint_sparse_table",
            function,
            partial(disjoint_ranges, operator=operator),
            Algebra.ASSOCIATIVE,
            rounding=_ORDINARY_SUM if operator == "add" else 0.0,
            may_overflow=operator == "add",
        )
        for function, operator in _OPERATORS
    ),
    *(
        RangeKernel(
            "overlapping_sparse_table",
            function,
            partial(overlapping_ranges, operator=operator),
            Algebra.ASSOCIATIVE | Algebra.IDEMPOTENT,
        )
        for function, operator in _OPERATORS[1:]
    ),
    RangeKernel("order_statistics", "median", median_ranges, Algebra.ANY),
    RangeKernel("order_statistics", "quantile(0.9)", _ninth_decile, Algebra.ANY),
    RangeKernel("order_statistics", "mode", mode_ranges, Algebra.ANY),
    RangeKernel("order_statistics", "count_distinct", count_distinct_ranges, Algebra.ANY),
)
"""Every kernel of the uniform form."""
