"""What `windrow bench` times: queries, the same in Spark's SQL, and the same by the oracle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import windrow as wr
from windrow import functions as wf
from windrow.api.query import Query
from windrow.core import oracle
from windrow.core.aggregate import Aggregate

_Functions: TypeAlias = Mapping[str, Aggregate[Any, Any, Any]]

_SUMS: _Functions = {"n": wf.count(), "total": wf.sum("x"), "most": wf.max("x")}
_MEDIANS: _Functions = {"n": wf.count(), "middle": wf.median("x")}
_SUMS_SQL = "count(*) AS n, sum(x) AS total, max(x) AS most"


@dataclass(frozen=True)
class BenchQuery:
    """A query over rows ``(k, t, x)``, and how it is written without Windrow."""

    name: str
    model: wr.WindowModel
    functions: _Functions
    sql: str
    """Spark's own way: selects the key, a bound and the results from the table ``ticks``."""
    bound: str = "window_start"
    """The bound that tells the windows of a key apart."""
    least: int = 1
    """Smaller windows are not compared: Spark's way does not give them."""

    def over(self, rows: Query) -> Query:
        """Windrow's way."""
        return rows.key_by("k").event_time("t").window(self.model).agg(**self.functions)

    def compared(self, results: pa.Table) -> pa.Table:
        """What all ways must agree on."""
        names = ["k", self.bound, *self.functions]
        full = results.select(names).filter(pc.field("n") >= self.least)
        return full.sort_by([("k", "ascending"), (self.bound, "ascending")])

    def by_oracle(self, rows: pa.Table) -> pa.Table:
        """The results by the definition of the windows, which takes long."""
        found = oracle.windows(self.model, rows.to_pylist(), key=["k"], time="t")
        columns = {
            "k": [w.key[0] for w in found],
            self.bound: [getattr(w, self.bound.removeprefix("window_")) for w in found],
        }
        for name, function in self.functions.items():
            columns[name] = [oracle.aggregate(function, w.rows) for w in found]
        return pa.table(columns)


QUERIES = (
    BenchQuery(
        "time 10 s",
        wr.TimeWindow("10 s"),
        _SUMS,
        f"SELECT k, window.start AS window_start, {_SUMS_SQL} FROM ticks"
        " GROUP BY k, window(t, '10 seconds')",
    ),
    BenchQuery(
        "time 1 s/100 ms",
        wr.TimeWindow("1 s", "100 ms"),
        _SUMS,
        f"SELECT k, window.start AS window_start, {_SUMS_SQL} FROM ticks"
        " GROUP BY k, window(t, '1 second', '100 milliseconds')",
    ),
    BenchQuery(
        "the same, median",
        wr.TimeWindow("1 s", "100 ms"),
        _MEDIANS,
        "SELECT k, window.start AS window_start, count(*) AS n, median(x) AS middle FROM ticks"
        " GROUP BY k, window(t, '1 second', '100 milliseconds')",
    ),
    BenchQuery(
        "count 1000/10",
        wr.CountWindow(1000, 10),
        _SUMS,
        "SELECT k, place AS window_end, n, total, most FROM (SELECT k,"
        " row_number() OVER (PARTITION BY k ORDER BY t) AS place,"
        " count(*) OVER last AS n, sum(x) OVER last AS total, max(x) OVER last AS most FROM ticks"
        " WINDOW last AS (PARTITION BY k ORDER BY t ROWS BETWEEN 999 PRECEDING AND CURRENT ROW))"
        " WHERE place % 10 = 0",
        bound="window_end",
        least=1000,
    ),
    # No two rows are exactly that far apart.
    BenchQuery(
        "session 10.025 ms",
        wr.SessionWindow("10 ms 25 us"),
        _SUMS,
        f"SELECT k, session_window.start AS window_start, {_SUMS_SQL} FROM ticks"
        " GROUP BY k, session_window(t, '10025 microseconds')",
    ),
)


def ticks(n: int) -> pa.Table:
    """Rows 50 us apart, of 100 keys at random."""
    draw = np.random.default_rng(1)
    return pa.table(
        {
            "k": draw.integers(0, 100, n),
            "t": pa.array(np.arange(n) * 50, pa.timestamp("us", "UTC")),
            "x": draw.integers(0, 1000, n),
        }
    )
