"""Checks of arguments, shared by all that users call: each raises rule, value and hint."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from datetime import timedelta
from inspect import signature
from os import PathLike, fspath
from typing import Any

import numpy as np

from windrow.core.errors import WindrowError, received

MOST_WORKERS = 2**16
"""More workers than any pattern or join may have."""
_MOST = 2**62 - 1
"""Whole numbers above this could overflow in sums of them."""


def positive_count(
    value: object, what: str, of: str = "rows", hint: str | None = None, most: int = _MOST
) -> int:
    """A whole number from 1 to ``most``; ``of`` says what it counts.

    >>> positive_count(np.int64(3), "CountWindow length")
    3
    """
    if isinstance(value, str | timedelta | np.timedelta64):
        is_quoted = isinstance(value, str) and value.strip().isdecimal()
        hint = f"a number of {of} is a whole number such as 1000, not a time."
        hint = f"write it without quotes: {value}." if is_quoted else hint
    count = whole(value)
    if count is None or count < 1:
        raise WindrowError(f"{what} must be a positive number of {of}", received(what, value), hint)
    if count > most:
        raise WindrowError(f"{what} must be at most {most:,} {of}", received(what, value))
    return count


def positive_workers(value: object, what: str, of: str = "workers") -> int:
    """A number of workers, or of what takes one worker each."""
    return positive_count(value, what, of, most=MOST_WORKERS)


def whole(value: object) -> int | None:
    """The integer; None if the value is none. Booleans and durations are none."""
    if isinstance(value, bool | np.bool_):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def number(value: object) -> float | None:
    """The integer or float, without NaN; None if the value is none. Booleans are none."""
    if (integer := whole(value)) is not None:
        return integer
    if isinstance(value, float | np.floating) and not math.isnan(value):
        return float(value)
    return None


def one_of(value: Any, options: Sequence[str], what: str) -> None:
    """Raise unless the value is one of these strings."""
    if not isinstance(value, str) or value not in options:
        *others, last = (f'"{option}"' for option in options)
        raise WindrowError(f"{what} must be {', '.join(others)} or {last}", received(what, value))


def is_bool(value: object, what: str) -> bool:
    """The boolean; raises if the value is none."""
    if not isinstance(value, bool | np.bool_):
        raise WindrowError(f"{what} must be True or False", received(what, value))
    return bool(value)


def path_of(value: Any, what: str) -> str:
    """The path as text; raises unless it is a string or has one, as ``pathlib.Path`` does."""
    path = fspath(value) if isinstance(value, str | PathLike) else None
    if not isinstance(path, str) or not path:
        raise WindrowError(f"{what} must be a path", received(what, value))
    return path


def check_callable(function: Any, arguments: int, rule: str, hint: str | None = None) -> None:
    """Raise unless it is a function that can be called with this number of arguments."""
    if not callable(function):
        raise WindrowError(rule, repr(function), hint)
    if not _takes(function, arguments):
        called = f"called with {arguments} argument{'s' * (arguments != 1)}"
        name = getattr(function, "__name__", repr(function))
        raise WindrowError(f"{rule}, {called}", f"{name}{signature(function)}", hint)


def _takes(function: Callable[..., object], arguments: int) -> bool:
    """Whether it takes so many arguments; some functions written in C do not tell."""
    try:
        signature(function).bind(*range(arguments))
    except ValueError:
        return True
    except TypeError:
        return False
    return True
