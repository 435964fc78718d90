"""The equi term: equal values, whatever type each side has."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.core.calls import checks_call
from windrow.core.errors import WindrowError
from windrow.engine.columns.key_table import hash_keys
from windrow.engine.joins.attributes import (
    Mask,
    as_kind,
    check_uncollated,
    incomparable,
    number_kind,
    pair_of_types,
    plain_type,
)
from windrow.engine.joins.candidates import Candidates
from windrow.engine.joins.terms.predicate import Predicate, is_pair_of_names
from windrow.engine.joins.terms.term import Term
from windrow.kernels.columns import Column

_FIELDS = (
    "compare their fields, each in a column of its own: a null in a field equals nothing, "
    "but in a struct it would equal another."
)


@dataclass(frozen=True)
class Equi(Term):
    """``l.left = r.right`` as in Spark: null equals nothing, NaN equals NaN."""

    left: str
    right: str
    kind: pa.DataType = field(default=None, compare=False, repr=False)
    """The type in which both columns are compared."""

    narrows = "code"

    def columns(self, side: int) -> tuple[str, ...]:
        return ((self.left, self.right)[side],)

    def describe(self) -> str:
        return f"l.{self.left} = r.{self.right}"

    def bind(self, left: pa.Schema, right: pa.Schema) -> Self:
        types = pair_of_types((left, right), (self.left, self.right), "equi")
        if (kind := equi_kind(*types)) is None:
            rule = "equi compares plain values of one kind"
            error = incomparable(rule, (self.left, self.right), types)
            if any(map(pa.types.is_struct, types)):
                error = WindrowError(rule, error.got, _FIELDS)
            raise error
        check_uncollated(left, self.left, "equi")
        check_uncollated(right, self.right, "equi")
        return replace(self, kind=kind)

    @property
    def is_exact(self) -> bool:
        """Whether the code is the value itself, not its hash."""
        return bool(self.kind == pa.int64())

    def attribute(self, side: int, tuples: pa.Table) -> tuple[Column, Mask | None]:
        column = as_kind(tuples[self.columns(side)[0]], self.kind)
        valid = np.asarray(pc.is_valid(column)) if column.null_count else None
        if self.is_exact:
            return np.asarray(column.fill_null(0).to_numpy(), np.int64), valid
        return hash_keys([column], len(tuples)).view(np.int64), valid

    def verify(self, left: Candidates, right: Candidates) -> Mask:
        a, b = (as_kind(c.arrow(n), self.kind) for c, n in ((left, self.left), (right, self.right)))
        equal = np.asarray(pc.equal(a, b))
        if pa.types.is_floating(self.kind):
            equal = equal | (np.asarray(pc.is_nan(a)) & np.asarray(pc.is_nan(b)))
        return equal


@checks_call
def equi(*columns: str | tuple[str, str]) -> Predicate:
    """Equal values: ``equi("k")``, several columns, or pairs ``equi(("lk", "rk"))``.

    As in Spark, null equals nothing and NaN equals NaN.

    >>> equi("symbol", ("lv", "rv")).describe()
    'l.symbol = r.symbol and l.lv = r.rv'
    """
    if not columns:
        raise WindrowError("equi needs a column", hint='for example wr.equi("symbol").')
    terms = []
    for given in columns:
        pair = (given, given) if isinstance(given, str) else given
        if not is_pair_of_names(pair):
            hint = 'write equi("k"), or equi(("left name", "right name")).'
            raise WindrowError("equi takes names of columns, or pairs of them", repr(given), hint)
        terms.append(Equi(*pair))
    return Predicate(tuple(terms))


def equi_kind(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    """The type in which two columns are compared for equality; None if they cannot be."""
    left, right = plain_type(left), plain_type(right)
    if (number := number_kind(left, right)) is not None:
        return number
    if pa.types.is_decimal(left) and pa.types.is_decimal(right):
        scale = max(left.scale, right.scale)
        whole = max(left.precision - left.scale, right.precision - right.scale)
        if whole + scale <= 38:
            return pa.decimal128(whole + scale, scale)
        return pa.decimal256(min(whole + scale, 76), scale)
    if pa.types.is_boolean(left) and pa.types.is_boolean(right):
        return pa.bool_()
    if left == right and left in (pa.string(), pa.binary()):
        return left
    for kind, is_kind in ((pa.large_string(), _is_text), (pa.large_binary(), _is_binary)):
        if is_kind(left) and is_kind(right):
            return kind
    return None


def _is_text(kind: pa.DataType) -> bool:
    is_large = pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    return bool(pa.types.is_string(kind) or is_large)


def _is_binary(kind: pa.DataType) -> bool:
    is_large = pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind)
    return bool(pa.types.is_binary(kind) or is_large)
