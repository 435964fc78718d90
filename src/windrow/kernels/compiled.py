"""The decorator of every compiled kernel."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile a function with Numba on its first call, keep the result on disk, release the GIL.

    If no folder of the cache is writable, as in some containers, each process compiles the
    functions again that no folder holds. So it does if Numba's internals are other than expected.

    >>> @compiled
    ... def twice(x: int) -> int:
    ...     return 2 * x
    >>> twice(21)
    42
    """
    kernel: Any = njit(nogil=True)(function)
    with suppress(AttributeError, ImportError, RuntimeError, TypeError):
        from windrow.kernels.kernel_cache import KernelCache

        kernel._cache = KernelCache(function)
    return cast(Function, kernel)
