"""Calls of public functions: one whose arguments do not fit the signature is refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import ParamSpec, TypeVar

from windrow.core.errors import WindrowError, near_names

_NAMES_OF_OTHERS = {
    "size": "length", "duration": "length", "windowDuration": "length", "width": "length",
    "hop": "slide", "step": "slide", "slideDuration": "slide", "offset": "origin",
    "startTime": "origin", "gapDuration": "gap", "watermark": "delay", "lateness": "delay",
    "parallelism": "n", "workers": "n",
}  # fmt: skip
"""The argument that has another name in other libraries."""

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


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
    return _checked(function, function.__name__)


def checks_construction(made: type[T]) -> type[T]:
    """Refuse the same of the constructor of a class.

    >>> @checks_construction
    ... class Scale:
    ...     def __init__(self, by, origin=0): ...
    >>> Scale(2, origins=1)
    Traceback (most recent call last):
        ...
    windrow.core.errors.WindrowError: Scale is called as Scale(by, origin=0); got a call with an \
unexpected keyword argument 'origins'.
    Hint: did you mean one of these arguments: ['origin']?
    """
    made.__init__ = _checked(made.__init__, made.__name__)  # type: ignore[method-assign]
    return made


def _checked(function: Callable[P, R], name: str) -> Callable[P, R]:
    expected = signature(function)

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            expected.bind(*args, **kwargs)
        except TypeError as e:
            named = [n for n in expected.parameters if n not in ("self", "/")]
            unknown = [k for k in kwargs if k not in named]
            raise WindrowError(
                f"{name} is called as {_written(expected, name)}",
                f"a call with {_reason(e)}",
                _hint(unknown[0], named) if unknown and named else None,
            ) from None
        return function(*args, **kwargs)

    return checked


def _hint(unknown: str, named: list[str]) -> str:
    meant = _NAMES_OF_OTHERS.get(unknown)
    if meant in named:
        return f"did you mean {meant}?"
    return near_names(unknown, named, "arguments")


def _reason(error: TypeError) -> str:
    said = str(error).replace("missing a required argument", "a missing argument")
    return said.replace("missing a required keyword-only argument", "a missing argument").replace(
        "got an unexpected", "an unexpected"
    )


def _written(given: Signature, name: str) -> str:
    """The call as a user writes it, without types."""
    parameters = [
        p.replace(annotation=Parameter.empty)
        for name, p in given.parameters.items()
        if name != "self"
    ]
    bare = given.replace(parameters=parameters, return_annotation=given.empty)
    return f"{name}{bare}"
