"""Calls of public functions: one whose arguments do not fit the signature is refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import ParamSpec, TypeVar

from windrow.core.errors import WindrowError, near_names

P = ParamSpec("P")
R = TypeVar("R")


def checks_call(function: Callable[P, R]) -> Callable[P, R]:
    """Refuse missing, superfluous and unknown arguments with a ``WindrowError``.

    >>> @checks_call
    ... def scale(column, by=2): ...
    >>> scale()
    Traceback (most recent call last):
        ...
    windrow.core.errors.WindrowError: scale is called as scale(column, by=2); got a call with a \
missing argument: 'column'.
    """
    expected = signature(function)

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            expected.bind(*args, **kwargs)
        except TypeError as e:
            named = [n for n in expected.parameters if n not in ("self", "/")]
            unknown = [k for k in kwargs if k not in named]
            raise WindrowError(
                f"{function.__name__} is called as {_written(function)}",
                f"a call with {_reason(e)}",
                near_names(unknown[0], named, "arguments") if unknown and named else None,
            ) from None
        return function(*args, **kwargs)

    return checked


def _reason(error: TypeError) -> str:
    said = str(error).replace("missing a required argument", "a missing argument")
    return said.replace("missing a required keyword-only argument", "a missing argument").replace(
        "got an unexpected", "an unexpected"
    )


def _written(function: Callable[..., object]) -> str:
    """The call as a user writes it, without types."""
    given = signature(function)
    parameters = [
        p.replace(annotation=Parameter.empty)
        for name, p in given.parameters.items()
        if name != "self"
    ]
    bare = given.replace(parameters=parameters, return_annotation=given.empty)
    return f"{function.__name__}{bare}"
