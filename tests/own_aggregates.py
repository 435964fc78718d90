"""Custom aggregates of every algebra."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import windrow as wr


class Plain(wr.Commutative[Any, Any, Any]):
    """Values as their own partials."""

    def lift(self, value: Any) -> Any:
        return value

    def combine(self, a: Any, b: Any) -> Any:
        return a + b

    def lower(self, partial: Any) -> Any:
        return partial

    def result_type(self, *inputs: str) -> str:
        return inputs[0]


class Total(Plain, wr.Invertible[Any, Any, Any]):
    def subtract(self, whole: Any, older: Any) -> Any:
        return whole - older


class Moments(Plain, wr.Invertible[Any, Any, Any]):
    """The count, the sum and the sum of squares; lowered to a text, which shows every digit."""

    returns = "string"

    def lift(self, value: Any) -> Any:
        return 1, (value, value * value)

    def combine(self, a: Any, b: Any) -> Any:
        return a[0] + b[0], (a[1][0] + b[1][0], a[1][1] + b[1][1])

    def subtract(self, whole: Any, older: Any) -> Any:
        return whole[0] - older[0], (whole[1][0] - older[1][0], whole[1][1] - older[1][1])

    def lower(self, partial: Any) -> Any:
        return repr(partial)

    def result_type(self, *inputs: str) -> str:
        return "string"


class Seen(wr.Commutative[Any, Any, Any], wr.Idempotent[Any, Any, Any]):
    """The set of values."""

    returns = "array<bigint>"

    def lift(self, value: Any) -> Any:
        return frozenset([value])

    def combine(self, a: Any, b: Any) -> Any:
        return a | b

    def lower(self, partial: Any) -> Any:
        return sorted(partial)


class Latest(wr.Idempotent[Any, Any, Any]):
    """The last value: idempotent, and order-sensitive."""

    returns = "bigint"

    def lift(self, value: Any) -> Any:
        return value

    def combine(self, a: Any, b: Any) -> Any:
        return b

    def lower(self, partial: Any) -> Any:
        return partial


class Middle(wr.Aggregate[Any, Any, Any]):
    """The value in the middle, which needs all values at once and in order."""

    returns = "bigint"

    def lift(self, value: Any) -> Any:
        return (value,)

    def combine(self, a: Any, b: Any) -> Any:
        raise AssertionError("combine_all is called instead")

    def combine_all(self, partials: Sequence[Any]) -> Any:
        return tuple(value for partial in partials for value in partial)

    def lower(self, partial: Any) -> Any:
        return partial[len(partial) // 2]


class Opening(wr.Commutative[Any, Any, Any]):
    """The first value, by the positions of rows."""

    returns = "bigint"
    takes_position = True

    def lift(self, value: Any) -> Any:
        return value

    def combine(self, a: Any, b: Any) -> Any:
        return min(a, b, key=lambda partial: partial[0])

    def lower(self, partial: Any) -> Any:
        return partial[1]
