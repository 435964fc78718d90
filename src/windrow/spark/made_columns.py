"""Columns made of others: expressions of Spark that tasks compute exactly as Spark does.

They are those that whole numbers suffice for: wider integers, an integer added or subtracted, and
integers or days taken for timestamps. An overflow is an error, as in Spark.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from windrow.core.errors import WindrowError
from windrow.spark.plain_filters import NotPlain, children, kind_of

_INTEGERS = {
    "tinyint": pa.int8(), "smallint": pa.int16(), "int": pa.int32(), "bigint": pa.int64(),
}  # fmt: skip
_UNITS = {"SecondsToTimestamp": 1_000_000, "MillisToTimestamp": 1000, "MicrosToTimestamp": 1}
_SUMS: dict[str, Literal["add", "subtract"]] = {"Add": "add", "Subtract": "subtract"}
_INSTANT = pa.timestamp("us", "UTC")
_DAY = 86_400_000_000
_UTC = frozenset(["UTC", "Etc/UTC", "Z", "+00:00"])


@dataclass(frozen=True)
class Operation:
    """What is done with a column of whole numbers: one step of an expression."""

    kind: Literal["add", "subtract", "multiply", "none"]
    number: int
    within: pa.DataType
    """The integers that it is computed with."""
    given: pa.DataType
    """The type of the result, which has as many bits."""
    text: str

    def __call__(self, column: pa.Array) -> pa.Array:
        """The result for each row; null for null."""
        if pa.types.is_date(column.type):
            column = column.cast(pa.int32())
        found = column.cast(self.within)
        if self.kind != "none":
            number = pa.scalar(self.number, self.within)
            try:
                found = pc.call_function(f"{self.kind}_checked", [found, number])
            except pa.ArrowInvalid as e:
                raise WindrowError(f"{self.text} must be in the range of its type", str(e)) from e
        return found.cast(self.given)


@dataclass(frozen=True)
class Made:
    """A column that is made of a column of the files."""

    source: str
    operations: tuple[Operation, ...] = ()

    def then(self, *operation: Operation) -> Made:
        """What is made of this one in one more step."""
        return Made(self.source, self.operations + operation)

    def __call__(self, column: pa.Array) -> pa.Array:
        """The column, of that of the files."""
        for operation in self.operations:
            column = operation(column)
        return column


def operation_of(expression: Any) -> tuple[Operation, Any]:
    """The last step of an expression, and the expression that it is a step of."""
    kind, inner = kind_of(expression), children(expression)
    text = expression.sql()
    if kind == "Cast":
        return _cast(expression, inner[0], text), inner[0]
    if kind in _UNITS and _type_of(inner[0]) in _INTEGERS:
        return Operation("multiply", _UNITS[kind], pa.int64(), _INSTANT, text), inner[0]
    of = _INTEGERS.get(_type_of(expression))
    # Otherwise an overflow gives null or another number.
    if kind in _SUMS and of is not None and expression.evalMode().toString() == "ANSI":
        if kind == "Add" and kind_of(inner[0]) == "Literal":
            inner.reverse()
        column, constant = inner
        if kind_of(constant) == "Literal" and constant.value() is not None:
            return Operation(_SUMS[kind], constant.value(), of, of, text), column
    raise NotPlain(f"only Spark computes {text}")


def _cast(cast: Any, column: Any, text: str) -> Operation:
    """A cast to a wider integer, or of a day to its beginning where no time zone matters."""
    source, target = _type_of(column), _type_of(cast)
    narrow, wide = _INTEGERS.get(source), _INTEGERS.get(target)
    if narrow is not None and wide is not None and narrow.bit_width <= wide.bit_width:
        return Operation("none", 0, wide, wide, text)
    if source == "date" and target == "timestamp_ntz":
        return Operation("multiply", _DAY, pa.int64(), pa.timestamp("us"), text)
    zone = cast.timeZoneId()
    if source == "date" and target == "timestamp" and zone.isDefined() and zone.get() in _UTC:
        return Operation("multiply", _DAY, pa.int64(), _INSTANT, text)
    raise NotPlain(f"only Spark computes {text}")


def _type_of(expression: Any) -> str:
    name: str = expression.dataType().simpleString()
    return name
