"""A phase: workers that run at the same time."""

from __future__ import annotations

from dataclasses import dataclass

from windrow.planner.cost import makespan, share_of_partition
from windrow.planner.plans import Resources


@dataclass(frozen=True)
class Phase:
    """Workers that run at the same time."""

    name: str
    work: float
    """All that they do, in microseconds of one core."""
    n: int
    share: float
    """The share of the work that the busiest worker has."""
    is_exchanged: bool = True
    """Whether rows are exchanged before it."""
    holds_state: bool = True

    def time(self, resources: Resources) -> float:
        """How long it takes, in microseconds."""
        constants, cores = resources.constants, resources.cores
        # The state of a stream is in about as many partitions as there are cores.
        is_stored = resources.is_stream and self.holds_state
        n, share = self.n, self.share
        if is_stored and n > cores:
            n, share = cores, share_of_partition(n, share, cores)
        working = makespan(self.work, share, n, cores)
        if not self.is_exchanged:
            return working
        fixed = constants.stage + constants.task * n / cores
        return fixed + (constants.batch if is_stored else 0.0) + working
