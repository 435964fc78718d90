"""The instances of an inner pattern, and the windows that each of them computes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from windrow.engine.columns.hot_keys import HotKeys
from windrow.engine.window_query import WindowQuery
from windrow.engine.windows.windower import Share

_SHARED = 8
"""Windows that one worker computes in a row, per window that a tuple is in."""


def in_a_row(query: WindowQuery, batch: int) -> int:
    """How many consecutive windows of a bounded query go to one worker of a window farm.

    What kernels take depends on tuples more than on windows, so runs of windows save more than they
    cost in balance: few tuples are sent to several workers. Functions of users are called once per
    window. Theirs are dealt one by one, or as many at once as a user says.
    """
    if batch > 1 or not query.runs_kernels or not query.model.shares_tuples:
        return batch
    expected = query.model.expected_rows(1.0)
    if expected is None:
        return batch
    rows, apart = expected
    return max(1, math.ceil(_SHARED * rows / apart))


@dataclass(frozen=True)
class Farm:
    """The farm around an inner pattern: ``n`` instances, each with a share of the windows.

    The windows of a key are shared by ``outer`` instances, in batches of ``batch``. In a key farm
    ``outer`` is 1: an instance computes all windows of its keys.
    """

    n: int = 1
    outer: int = 1
    batch: int = 1
    hot: HotKeys | None = None
    """The keys whose windows are shared, if not those of all keys."""

    def share(self, instance: int) -> Share:
        return Share.of(instance % self.outer, self.outer, self.batch, self.hot)

    def whole(self, instance: int) -> Share:
        """The share of a process that hosts all instances."""
        return Share(np.ones(self.outer, np.bool_), self.batch)
