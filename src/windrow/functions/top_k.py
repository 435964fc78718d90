"""The greatest values, or the values of the rows that are greatest by another column."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from windrow.core.aggregate import Commutative
from windrow.core.calls import checks_call
from windrow.core.checks import positive_count
from windrow.functions.columnar import Columnar, Int64s, Kept, Values, skip_nulls
from windrow.functions.ordering import sort_key
from windrow.functions.types import require_orderable

Ranked = tuple[tuple[Any, int, Any], ...]
"""At most k of ``(by, position, value)``, greatest first; among equals, the older first."""


class TopK(Commutative[Any, Ranked, list[Any]], Columnar):
    """The k best of the parts; the best of these are the k best of the whole."""

    empty: ClassVar[Any] = []
    takes_position = True
    returns_values_of = 0
    keeps_few = True

    def __init__(self, column: str, k: int, by: str | None = None) -> None:
        super().__init__(*((column,) if by is None else (column, by)))
        self.k = positive_count(k, "top_k k", "values")
        self.skips_nulls = by is None

    def __repr__(self) -> str:
        column, *by = self.columns
        return f"{self.name}({column!r}, k={self.k}{f', by={by[0]!r}' if by else ''})"

    def result_type(self, *inputs: str) -> str:
        require_orderable("top_k", inputs[-1])
        return f"array<{inputs[0]}>"

    def lift(self, value: Any) -> Ranked:
        position, chosen, *by = value
        rank = by[0] if by else chosen
        return () if rank is None else ((rank, position, chosen),)

    def combine(self, a: Ranked, b: Ranked) -> Ranked:
        return self.combine_all((a, b))

    def combine_all(self, partials: Sequence[Ranked]) -> Ranked:
        by_age = sorted(chain.from_iterable(partials), key=lambda ranked: ranked[1])
        return tuple(sorted(by_age, key=lambda r: sort_key(r[0]), reverse=True)[: self.k])

    def lower(self, partial: Ranked) -> list[Any]:
        return [value for _, _, value in partial]

    def over_ranges(self, columns: Sequence[Values], lo: Int64s, hi: Int64s) -> Values:
        best, counts = self._best(columns[-1], lo, hi)
        chosen = columns[0]
        valid = None if chosen.valid is None else chosen.valid[best]
        values, ends = Values(chosen.values[best], valid).to_list(), np.cumsum(counts)
        bounds = zip((ends - counts).tolist(), ends.tolist(), strict=True)
        return Values.of_objects([values[low:high] for low, high in bounds])

    def kept(self, columns: Sequence[Values], lo: Int64s, hi: Int64s) -> Kept:
        if self.k <= _FEW and int((hi - lo).sum()) <= len(columns[-1]):
            return self._kept_of_panes(columns[-1], lo, hi)
        best, counts = self._best(columns[-1], lo, hi)
        of_range = np.repeat(np.arange(len(counts)), counts)
        return best[np.lexsort((best, of_range))], counts

    def _kept_of_panes(self, by: Values, lo: Int64s, hi: Int64s) -> Kept:
        """The same for ranges that do not overlap, without sorting all tuples."""
        from windrow.kernels.best_of_ranges import greatest_of_ranges

        (ranks, at), lo, hi = skip_nulls([by, Values(np.arange(len(by)))], lo, hi)
        return at[greatest_of_ranges(ranks, lo, hi, self.k)], np.minimum(hi - lo, self.k)

    def _best(self, by: Values, lo: Int64s, hi: Int64s) -> Kept:
        """The positions of the best of each range, the best first."""
        from windrow.kernels.least_ranges import least_of_ranges

        (ranks, at), lo, hi = skip_nulls([by, Values(np.arange(len(by)))], lo, hi)
        places, by_place = _place(ranks)
        return at[by_place[least_of_ranges(places, lo, hi, self.k)]], np.minimum(hi - lo, self.k)


_FEW = 64
"""So many of the best are found by insertion."""


def _place(ranks: NDArray[Any]) -> tuple[Int64s, Int64s]:
    """Each tuple's place, greatest first and then oldest first, and the tuple at each place."""
    # A stable ascending sort of the reversed column, reversed: among equals, the older first.
    by_place = len(ranks) - 1 - np.argsort(ranks[::-1], kind="stable")[::-1]
    places = np.empty(len(ranks), dtype=np.int64)
    places[by_place] = np.arange(len(ranks))
    return places, by_place


@checks_call
def top_k(column: str, k: int, by: str | None = None) -> TopK:
    """The k greatest values in descending order; duplicates are kept, and NaN is the greatest.

    With ``by``, these are the values of the k rows with the greatest ``by``; among equals, the
    oldest first. Then rows with a null ``by`` are skipped, and values may be null.

    >>> top_k("x", 2).over([3, 1, None, 3, 2])
    [3, 3]
    >>> top_k("x", 2, by="y").over([("a", 1), ("b", 2), ("c", 2), ("d", None)])
    ['b', 'c']
    """
    return TopK(column, k, by)
