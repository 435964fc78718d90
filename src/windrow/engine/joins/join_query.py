"""A join as the engine sees it: which tuples of two streams are put together, and to what."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import pyarrow as pa

from windrow.core.predicates import Predicate
from windrow.engine.joins.attributes import band_kind, equi_kind

How = Literal["inner", "left_outer", "right_outer", "full_outer", "semi", "anti"]
HOWS: tuple[How, ...] = get_args(How)


@dataclass(frozen=True)
class JoinQuery:
    """A validated join of two streams with columns of known types.

    Of each pair the first is the left's, the second the right's. ``lengths`` are microseconds, or
    tuples if the windows are ``by_count``.
    """

    schemas: tuple[pa.Schema, pa.Schema]
    on: Predicate
    lengths: tuple[int, int]
    by_count: bool
    time: tuple[str, str] | None
    delay: int
    how: How
    prefixes: tuple[str, str]

    @cached_property
    def equi_kinds(self) -> list[pa.DataType]:
        """As what the columns of each equality are compared."""
        return [equi_kind(self._type(0, e.left), self._type(1, e.right)) for e in self.on.equis]

    @cached_property
    def band_kinds(self) -> list[pa.DataType]:
        """As what the columns of each band are compared: int64 or float64."""
        return [band_kind(self._type(0, b.left), self._type(1, b.right)) for b in self.on.bands]

    def _type(self, side: int, column: str) -> pa.DataType:
        return self.schemas[side].field(column).type

    @property
    def has_pairs(self) -> bool:
        """Whether pairs are results, not only tuples of the left."""
        return self.how not in ("semi", "anti")

    def keeps(self, side: int) -> bool:
        """Whether it matters which tuples of a side have matched."""
        sided = ("left_outer", "right_outer")[side]
        return self.how in (sided, "full_outer") or (side == 0 and not self.has_pairs)

    def needed_columns(self, side: int) -> list[str]:
        """The columns of a side that the result or the predicate depend on."""
        names: list[str] = self.schemas[side].names
        if side == 0 or self.has_pairs or self.on.thetas:
            return names
        compared = set(self.on.columns(side))
        return [name for name in names if name in compared]

    def output_schema(self) -> pa.Schema:
        """The left's columns and the right's, each with its prefix; semi and anti: the left's."""
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
