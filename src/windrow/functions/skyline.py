"""The points that no other point of the window dominates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain, pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from windrow.core.aggregate import Commutative
from windrow.core.calls import checks_call
from windrow.core.errors import WindrowError, received
from windrow.functions.columnar import Columnar, Int64s, Kept, Values, skip_nulls
from windrow.functions.types import quoted_field, require_numeric

Point = tuple[float, ...]
Front = tuple[tuple[int, Point], ...]
"""The points of a skyline and the positions of their rows, in order of position."""


class Skyline(Commutative[Any, Front, list[dict[str, float]]], Columnar):
    """Skylines of parts; the whole's skyline is their points that no other part dominates."""

    takes_decimals = "floats"
    empty: ClassVar[Any] = []
    takes_position = True
    keeps_few = True

    def __init__(self, *columns: str, maximise: bool | Sequence[bool] = False) -> None:
        super().__init__(*columns)
        self._check_columns()
        directions = (maximise,) * len(columns) if isinstance(maximise, bool) else maximise
        is_sequence = isinstance(directions, tuple | list) and len(directions) == len(columns)
        if not is_sequence or not all(isinstance(d, bool) for d in directions):
            raise WindrowError(
                "skyline maximise must be True or False, or a sequence with one per column",
                received("maximise", maximise),
                f"the columns are {list(columns)}.",
            )
        self.maximise = tuple(directions)

    def _check_columns(self) -> None:
        named = [c for c in self.columns if isinstance(c, str)]
        if not self.columns or len(set(named)) < len(named):
            given = repr(list(self.columns))
            raise WindrowError("skyline needs one or more different columns", given)

    def result_type(self, *inputs: str) -> str:
        self._check_columns()
        require_numeric("skyline", *inputs)
        return f"array<struct<{','.join(f'{quoted_field(c)}:double' for c in self.columns)}>>"

    def lift(self, value: Any) -> Front:
        position, *point = value
        return ((position, tuple(map(float, point))),)

    def combine(self, a: Front, b: Front) -> Front:
        survivors = self._survive(a, b) + self._survive(b, a)
        return tuple(sorted(survivors, key=lambda placed: placed[0]))

    def combine_all(self, partials: Sequence[Front]) -> Front:
        from windrow.kernels.skyline import skyline

        placed = sorted(chain.from_iterable(partials), key=lambda p: p[0])
        points = np.array([point for _, point in placed])
        front = skyline(points, np.flatnonzero(self.maximise).tolist())
        return tuple(placed[i] for i in front.tolist())

    def lower(self, partial: Front) -> list[dict[str, float]]:
        return [dict(zip(self.columns, point, strict=True)) for _, point in partial]

    def over_ranges(self, columns: Sequence[Values], lo: Int64s, hi: Int64s) -> Values:
        arrays, lo, hi = skip_nulls(columns, lo, hi)
        points = np.column_stack([array.astype(np.float64) for array in arrays])
        members, bounds = self._members(points, lo, hi)
        found = [dict(zip(self.columns, p, strict=True)) for p in points[members].tolist()]
        return Values.of_objects([found[b:e] for b, e in pairwise(bounds.tolist())])

    def kept(self, columns: Sequence[Values], lo: Int64s, hi: Int64s) -> Kept:
        at = Values(np.arange(len(columns[0])))
        (*arrays, places), lo, hi = skip_nulls([*columns, at], lo, hi)
        points = np.column_stack([array.astype(np.float64) for array in arrays])
        members, bounds = self._members(points, lo, hi)
        return places[members], np.diff(bounds)

    def _members(self, points: NDArray[Any], lo: Int64s, hi: Int64s) -> tuple[Int64s, Int64s]:
        """The positions of the skyline of each range, and the bounds of each among them."""
        from windrow.kernels.skyline import skyline
        from windrow.kernels.skyline_ranges import skyline_ranges

        larger = np.flatnonzero(self.maximise).tolist()
        n = int((hi - lo).sum())
        if n > _OVERLAP * len(points) or n <= _SHORT * len(lo):
            return skyline_ranges(points, lo, hi, larger)
        parts = [a + skyline(points[a:b], larger) for a, b in zip(lo, hi, strict=True)]
        members = np.concatenate([np.zeros(0, np.int64), *parts])
        return members, np.cumsum([0, *map(len, parts)])

    def _survive(self, front: Front, other: Front) -> Front:
        """The points that none of the other front dominates."""
        rivals = [self._costs(point) for _, point in other]
        return tuple(
            (position, point)
            for position, point in front
            if not any(_dominates(rival, self._costs(point)) for rival in rivals)
        )

    def _costs(self, point: Point) -> Point:
        """The point with every coordinate turned into a cost to minimise; NaN is the worst."""
        costs = (-c if most else c for c, most in zip(point, self.maximise, strict=True))
        return tuple(math.inf if c != c else c for c in costs)


_OVERLAP = 4
"""If a tuple is in more windows than this on average, pruning across windows pays off."""
_SHORT = 256
"""If ranges have fewer tuples than this on average, sorting each by itself does not."""


def _dominates(a: Point, b: Point) -> bool:
    return a != b and all(x <= y for x, y in zip(a, b, strict=True))


@checks_call
def skyline(*columns: str, maximise: bool | Sequence[bool] = False) -> Skyline:
    """The points that no other point dominates, in the order of the rows; duplicates are kept.

    A point dominates another if it is at least as good in every column and better in at least one.
    Less is better; with ``maximise``, or where it is true for a column, more is better. NaN is as
    bad as the worst infinity. Points with a null coordinate are skipped.

    >>> hotels = [(50, 8.0), (80, 1.0), (60, 9.0), (50, 8.0)]
    >>> skyline("price", "distance").over(hotels)
    ... # doctest: +NORMALIZE_WHITESPACE
    [{'price': 50.0, 'distance': 8.0}, {'price': 80.0, 'distance': 1.0},
     {'price': 50.0, 'distance': 8.0}]
    >>> skyline("price", "stars", maximise=(False, True)).over([(50, 3), (60, 4), (70, 4)])
    [{'price': 50.0, 'stars': 3.0}, {'price': 60.0, 'stars': 4.0}]
    """
    return Skyline(*columns, maximise=maximise)
