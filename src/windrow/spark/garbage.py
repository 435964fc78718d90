"""The search for garbage in Spark's Python workers."""

from __future__ import annotations

import gc
from itertools import count

_TASKS = 2
"""Tasks before which modules are spared: the first still loads compiled kernels."""
_begun = count(1)


def spare_modules() -> None:
    """Leave everything that is loaded out of the search for garbage; called as a task begins.

    A Python worker of Spark looks at all its objects after each task, to find those that only
    refer to each other. Nearly all of them belong to modules and stay for good, and to look at
    them takes longer than a short task: 75 ms of CPU time with Windrow and what it imports.
    Spared objects are still freed once nobody refers to them.
    """
    if next(_begun) <= _TASKS:
        gc.freeze()
