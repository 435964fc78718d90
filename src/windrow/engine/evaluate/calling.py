"""Calls of users' functions, and errors that name the function, the key and the window."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from windrow.core.errors import WindrowError, near_names
from windrow.core.window import Window
from windrow.engine.columns.ddl import type_name
from windrow.engine.evaluate.returned import Unfit

Row = Mapping[str, Any]
_LONGEST = 200
"""So much of a value is shown."""


def call(function: Callable[[Window], Any], window: Window, name: str | None = None) -> Any:
    """Call a user's function. An error names the function, the key, the window and its bounds."""
    try:
        return function(window)
    except Exception as e:
        called = name or name_of(function)
        rule = f"{called} failed on {_described(window)}"
        if isinstance(e, WindrowError):
            said = e.rule if e.got is None else f"{e.rule}; got {e.got}"
            raise WindrowError(rule, said, e.hint) from e
        raise WindrowError(rule, f"{type(e).__name__}: {e}") from e


def name_of(function: Any) -> str:
    """The name of a user's function in messages."""
    return getattr(function, "__name__", repr(function))


def unfit(function: str, value: Unfit, window: Window) -> WindrowError:
    """The error for a returned value that does not fit its field."""
    kind = type_name(value.field.type) + " not null" * (not value.field.nullable)
    return WindrowError(
        f"{function} must return {kind} for {value.field.name!r}",
        f"{_shortened(value.value)} for {_described(window)}",
        f"change the declared type or the value: {value}.",
    )


def checked_rows(result: Any, names: list[str], function: str, window: Window) -> Sequence[Row]:
    """The rows that a function returned, checked against the declared fields."""
    if isinstance(result, Mapping):
        return [_checked_row(result, names, function, window)]
    if isinstance(result, list | tuple) and all(isinstance(r, Mapping) for r in result):
        return [_checked_row(r, names, function, window) for r in result]
    if len(names) == 1 and result is not None and not isinstance(result, list | tuple):
        return [{names[0]: result}]
    raise WindrowError(
        f"{function} must return a dict, or a list of dicts, of {names}",
        f"{_shortened(result)} for {_described(window)}",
        "return [] for no row.",
    )


def _checked_row(row: Row, names: list[str], function: str, window: Window) -> Row:
    for name in names:
        if name not in row:
            raise WindrowError(
                f"{function} must return every field that returns declares: {name!r} is missing",
                f"{list(row)} for {_described(window)}",
            )
    unknown = next((name for name in row if name not in names), None)
    if unknown is None:
        return row
    raise WindrowError(
        f"{function} returned a field that returns does not declare: {unknown!r}",
        f"{list(row)} for {_described(window)}",
        near_names(str(unknown), names, "fields"),
    )


def _described(window: Window) -> str:
    bounds = f"[{window.start}, {window.end})"
    return f"window {window.id} of key {window.key!r} {bounds} with {len(window)} rows"


def _shortened(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}..."
