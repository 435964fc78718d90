"""Filters of a Spark plan that PyArrow computes exactly: the same rows, nulls included.

A row is kept if its condition is true; false and null are the same. Comparisons of floating-point
numbers are not among them: Spark says that NaN equals NaN and is greater than any other number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow.dataset import Expression

_COMPARED = frozenset(
    ["tinyint", "smallint", "int", "bigint", "string", "date", "timestamp", "timestamp_ntz"]
)
_COMPARISONS: dict[str, Callable[[Any, Any], Expression]] = {
    "EqualTo": lambda a, b: a == b,
    "EqualNullSafe": lambda a, b: a == b,
    "GreaterThan": lambda a, b: a > b,
    "GreaterThanOrEqual": lambda a, b: a >= b,
    "LessThan": lambda a, b: a < b,
    "LessThanOrEqual": lambda a, b: a <= b,
}
_MIRRORED = {
    "EqualTo": "EqualTo",
    "EqualNullSafe": "EqualNullSafe",
    "GreaterThan": "LessThan",
    "GreaterThanOrEqual": "LessThanOrEqual",
    "LessThan": "GreaterThan",
    "LessThanOrEqual": "GreaterThanOrEqual",
}
_MOST_VALUES = 1000


class NotPlain(Exception):
    """What a scan has that only Spark's reader does for certain."""


class FilterTranslator:
    """Translates conditions over the columns of files."""

    def __init__(self, names: Mapping[int, str], types: pa.Schema) -> None:
        self.names = names
        """The column in the files of each attribute, by the attribute's number."""
        self.types = types
        """The types in which the columns are compared."""
        self.columns: set[str] = set()
        """The columns that were looked at."""

    def translated(self, condition: Any) -> Expression:
        """The condition for PyArrow, equal to it where either is true."""
        kind = kind_of(condition)
        inner = children(condition)
        if kind == "And":
            return self.translated(inner[0]) & self.translated(inner[1])
        if kind == "Or":
            return self.translated(inner[0]) | self.translated(inner[1])
        if kind in ("IsNull", "IsNotNull"):
            field = self._field(inner[0])
            return field.is_null() if kind == "IsNull" else field.is_valid()
        if kind == "AttributeReference" and _type_of(condition) == "boolean":
            return self._field(condition)
        if kind in _COMPARISONS:
            return self._comparison(kind, *inner)
        if kind in ("In", "InSet"):
            return self._among(condition, inner)
        if kind == "Not":
            return self._negated(inner[0])
        raise _unknown(condition)

    def _negated(self, condition: Any) -> Expression:
        """The opposite of a condition. It must tell null from false."""
        kind = kind_of(condition)
        inner = children(condition)
        if kind == "EqualTo":
            return ~self._comparison(kind, *inner)
        if kind == "AttributeReference" and _type_of(condition) == "boolean":
            return ~self._field(condition)
        if kind in ("In", "InSet") and None not in (values := _values(condition, inner)):
            return ~self._isin(inner[0], values) & self._field(inner[0]).is_valid()
        raise _unknown(condition)

    def _comparison(self, kind: str, left: Any, right: Any) -> Expression:
        if kind_of(left) == "Literal":
            left, right, kind = right, left, _MIRRORED[kind]
        self._check_compared(left)
        if kind_of(right) != "Literal" or (value := _value(right)) is None:
            raise _unknown(right)
        field = self._field(left)
        return _COMPARISONS[kind](field, pc.scalar(pa.scalar(value, self._arrow_type(left))))

    def _among(self, condition: Any, inner: list[Any]) -> Expression:
        return self._isin(inner[0], [v for v in _values(condition, inner) if v is not None])

    def _isin(self, attribute: Any, values: list[Any]) -> Expression:
        self._check_compared(attribute)
        return self._field(attribute).isin(pa.array(values, self._arrow_type(attribute)))

    def _check_compared(self, attribute: Any) -> None:
        if kind_of(attribute) != "AttributeReference" or _type_of(attribute) not in _COMPARED:
            raise _unknown(attribute)

    def _field(self, attribute: Any) -> Any:
        if kind_of(attribute) != "AttributeReference":
            raise _unknown(attribute)
        name = self.names.get(attribute.exprId().id(), "")
        if name not in self.types.names or pa.types.is_nested(self.types.field(name).type):
            raise _unknown(attribute)
        self.columns.add(name)
        return pc.field(name)

    def _arrow_type(self, attribute: Any) -> pa.DataType:
        return self.types.field(self.names[attribute.exprId().id()]).type


def all_of(conditions: list[Expression]) -> Expression | None:
    """The condition that all of these are true; None if there are none."""
    return reduce(lambda a, b: a & b, conditions) if conditions else None


def kind_of(node: Any) -> str:
    """The class of a node of a plan or an expression, without its package."""
    name: str = node.getClass().getSimpleName()
    return name


def children(node: Any) -> list[Any]:
    """What a node is made of."""
    return items(node.children())


def items(sequence: Any) -> list[Any]:
    """The elements of a Scala sequence."""
    return [sequence.apply(i) for i in range(sequence.size())]


def _type_of(expression: Any) -> str:
    name: str = expression.dataType().simpleString()
    return name


def _values(condition: Any, inner: list[Any]) -> list[Any]:
    """The values of an In or InSet; null is None."""
    if kind_of(condition) == "InSet":
        if condition.hset().size() > _MOST_VALUES:
            raise NotPlain(f"a filter has more than {_MOST_VALUES} values")
        return [_plain(value) for value in items(condition.hset().toSeq())]
    if any(kind_of(value) != "Literal" for value in inner[1:]):
        raise _unknown(condition)
    return [_value(literal) for literal in inner[1:]]


def _value(literal: Any) -> Any:
    return _plain(literal.value())


def _plain(value: Any) -> Any:
    """A value of the JVM: numbers come as such, days and microseconds too; text does not."""
    return value.toString() if hasattr(value, "toString") else value


def _unknown(expression: Any) -> NotPlain:
    return NotPlain(f"only Spark computes {expression.sql()} in a filter")
