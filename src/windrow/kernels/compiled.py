"""The decorator of every compiled kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile a function with Numba on its first call, keep the result on disk, release the GIL.

    If neither the package's folder nor the user's cache folder is writable, as in some containers,
    each process compiles the function again.

    >>> @compiled
    ... def twice(x: int) -> int:
    ...     return 2 * x
    >>> twice(21)
    42
    """
    try:
        return cast(Function, njit(cache=True, nogil=True)(function))
    except RuntimeError:
        return cast(Function, njit(nogil=True)(function))
