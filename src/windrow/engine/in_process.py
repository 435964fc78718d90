"""The in-process runner: a query over a table, without a JVM."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from windrow.engine.columns import sort_keys
from windrow.engine.sequential import run
from windrow.engine.spec import ID, WindowQuery


def collect(query: WindowQuery, table: pa.Table, *, ordered: bool) -> pa.Table:
    """The results of a query over a bounded table."""
    results = run(query, table)
    return sort_results(query, results) if ordered else results


def sort_results(query: WindowQuery, results: pa.Table) -> pa.Table:
    """By key, nulls first and NaN last as in Spark, then by window id."""
    keys: list[Any] = []
    for name in (*query.keys, ID):
        keys.extend(sort_keys(results[name]))
    return results.take(np.lexsort(keys[::-1]))
