"""Calling a user's function on a window, and checking what it returns."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.core.computation import Aggregation, Apply, Computation, Decompose, Fold
from windrow.core.errors import WindrowError, near_names
from windrow.core.window import Window

Row = Mapping[str, Any]


class WindowEvaluator:
    """Evaluates a computation on one window at a time; rows have the fields of ``schema``."""

    def __init__(self, computation: Computation, schema: pa.Schema) -> None:
        self.computation = computation
        self.names: list[str] = schema.names

    def rows(self, window: Window, tuples: pa.Table) -> Sequence[Row]:
        """The result rows of one window; ``tuples`` are its tuples with nulls as nulls."""
        computation = self.computation
        if isinstance(computation, Aggregation):
            return [self._aggregate(computation, window, tuples)]
        if isinstance(computation, Apply):
            result = _call(computation.function, window, window)
        elif isinstance(computation, Fold):
            result = self._fold(computation, window, tuples)
        else:
            assert isinstance(computation, Decompose)
            part = _call(computation.partial, window, window)
            result = _call(computation.combine, window, [part])
        return self._checked(result, window)

    def _aggregate(self, computation: Aggregation, window: Window, tuples: pa.Table) -> Row:
        result = {}
        for name, function in computation.functions.items():
            columns = [tuples[c].to_pylist() for c in function.columns]
            values: Any = columns[0] if len(columns) == 1 else zip(*columns, strict=True)
            if not columns:
                values = [()] * len(window)
            result[name] = _call(function.over, window, values, name=repr(function))
        return result

    def _fold(self, computation: Fold, window: Window, tuples: pa.Table) -> Any:
        init = computation.init
        accumulated = init() if callable(init) else copy.deepcopy(init)
        for row in tuples.to_pylist():
            accumulated = _call(computation.update, window, accumulated, row)
        return accumulated

    def _checked(self, result: Any, window: Window) -> Sequence[Row]:
        if isinstance(result, Mapping):
            return [self._checked_row(result, window)]
        if isinstance(result, list | tuple) and all(isinstance(r, Mapping) for r in result):
            return [self._checked_row(r, window) for r in result]
        if len(self.names) == 1 and result is not None and not isinstance(result, list | tuple):
            return [{self.names[0]: result}]
        raise WindrowError(
            f"the function must return a dict, or a list of dicts, of {self.names}",
            f"{result!r} for {window!r}",
            "return [] for no row.",
        )

    def _checked_row(self, row: Row, window: Window) -> Row:
        for name in self.names:
            if name not in row:
                raise WindrowError(
                    f"the function must return every field of its returns: {name!r} is missing",
                    f"{list(row)} for {window!r}",
                )
        for name in row:
            if name not in self.names:
                hint = near_names(name, self.names).replace("columns", "fields")
                raise WindrowError(
                    f"the function returned a field its returns does not name: {name!r}",
                    f"{list(row)} for {window!r}",
                    hint,
                )
        return row


def result_array(name: str, values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Results as an Arrow array of the declared type."""
    plain = [v.item() if isinstance(v, np.generic) else v for v in values]
    try:
        if pa.types.is_integer(kind) and any(isinstance(v, float) for v in plain):
            return pa.array(plain, pa.float64()).cast(kind)
        return pa.array(plain, kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as e:
        raise WindrowError(
            f"the result for {name!r} must be {kind}", str(e), "correct the returns, or the value."
        ) from None


def _call(
    function: Callable[..., Any], window: Window, *arguments: Any, name: str | None = None
) -> Any:
    try:
        return function(*arguments)
    except Exception as e:
        called = name or getattr(function, "__name__", repr(function))
        raise WindrowError(
            f"{called} failed on window {window.id} of key {window.key!r} "
            f"[{window.start}, {window.end}) with {len(window)} tuples",
            f"{type(e).__name__}: {e}",
        ) from e
