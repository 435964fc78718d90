"""How a query over a table or a dataset runs in this process: its pattern and its threads."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import pyarrow as pa

from windrow.core.checks import positive_workers
from windrow.core.statistics import Statistics
from windrow.engine import in_process
from windrow.engine.datasets.steps import Unread
from windrow.engine.stages.nodes import Collector, Stages
from windrow.engine.threads import cores_here
from windrow.engine.window_query import WindowQuery
from windrow.patterns import Pattern
from windrow.patterns.windows import window_stages
from windrow.planner.choice import Choice
from windrow.planner.decision import Decision
from windrow.planner.in_process import choose_in_process
from windrow.planner.machine import in_process as in_process_here
from windrow.planner.plans import Resources

FEW_ROWS = 1 << 17
"""One thread has computed as many rows before others would have begun."""
FEW_BYTES = 1 << 20
"""About as many bytes have such rows in files."""


@dataclass(frozen=True)
class InThreads:
    """A query, the pattern that computes it, and how many threads run its workers."""

    query: WindowQuery
    choice: Choice
    stages: Stages
    threads: int

    @staticmethod
    def of(
        query: WindowQuery, pattern: Pattern | None, threads: int | None, *, is_small: bool
    ) -> InThreads:
        """With the given pattern, or one that is chosen; small inputs are left to one thread."""
        n = cores_here() if threads is None else positive_workers(threads, "threads", "threads")
        choice = choose_in_process(query, n, is_small)
        if pattern is not None:
            choice = Choice(pattern, "as given")
        n = 1 if is_small else n
        stages = window_stages(query, choice.pattern, "threads" if n > 1 else "process")
        return InThreads(query, choice, stages if pattern else _without_last_collector(stages), n)

    def collect(self, steps: Iterable[Unread], schema: pa.Schema, *, ordered: bool) -> pa.Table:
        """The results over steps of rows with columns of this schema."""
        return in_process.collect(
            self.query, self.stages, steps, schema, ordered=ordered, threads=self.threads
        )

    def decision(self, reads: str | None = None, rows: int | None = None) -> Decision:
        """What will run and why: for a dataset what is read, and the rows if they are counted."""
        runs = "in this process" + (f", in {self.threads} threads" if self.threads > 1 else "")
        resources = Resources(
            self.threads, reads_files=reads is not None, constants=in_process_here()
        )
        return Decision(
            self.query,
            self.choice,
            self.stages,
            resources,
            runs,
            reads,
            Statistics(rows=rows),
            runs_here=True,
        )


def _without_last_collector(stages: Stages) -> Stages:
    """The stages that give results in the order of workers: ``ordered()`` sorts all of them."""
    *before, last = stages.groups
    if isinstance(last[-1], Collector):
        last = last[:-1]
    return replace(stages, groups=(*before, last) if last else tuple(before))
