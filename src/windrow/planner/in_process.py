"""What runs in this process, and why."""

from __future__ import annotations

from windrow.engine.window_query import WindowQuery
from windrow.patterns import Pattern, WinSeq
from windrow.patterns.windows import window_stages
from windrow.planner.choice import Choice
from windrow.planner.constants import Constants
from windrow.planner.decision import Decision
from windrow.planner.plans import Resources

IN_PROCESS = Constants(hand_over=0.0, read=0.05, exchange=0.02, job=0.0, stage=0.0, task=0.0)
"""What steps cost where workers share the rows."""


def decision_in_process(
    query: WindowQuery, pattern: Pattern | None, runs: str, reads: str | None = None
) -> Decision:
    """What runs for a query in this process, which uses one core."""
    why = "as given" if pattern else "in process there is one core"
    choice = Choice(pattern or WinSeq(), why)
    stages = window_stages(query, choice.pattern, "process")
    resources = Resources(1, reads_files=reads is not None, constants=IN_PROCESS)
    return Decision(query, choice, stages, resources, runs, reads, runs_here=True)
