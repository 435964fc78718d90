from __future__ import annotations

from collections.abc import Callable
from typing import Any

from windrow.kernels.compiled import compiled


def test_function_runs_compiled_and_keeps_its_name() -> None:
    @compiled
    def triple(x: int) -> int:
        return 3 * x

    assert triple(14) == 42
    assert triple.__name__ == "triple"


def test_function_that_cannot_be_cached_is_compiled_all_the_same() -> None:
    # Without a file there is no folder for the cache, as in a container that is read-only.
    namespace: dict[str, Callable[[Any], Any]] = {}
    exec("def triple(x):\n    return 3 * x", namespace)
    assert compiled(namespace["triple"])(14) == 42
