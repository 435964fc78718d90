"""Routes of a key farm whose hot keys are computed by another pattern, beside all other keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.core.names import RESERVED
from windrow.engine.columns.hot_keys import HotKeys
from windrow.engine.columns.key_table import hash_keys
from windrow.engine.stages.routes import ByKey, Route


def is_result(message: Any) -> bool:
    """Whether a message from workers has results: no control column says what else it has."""
    return isinstance(message, pa.Table) and not any(
        name.startswith(RESERVED) for name in message.column_names
    )


@dataclass(frozen=True)
class Beside(Route):
    """Sends hot keys by a route of their own, and each other key to one of the workers behind."""

    hot: HotKeys
    split: Route
    by_key: ByKey

    @property
    def n(self) -> int:  # type: ignore[override]  # read only
        return self.split.n + self.by_key.n

    def targets(self, message: Any, instance: int) -> list[Any]:
        hashes = hash_keys([message[k] for k in self.by_key.keys], len(message))
        is_hot = self.hot.among(hashes)
        sent: list[Any] = []
        for route, at in ((self.split, is_hot), (self.by_key, np.logical_not(is_hot))):
            if at.any():
                sent += route.targets(message.filter(pa.array(at)), instance)
            else:
                sent += [None] * route.n
        return sent

    def describe(self) -> str:
        return f"{self.by_key.describe()}, of {self.hot.describe()} {self.split.describe()}"


@dataclass(frozen=True)
class PastResults(Route):
    """Routes what is computed of hot keys; results of other keys go to any one worker."""

    then: Route

    @property
    def n(self) -> int:  # type: ignore[override]  # read only
        return self.then.n

    def targets(self, message: Any, instance: int) -> list[Any]:
        if is_result(message):
            return [message if j == len(message) % self.n else None for j in range(self.n)]
        return self.then.targets(message, instance)

    def describe(self) -> str:
        return self.then.describe()
