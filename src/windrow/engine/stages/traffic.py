"""Traffic: the messages between nodes, and what emitters and collectors do with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from windrow.engine.columns.arrays import sort_keys
from windrow.engine.columns.control import PIECE
from windrow.engine.stages.nodes import Collector, Emitter
from windrow.engine.window_query import ID, WindowQuery
from windrow.engine.workers.worker import Message

Traffic = dict[int, list[Message]]
"""The messages to, or from, each worker by index."""


def emit_traffic(node: Emitter, traffic: Traffic) -> Traffic:
    """Pass messages through an emitter."""
    sent: Traffic = {}
    for index, messages in traffic.items():
        instance = index // node.fan_in
        for message in messages:
            for j, part in enumerate(node.route.targets(message, instance)):
                if part is not None and not (isinstance(part, pa.Table) and len(part) == 0):
                    sent.setdefault(instance * node.route.n + j, []).append(part)
    return sent


def collect_traffic(query: WindowQuery, node: Collector, traffic: Traffic) -> Traffic:
    """Pass messages through a collector, which merges those of its workers in order."""
    collected: Traffic = {}
    for index, messages in traffic.items():
        collected.setdefault(index // node.fan_in, []).extend(messages)
    return {i: _ordered(query, messages) for i, messages in collected.items()}


def _ordered(query: WindowQuery, messages: list[Message]) -> list[Message]:
    tables = [m for m in messages if isinstance(m, pa.Table)]
    others = [m for m in messages if not isinstance(m, pa.Table)]
    # Results of some keys may pass by the partials of others.
    pieces = [table for table in tables if PIECE in table.column_names]
    results = [table for table in tables if PIECE not in table.column_names]
    return [*(in_order(query, alike) for alike in (pieces, results) if alike), *others]


def in_order(query: WindowQuery, tables: list[pa.Table]) -> pa.Table:
    """Sort results by key and window id, or partials by key and piece.

    As in Spark, nulls come first and NaN last.
    """
    table = pa.concat_tables(tables, promote_options="permissive")
    keys: list[Any] = []
    for name in (*query.keys, PIECE if PIECE in table.schema.names else ID):
        keys.extend(sort_keys(table[name]))
    return table.take(np.lexsort(keys[::-1]))
