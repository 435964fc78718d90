"""A term: one condition of a join's predicate, and all the engine needs to know about it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import pyarrow as pa

from windrow.core.errors import WindrowError
from windrow.engine.columns.arrays import Int64s
from windrow.engine.joins.attributes import Mask, column_type
from windrow.engine.joins.candidates import Candidates
from windrow.kernels.columns import Column

if TYPE_CHECKING:
    from windrow.engine.joins.terms.predicate import Predicate


class Term(ABC):
    """A condition on a left row l and a right row r; make it a frozen dataclass.

    ``side`` is 0 for the left and 1 for the right. A term must be able to verify candidate pairs.
    It may also narrow them (``narrows``, ``attribute``, ``bounds``, ``is_exact``), so that fewer
    pairs become candidates, and partition the rows (``partitioned_by``, ``partition``,
    ``has_copies``), so that workers do not receive whole streams.
    """

    narrows: ClassVar[Literal["code", "range"] | None] = None
    """Whether candidates are found by equal codes, by a range of a sorted attribute, or neither."""

    @abstractmethod
    def columns(self, side: int) -> tuple[str, ...] | None:
        """The columns of a side that the term uses; None for all."""

    @abstractmethod
    def describe(self) -> str:
        """In words, for ``explain``."""

    @abstractmethod
    def verify(self, left: Candidates, right: Candidates) -> Mask:
        """Which candidate pairs meet the term; ``left`` and ``right`` are equally long."""

    def identity(self) -> dict[str, Any]:
        """The parameters, on which stored state depends, as JSON-able data.

        These are the fields of the dataclass, except those left at their default. So a new field
        with a default changes no identity.
        """
        found = {}
        for field in fields(self):  # type: ignore[arg-type]
            made = field.default_factory
            default = field.default if made is MISSING else made()
            if field.compare and (value := getattr(self, field.name)) != default:
                found[field.name] = value
        return found

    def bind(self, left: pa.Schema, right: pa.Schema) -> Self:
        """Check the term against both schemas and return the term for their types."""
        for side, schema in enumerate((left, right)):
            for name in self.columns(side) or ():
                column_type(schema, side, name, type(self).__name__.lower())
        return self

    @property
    def is_exact(self) -> bool:
        """Whether pairs with equal codes, or within the bounds, need not be verified."""
        return False

    def attribute(self, side: int, tuples: pa.Table) -> tuple[Column, Mask | None]:
        """The values to narrow by, one per row, and a mask of the rows that can match (None: all).

        Codes are int64, and rows that match have equal codes. An attribute that is searched by
        range is int64 or float64, with the same type on both sides.
        """
        raise self._without("attribute")

    def bounds(self, side: int, values: Column) -> tuple[Column, Column]:
        """For each value, the inclusive bounds of the other side's attributes that may match it.

        Lower bounds must not decrease as the values increase.
        """
        raise self._without("bounds")

    def _without(self, method: str) -> WindrowError:
        rule = f"a term that narrows by {self.narrows} must define {method}()"
        return WindrowError(rule, type(self).__name__, "define it, or leave narrows out.")

    @property
    def partitioned_by(self) -> str | None:
        """What rows can be partitioned by, in words; None if any row may match any other."""
        if self.narrows != "code":
            return None
        return ", ".join(f"l.{name}" for name in self.columns(0) or ("*",))

    @property
    def has_copies(self) -> bool:
        """Whether ``partition`` gives right rows several codes."""
        return False

    def partition(self, side: int, tuples: pa.Table) -> list[Int64s]:
        """Codes to hash: rows that match share a code.

        A left row has one code. A right row may have several; the first is its home.
        """
        return [np.asarray(self.attribute(side, tuples)[0], np.int64)]

    def __and__(self, other: Predicate | Term) -> Predicate:
        from windrow.engine.joins.terms.predicate import Predicate

        return Predicate((self,)) & other

    def __bool__(self) -> bool:
        raise WindrowError("predicates are combined with &", "and, or or not")
