"""The watermark of a query on a stream, and what moves it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from windrow.core.watermark import BEGINNING, final_watermark
from windrow.spark.packed import Ticks


@dataclass(frozen=True)
class Watermark:
    """How far time has come: by Spark's watermark, by the times of the rows, or by both.

    Spark lets a stream have one watermark between its source and its sink. A query that comes
    behind another one follows the watermark that is there if its event time keeps up with it.
    Otherwise the query's own rows move its watermark.
    """

    lag: int | None = 0
    """How far it stays behind Spark's, in microseconds; None if Spark's does not matter."""
    own: tuple[int, ...] = ()
    """The sides (0, or 1 for the right side of a join) whose own times matter."""
    delay: int = 0
    """How far it stays behind the greatest of these times."""

    @staticmethod
    def of_sides(sides: Iterable[Watermark]) -> Watermark:
        """The watermark of a join: the least of its sides'."""
        sides = list(sides)
        lags = [side.lag for side in sides if side.lag is not None]
        own = tuple(number for side in sides for number in side.own)
        return Watermark(max(lags, default=None), own, max(side.delay for side in sides))

    @property
    def is_sparks(self) -> bool:
        """Whether Spark's watermark moves it."""
        return self.lag is not None

    @property
    def result_lag(self) -> int | None:
        """How far it is behind Spark's for certain; None if nothing is certain."""
        return None if self.own else self.lag

    def reached(self, memory: dict[str, Any], sparks: int | None, ticks: Ticks) -> int:
        """How far time has come, given what was remembered of earlier batches.

        ``sparks`` is Spark's watermark in milliseconds, None if it does not matter. Rows move the
        watermark in the batch that brings them; as everywhere, those behind the watermark of the
        batch before are late.
        """
        found = []
        if self.lag is not None:
            # Spark has no watermark before 1970, and begins with zero, which says nothing.
            found.append(sparks * 1000 - self.lag if sparks and sparks > 0 else BEGINNING)
        for side in self.own:
            name = f"greatest_{side}"
            memory[name] = max(memory.get(name, BEGINNING), ticks.greatest_of(side))
            is_known = memory[name] != BEGINNING
            found.append(final_watermark(memory[name], self.delay) if is_known else BEGINNING)
        return min(found)
