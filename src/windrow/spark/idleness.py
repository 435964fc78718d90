"""A source that has gone quiet: windows close as if the stream had gone on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from windrow.core.models import WindowModel
from windrow.core.watermark import BEGINNING
from windrow.spark.packed import Ticks


@dataclass(frozen=True)
class Idleness:
    """Moves the watermark to where the windows of the last tuple end, once it was long quiet.

    The clock is what ticks say, so that a batch that is run again sees the same.
    """

    model: WindowModel
    timeout: int
    """In milliseconds."""

    def watermark(self, memory: dict[str, Any], ticks: Ticks) -> int:
        """How far time has come by silence, given what was remembered of earlier batches."""
        if ticks.greatest != BEGINNING:
            memory["greatest"] = max(memory.get("greatest", BEGINNING), ticks.greatest)
            memory["quiet_since"] = ticks.clock
        elif ticks.clock and "greatest" in memory:
            if not memory["quiet_since"]:
                memory["quiet_since"] = ticks.clock
            elif ticks.clock - memory["quiet_since"] >= self.timeout:
                memory["idle"] = self.model.closed_at(memory["greatest"])
        return int(memory.get("idle", BEGINNING))
