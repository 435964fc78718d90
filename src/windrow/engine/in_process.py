"""The in-process runner: a stage list over batches, in one process, without a JVM."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.engine.columns import sort_keys, to_microseconds
from windrow.engine.control import PIECE
from windrow.engine.intake import take_in
from windrow.engine.spec import ID, WindowQuery
from windrow.engine.stages import Collect, Emit, Stages, Work
from windrow.engine.state import MemoryStore, StateLog
from windrow.engine.workers.worker import Message, Worker
from windrow.kernels.interval_windows import ALWAYS, NEVER

DROPPED = b"windrow.dropped"
"""Metadata of the result: how many tuples were dropped, for a null or for being too late."""

Traffic = dict[int, list[Message]]
"""What is on its way to each worker, by its index."""


class InProcess:
    """Runs a query's stages batch by batch, deterministic, with an explicit watermark.

    Batches go in by ``push``; ``advance`` moves the watermark and gives the results that follow,
    ``finish`` those at the end of the stream.
    """

    def __init__(self, query: WindowQuery, stages: Stages) -> None:
        self.query = query
        self.nodes = [copy.deepcopy(n) if isinstance(n, Emit) else n for n in stages.nodes]
        self.workers: dict[int, list[Worker]] = {
            i: [node.make(j) for j in range(node.n)]
            for i, node in enumerate(self.nodes)
            if isinstance(node, Work)
        }
        self.watermark = NEVER
        self.arrived = 0
        self._dropped_at_intake = 0
        self._logs: dict[tuple[int, int], tuple[StateLog, MemoryStore]] = {}

    @property
    def dropped(self) -> int:
        """Tuples that belong nowhere or came too late for every window."""
        late = sum(w.dropped for workers in self.workers.values() for w in workers)
        return self._dropped_at_intake + late

    def push(self, batch: pa.Table) -> list[pa.Table]:
        """Take a batch in; results that follow without the watermark moving on."""
        # A single worker has tuples in order of arrival anyway.
        arrived = self.arrived if len(self.nodes) > 1 else None
        tuples, dropped = take_in(self.query, batch, arrived)
        self._dropped_at_intake += dropped
        self.arrived += len(batch)
        return self._run({0: [tuples]} if len(tuples) else {})

    def advance(self, watermark: int) -> list[pa.Table]:
        """Move the watermark on."""
        self.watermark = max(self.watermark, watermark)
        return self._run({})

    def finish(self) -> list[pa.Table]:
        """Emit the windows still open with what they hold."""
        self.watermark = ALWAYS
        return self._run({})

    def _run(self, traffic: Traffic) -> list[pa.Table]:
        for i, node in enumerate(self.nodes):
            if isinstance(node, Emit):
                traffic = emit_traffic(node, traffic)
            elif isinstance(node, Collect):
                traffic = collect_traffic(self.query, node, traffic)
            else:
                traffic = self._work(self.workers[i], traffic)
        return [table for messages in traffic.values() for table in messages if len(table)]

    def _work(self, workers: list[Worker], traffic: Traffic) -> Traffic:
        given: Traffic = {}
        for j, worker in enumerate(workers):
            for message in traffic.get(j, []):
                worker.push(message)
            given[j] = worker.advance(self.watermark)
        return given

    def snapshot(self) -> dict[str, Any]:
        """The state of every worker, for ``restore``."""
        own = {"watermark": self.watermark, "arrived": self.arrived}
        stores = {
            i: [self._stored(i, j).blobs for j in range(len(workers))]
            for i, workers in self.workers.items()
        }
        return {**own, "workers": stores, "dropped": self._dropped_at_intake}

    def _stored(self, i: int, j: int) -> MemoryStore:
        log, store = self._logs.setdefault((i, j), (StateLog(""), MemoryStore()))
        log.save(self.workers[i][j], store)
        return MemoryStore(store.blobs)

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Take up the state of another runner of this query.

        This one must be new, or have come to its state by ``restore`` from the same runner.
        """
        self.watermark, self.arrived = snapshot["watermark"], snapshot["arrived"]
        self._dropped_at_intake = snapshot["dropped"]
        for i, stores in snapshot["workers"].items():
            for j, blobs in enumerate(stores):
                log, _ = self._logs.get((i, j), (StateLog(""), None))
                store = MemoryStore(blobs)
                log.load(self.workers[i][j], store)
                self._logs[i, j] = log, store


def emit_traffic(node: Emit, traffic: Traffic) -> Traffic:
    sent: Traffic = {}
    for index, messages in traffic.items():
        instance = index // node.fan_in
        for message in messages:
            for j, part in enumerate(node.route.targets(message, instance)):
                if part is not None and not (isinstance(part, pa.Table) and len(part) == 0):
                    sent.setdefault(instance * node.route.n + j, []).append(part)
    return sent


def collect_traffic(query: WindowQuery, node: Collect, traffic: Traffic) -> Traffic:
    collected: Traffic = {}
    for index, messages in traffic.items():
        collected.setdefault(index // node.fan_in, []).extend(messages)
    return {i: _ordered(query, messages) for i, messages in collected.items()}


def _ordered(query: WindowQuery, messages: list[Message]) -> list[Message]:
    tables = [m for m in messages if isinstance(m, pa.Table)]
    others = [m for m in messages if not isinstance(m, pa.Table)]
    return [in_order(query, tables), *others] if tables else others


def in_order(query: WindowQuery, tables: list[pa.Table]) -> pa.Table:
    """Results, or partials, by key, nulls first and NaN last as in Spark, then by window id."""
    table = pa.concat_tables(tables, promote_options="permissive")
    keys: list[Any] = []
    for name in (*query.keys, PIECE if PIECE in table.schema.names else ID):
        keys.extend(sort_keys(table[name]))
    return table.take(np.lexsort(keys[::-1]))


def collect(query: WindowQuery, stages: Stages, table: pa.Table, *, ordered: bool) -> pa.Table:
    """The results of a query over a bounded table."""
    runner = InProcess(query, stages)
    if query.partial == "drop":
        results = _run_to_watermark(runner, table)
    else:
        results = [*runner.push(table), *runner.finish()]
    schema = query.output_schema({k: table.schema.field(k).type for k in query.keys})
    return _gathered(query, results, schema, ordered, runner.dropped)


def _run_to_watermark(runner: InProcess, table: pa.Table) -> list[pa.Table]:
    """What a stream over the same tuples would have fired."""
    query = runner.query
    results = runner.push(table)
    if query.time is not None and len(times := to_microseconds(table[query.time].drop_null())):
        results += runner.advance(final_watermark(int(times.max()), query.delay))
    return results


def final_watermark(greatest: int, delay: int) -> int:
    """The watermark of a stream whose greatest time this is: in whole milliseconds."""
    return (greatest - delay) // 1000 * 1000


def _gathered(
    query: WindowQuery,
    results: Iterable[pa.Table],
    schema: pa.Schema,
    ordered: bool,
    dropped: int,
) -> pa.Table:
    tables = [t for t in results if len(t)]
    if not tables:
        table = schema.empty_table()
    else:
        table = in_order(query, tables) if ordered else pa.concat_tables(tables)
        table = table.cast(schema)
    return table.replace_schema_metadata({DROPPED: str(dropped).encode()})
