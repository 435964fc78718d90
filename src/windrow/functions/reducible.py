"""Functions made of counts, sums and extremes, which several functions can share per pane."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from windrow.functions.columnar import Columnar, Int64s, Values, skip_nulls
from windrow.functions.ranges import reduce_ranges


@dataclass(frozen=True)
class Reduction:
    """One number per pane: the count, sum, least or greatest of a column's non-null values.

    ``column`` is an index into the function's columns; None counts all tuples. Sums of int64 wrap
    modulo 2**64.
    """

    op: Literal["count", "sum", "min", "max"]
    column: int | None = None
    as_float: bool = False
    """Whether integers are reduced as float64, which does not overflow. Decimals never are."""


class Reducible(Columnar):
    """A function of the ``reductions`` of its columns."""

    @property
    @abstractmethod
    def reductions(self) -> tuple[Reduction, ...]:
        """The reductions that the function needs."""

    @abstractmethod
    def lower_reductions(self, partials: Sequence[NDArray[Any]]) -> Values:
        """The results of many windows, given one array per reduction."""

    def lower_decimals(self, partials: Sequence[NDArray[Any]], scale: int) -> Values:
        """The same where sums are of decimals with this scale, as integers of 256 bits.

        Needed if the function takes decimals exactly.
        """
        raise NotImplementedError(f"{self!r} of decimals")

    def over_ranges(self, columns: Sequence[Values], lo: Int64s, hi: Int64s) -> Values:
        partials = []
        for reduction in self.reductions:
            if reduction.column is None:
                partials.append(hi - lo)
                continue
            (values,), first, last = skip_nulls([columns[reduction.column]], lo, hi)
            if reduction.as_float and columns[reduction.column].scale is None:
                values = values.astype(np.float64, copy=False)
            if reduction.op == "count":
                partials.append(last - first)
            else:
                partials.append(reduce_ranges(values, first, last, reduction.op))
        scale = columns[0].scale if columns else None
        if scale is not None:
            return self.lower_decimals(partials, scale)
        return self.lower_reductions(partials)


COUNT_AND_SUM = Reduction("count", 0), Reduction("sum", 0)
COUNT_AND_MIN = Reduction("count", 0), Reduction("min", 0)
COUNT_AND_MAX = Reduction("count", 0), Reduction("max", 0)
