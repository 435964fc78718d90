"""Runs the tasks of a bounded query on Spark in this process, one after the other, without a JVM.

What the tasks send each other is packed, sorted and unpacked as on Spark. So the CPU time of this
process is what all Python tasks take together. Spark's own work is not in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import pyarrow as pa

from windrow.engine.intake import window_tuples
from windrow.engine.window_query import WindowQuery
from windrow.patterns import Pattern
from windrow.patterns.windows import window_stages
from windrow.spark.intake import Intake
from windrow.spark.results import Results
from windrow.spark.stages import StagePlan, StageTask

INTAKES = 2
"""Tasks that take rows in."""
_BATCH = 10_000
"""Rows per Arrow batch, as Spark hands them over."""


def run_tasks(query: WindowQuery, pattern: Pattern, rows: pa.Table) -> pa.Table:
    """The results of a query whose workers run as tasks."""
    plan = StagePlan.of(window_stages(query, pattern, "tasks"), query)
    keys = {k: query.arrow_type(k) for k in query.keys}
    results = Results(query.output_schema(keys))
    packed = list(_taken_in(query, plan, rows))
    for stage in plan.stages[:-1]:
        task = partial(StageTask, stage)
        packed = [b for part in _arrived(packed) for b in task()(iter(part))]
    last = plan.stages[-1]
    given = [batch for part in _arrived(packed) for batch in StageTask(last, results)(iter(part))]
    return pa.Table.from_batches(given)


def _taken_in(query: WindowQuery, plan: StagePlan, rows: pa.Table) -> Iterator[pa.RecordBatch]:
    intake = Intake(
        take=partial(window_tuples, query),
        columns=tuple(rows.column_names),
        emitters=plan.emitters,
        exchange=plan.entry,
        is_stream=False,
        greatest_of=None,
    )
    each = -(-len(rows) // INTAKES)
    for number in range(INTAKES):
        part = rows.slice(number * each, each)
        batches = iter(part.to_batches(max_chunksize=_BATCH))
        yield from intake.messages(batches, number << 33, number == 0)


def _arrived(packed: Iterable[pa.RecordBatch]) -> Iterator[list[pa.RecordBatch]]:
    """The rows of each worker, in order of their first times; nothing is copied."""
    rows = [batch.slice(i, 1) for batch in packed for i in range(len(batch))]
    place = [(row["slot"][0].as_py(), row["low"][0].as_py()) for row in rows]
    by_slot: dict[int, list[int]] = {}
    for i in sorted(range(len(rows)), key=place.__getitem__):
        by_slot.setdefault(place[i][0], []).append(i)
    for own in by_slot.values():
        yield [rows[i] for i in own]
