"""All values of the window."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, ClassVar

from windrow.core.aggregate import Commutative
from windrow.core.calls import checks_call
from windrow.functions.columnar import Columnar, Int64s, Values, skip_nulls, slices
from windrow.functions.position import Positioned

Run = tuple[Positioned, ...]
"""Values and the positions of their rows, in order of position."""


class Collect(Commutative[Positioned, Run, list[Any]], Columnar):
    """Runs of values; positions keep them in order, however they are combined."""

    empty: ClassVar[Any] = []
    takes_position = True
    returns_values_of = 0

    def result_type(self, *inputs: str) -> str:
        return f"array<{inputs[0]}>"

    def lift(self, value: Positioned) -> Run:
        return (value,)

    def combine(self, a: Run, b: Run) -> Run:
        return self.combine_all((a, b))

    def combine_all(self, partials: Sequence[Run]) -> Run:
        return tuple(sorted(chain.from_iterable(partials), key=lambda placed: placed[0]))

    def lower(self, partial: Run) -> list[Any]:
        return [value for _, value in partial]

    def over_ranges(self, columns: Sequence[Values], lo: Int64s, hi: Int64s) -> Values:
        (values,), lo, hi = skip_nulls(columns, lo, hi)
        return Values.of_objects(slices(values, lo, hi))


@checks_call
def collect(column: str) -> Collect:
    """The values in the order of the rows, as in Spark's ``collect_list``.

    >>> collect("x").over([3, 1, None, 3])
    [3, 1, 3]
    """
    return Collect(column)
