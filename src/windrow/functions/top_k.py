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
from windrow.functions.columnar import Columnar, Int64s, Values, skip_nulls
from windrow.functions.ordering import sort_key
from windrow.functions.types import require_orderable

Ranked = tuple[tuple[Any, int, Any], ...]
"""At most k of ``(by, position, value)``, greatest first; among equals, the older first."""


class TopK(Commutative[Any, Ranked, list[Any]], Columnar):
    """The k best of the parts; the best of these are the k best of the whole."""

    empty: ClassVar[Any] = []
    takes_position = True
    returns_values_of = 0

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
        chosen, by = columns[0], columns[-1]
        (ranks, at), lo, hi = skip_nulls([by, Values(np.arange(len(by)))], lo, hi)
        places, by_place = _place(ranks)
        results = []
        for low, high in zip(lo.tolist(), hi.tolist(), strict=True):
            best = places[low:high]
            if len(best) > self.k:
                best = np.partition(best, self.k - 1)[: self.k]
            results.append(at[by_place[np.sort(best)]])
        return _lists(chosen, results)


def _place(ranks: NDArray[Any]) -> tuple[Int64s, Int64s]:
    """Each tuple's place, greatest first and then oldest first, and the tuple at each place."""
    # A stable ascending sort of the reversed column, reversed: among equals, the older first.
    by_place = len(ranks) - 1 - np.argsort(ranks[::-1], kind="stable")[::-1]
    places = np.empty(len(ranks), dtype=np.int64)
    places[by_place] = np.arange(len(ranks))
    return places, by_place


def _lists(chosen: Values, positions: Sequence[Int64s]) -> Values:
    """One list per result with the values at its positions, None for nulls."""
    if chosen.valid is None:
        return Values.of_objects([chosen.values[at].tolist() for at in positions])
    return Values.of_objects(
        [Values(chosen.values[at], chosen.valid[at]).to_list() for at in positions]
    )


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
