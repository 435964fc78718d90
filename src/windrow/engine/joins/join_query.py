"""A join as the engine sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa

from windrow.engine.joins.attributes import SIDES
from windrow.engine.joins.terms.predicate import Predicate

How = Literal["inner", "left_outer", "right_outer", "full_outer", "semi", "anti"]


@dataclass(frozen=True)
class JoinQuery:
    """A validated join of two streams with columns of known types.

    In each pair the left side comes first. ``on`` is bound to the schemas.
    ``lengths`` are microseconds, or tuples if the windows are ``by_count``.
    """

    schemas: tuple[pa.Schema, pa.Schema]
    on: Predicate
    lengths: tuple[int, int]
    by_count: bool
    time: tuple[str, str] | None
    delay: int
    how: How
    prefixes: tuple[str, str]

    @property
    def has_pairs(self) -> bool:
        """Whether results are pairs, not only left tuples."""
        return self.how not in ("semi", "anti")

    def keeps(self, side: int) -> bool:
        """Whether it matters which tuples of a side have matched."""
        sided = ("left_outer", "right_outer")[side]
        return self.how in (sided, "full_outer") or (side == 0 and not self.has_pairs)

    def needed_columns(self, side: int) -> list[str]:
        """The columns of a side that the result or the predicate needs."""
        names: list[str] = self.schemas[side].names
        compared = self.on.columns(side)
        if side == 0 or self.has_pairs or compared is None:
            return names
        return [name for name in names if name in compared]

    def identity(self) -> dict[str, Any]:
        """Everything the meaning of stored state depends on, as JSON-able data."""
        left, right = (
            {name: str(schema.field(name).type) for name in self.needed_columns(side)}
            for side, schema in enumerate(self.schemas)
        )
        return {
            "within": dict(zip(SIDES, self.lengths, strict=True)),
            "by_count": self.by_count,
            "on": self.on.identity(),
            "time": self.time and dict(zip(SIDES, self.time, strict=True)),
            "time_types": self.time and dict(zip(SIDES, self._time_types(), strict=True)),
            "how": self.how,
            "columns": dict(zip(SIDES, (left, right), strict=True)),
        }

    def _time_types(self) -> list[str]:
        assert self.time is not None
        both = zip(self.schemas, self.time, strict=True)
        return [str(schema.field(name).type) for schema, name in both]

    def output_schema(self) -> pa.Schema:
        """The columns of both sides with their prefixes; semi and anti joins: only the left's."""
        fields = []
        for side, schema in enumerate(self.schemas):
            if side == 1 and not self.has_pairs:
                break
            is_optional = self.how in (("right_outer", "left_outer")[side], "full_outer")
            fields += [
                pa.field(self.prefixes[side] + f.name, f.type, f.nullable or is_optional)
                for f in schema
            ]
        return pa.schema(fields)

    def result_lags(self) -> dict[str, int]:
        """The result columns that keep up with the watermark, and how far they may be behind it.

        By time, a tuple waits for matches, or for the end of its window, as long as its window is.
        By count, it may wait forever.
        """
        if self.time is None or self.by_count:
            return {}
        names = self.output_schema().names
        sides = zip(self.prefixes, self.time, self.lengths, strict=True)
        return {prefix + time: n for prefix, time, n in sides if prefix + time in names}
