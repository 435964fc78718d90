"""The instances of an inner pattern, and the windows that each of them computes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from windrow.engine.columns.hot_keys import HotKeys
from windrow.engine.windows.windower import Share


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
