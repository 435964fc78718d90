"""Functions whose partials are a few numbers each, which are merged in vectorised form."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from windrow.functions.columnar import Columnar, Int64s, Values
from windrow.functions.ranges import Partials


class Mergeable(Columnar):
    """A function with a partial of ``width`` float64 numbers, the first of which counts values.

    The partials of many ranges are one column per number.
    """

    width: ClassVar[int]

    @abstractmethod
    def lift_ranges(self, columns: Sequence[Values], lo: Int64s, hi: Int64s) -> Partials:
        """The partial of each range [lo, hi) of the tuples."""

    @abstractmethod
    def merge_ranges(self, partials: Partials, lo: Int64s, hi: Int64s) -> Partials:
        """The partial of each range [lo, hi) of partials; none of these has a count of 0."""

    @abstractmethod
    def lower_columns(self, partials: Partials) -> Values:
        """The results of windows with these partials."""

    def over_ranges(self, columns: Sequence[Values], lo: Int64s, hi: Int64s) -> Values:
        return self.lower_columns(self.lift_ranges(columns, lo, hi))
