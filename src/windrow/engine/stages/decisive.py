"""The route that leaves out tuples which decide no result, before they are sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.engine.columns.key_table import distinct_keys
from windrow.engine.evaluate.decisive import DecisiveTuples
from windrow.engine.stages.routes import Route
from windrow.engine.window_query import WindowQuery
from windrow.engine.windows.placing import Placing, time_of


@dataclass(frozen=True)
class OnlyDecisive(Route):
    """Sends only the tuples of each pane of time that can still decide a result."""

    query: WindowQuery
    then: Route

    reduces = True

    @property
    def n(self) -> int:  # type: ignore[override]
        return self.then.n

    def targets(self, message: Any, instance: int) -> list[Any]:
        return self.then.targets(self._decisive(message), instance)

    def _decisive(self, tuples: pa.Table) -> pa.Table:
        decisive, times = DecisiveTuples.of(self.query), time_of(tuples)
        assert decisive is not None
        if not decisive.are_dense(times):
            return tuples
        codes, _ = distinct_keys(tuples, self.query.keys)
        order = Placing(True, self.query.order_by).order(tuples, codes)
        kept = decisive.among(tuples, order, codes[order], times[order], with_last=False)
        return tuples if kept is None else tuples.take(pa.array(np.sort(order[kept])))

    def describe(self) -> str:
        return f"tuples that can decide a result by {self.then.describe()}"
