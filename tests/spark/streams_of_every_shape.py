"""A program: streams of every stage shape on the Spark it is told of, compared with this process.

    python -m tests.spark.streams_of_every_shape "local-cluster[2,1,1024]"
    python -m tests.spark.streams_of_every_shape --remote "local[2]"

Prints a line for each query. Its functions live in ``__main__``, as a user's script's do.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import windrow as wr
from tests.spark.arrivals import Arrivals, streamed
from tests.spark.session_of_its_own import start
from windrow import functions as wf
from windrow.core import WindowModel
from windrow.patterns import Pattern

SCHEMA = "k string, t bigint, seq bigint, x bigint"
SHAPES: dict[str, tuple[WindowModel, str, Pattern | None]] = {
    "chosen": (wr.TimeWindow("20 ms", "5 ms"), "agg", None),
    "KeyFarm": (wr.CountWindow(20, 6), "apply", wr.KeyFarm(2)),
    "PaneFarm": (wr.TimeWindow("20 ms", "5 ms"), "agg", wr.PaneFarm(2, 2, level=2)),
    "WinFarm, agnostic": (
        wr.SessionWindow("1 ms"),
        "apply",
        wr.WinFarm(2, workers="agnostic", level=2),
    ),
}


def last_and_spread(w: wr.Window) -> dict[str, Any]:
    return {"last": int(w["x"][-1]), "spread": int(w["x"].max() - w["x"].min())}


def table() -> pa.Table:
    draw = np.random.default_rng(3)
    n = 300
    times = np.cumsum(draw.choice([0, 500, 1000, 3000], n)) + 1_000_000
    order = np.argsort(times + draw.integers(0, 4001, n), kind="stable")
    return pa.table(
        {
            "k": pa.array(["a", "b", None, "c"] * (n // 4)),
            "t": pa.array(times[order]),
            "seq": pa.array(np.arange(n)),
            "x": pa.array(draw.integers(-99, 99, n)),
        }
    )


def query(data: Any, model: WindowModel, kind: str, pattern: Pattern | None) -> wr.Query:
    base = wr.stream(data).key_by("k").event_time("t", "4 ms").order_by("seq")
    base = base.window(model, open_windows="drop")
    if kind == "apply":
        base = base.apply(last_and_spread, "last bigint, spread bigint")
    else:
        base = base.agg(total=wf.sum("x"), median=wf.median("x"), last=wf.last("x"))
    return base if pattern is None else base.using(pattern)


def main(master: str, is_remote: bool) -> None:
    spark = start(master, is_remote)
    rows = table()
    with tempfile.TemporaryDirectory() as folder:
        arrivals = Arrivals(Path(folder) / "in", rows.schema)
        for i in range(0, len(rows), 100):
            arrivals.add(rows.slice(i, 100).to_pylist())
        df = arrivals.read(spark, SCHEMA)
        for name, (model, kind, pattern) in SHAPES.items():
            results, _ = streamed(query(df, model, kind, pattern).to_df())
            got = sorted(map(repr, map(tuple, results.collect())))
            wanted = query(rows, model, kind, wr.WinSeq()).collect().to_pylist()
            assert wanted and got == sorted(repr(tuple(r.values())) for r in wanted), name
            print(name, len(got), flush=True)
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[-1], "--remote" in sys.argv)
