"""The most frequent keys in a sample, by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from windrow.core.errors import WindrowError
from windrow.engine.columns.held import as_held
from windrow.engine.columns.hot_keys import HotKeys
from windrow.engine.columns.key_table import distinct_keys
from windrow.engine.window_query import WindowQuery

_MOST = 16
_LEAST_SHARE, _SEEN = 0.01, 5
"""The least share of the rows, and number of them, that a frequent key has in the sample."""
_TIMES_AVERAGE = 2.0


def frequent_keys(query: WindowQuery, keys: pa.Table) -> tuple[tuple[Any, float], ...]:
    """The most frequent keys and their shares of the rows, if these are much above the average."""
    if keys.num_columns == 0:
        return ()
    own, distinct = distinct_keys(as_held(keys), keys.column_names)
    counts = np.bincount(own)
    first = np.argsort(-counts, kind="stable")[:_MOST]
    least = max(_TIMES_AVERAGE * len(keys) / len(counts), _LEAST_SHARE * len(keys), _SEEN)
    first = first[counts[first] >= least]
    rows = distinct.take(first).to_pylist()
    found = [tuple(row.values()) for row in rows]
    try:
        HotKeys.of(found, {name: query.arrow_type(name) for name in query.keys})
    except WindrowError:  # NaN within a struct does not equal itself
        return ()
    named = [key if len(key) > 1 else key[0] for key in found]
    return tuple(zip(named, (counts[first] / len(keys)).tolist(), strict=True))
