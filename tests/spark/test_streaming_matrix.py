"""On a stream the results are the oracle's over all tuples, whatever the pattern and the batches.

Every pattern with each kind of function, over one in eight of the window models, and over the rest
in the campaign; levels, keys, delays and how the batches come vary from one to the next.

Several queries as one streaming job would not be cheaper: four of them took 15 s of CPU time
together and 14 s apart. Each stateful operator starts a Python process and has tasks of its own.
"""

from __future__ import annotations

import functools
import itertools
import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import windrow as wr
from tests.spark.arrivals import Arrivals, streamed
from tests.spark.matrix import MODELS, PATTERNS, SCHEMA, Case, cases, compute, naive, over_keys
from tests.spark.results import assert_same, by_window, expected, run_all
from windrow.core import WindowModel, oracle
from windrow.patterns import Pattern

pytestmark = pytest.mark.spark

DELAY = 40_000
BATCHES = 3
ARROW = pa.schema(
    [
        ("i", pa.int32()),
        ("k", pa.string()),
        ("t", pa.int64()),
        ("seq", pa.int32()),
        ("x", pa.int64()),
        ("y", pa.float64()),
        ("s", pa.string()),
        ("d", pa.int64()),
    ]
)


class Stream:
    """Tuples disordered within the delay, with ties, gaps, null keys, times, values and deltas.

    They come in batches of random length; once each batch is a file, once it is two.
    """

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        draw = np.random.default_rng(12)
        n = 240
        times = np.cumsum(draw.choice([0, 0, 1, 700, 1000, 2000, 9000], n)) + 1_000_000
        late = times + draw.integers(0, DELAY + 1, n)
        self.rows: list[dict[str, Any]] = []
        for i, place in enumerate(np.argsort(late, kind="stable").tolist()):
            t = int(times[place])
            row = {
                "i": i,
                "k": [None, "a", "a", "b", "c"][draw.integers(5)],
                "t": None if i % 40 == 3 else t,
                "seq": int(draw.integers(3)),
                "x": None if i % 9 == 0 else int(draw.integers(-9, 9)),
                "y": None if i % 11 == 0 else float(draw.normal()),
                "s": None if i % 7 == 0 else "pqrs"[draw.integers(4)],
                "d": None if i % 31 == 5 else t // 2000,
            }
            self.rows.append(row)
        cuts = [0, *sorted(draw.integers(40, n - 40, BATCHES - 1).tolist()), n]
        self.batches = [self.rows[a:b] for a, b in itertools.pairwise(cuts)]
        self.frames = {}
        for files in (1, 2):
            arrivals = Arrivals(folder / str(files), ARROW)
            for batch in self.batches:
                arrivals.add(batch, files)
            self.frames[files] = arrivals.read(spark, SCHEMA, files)

    def in_order_of_arrival(self, order_by: list[str]) -> list[dict[str, Any]]:
        """The tuples as they take their places where there is no event time."""
        return [
            row
            for batch in self.batches
            for row in sorted(batch, key=lambda r: [r[name] for name in order_by])
        ]


@pytest.fixture(scope="module")
def stream(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Stream:
    return Stream(spark, tmp_path_factory.mktemp("stream"))


def run(stream: Stream, model: WindowModel, pattern: Pattern, kind: str, is_timed: bool) -> None:
    """Run the query on a stream and compare with the oracle; what else varies is drawn."""
    draw = random.Random(f"{model} {pattern} {kind} {is_timed}")
    no_keys = ["k"] if isinstance(pattern, wr.KeyFarm) else []
    keys = draw.choice([["k"], ["k"], ["k", "seq"], no_keys])
    files = draw.choice([1, 1, 2])
    # The files of a batch come in any order.
    order_by = ["seq"] if files == 1 else ["seq", "i"]
    query = wr.stream(stream.frames[files]).order_by(*order_by)
    if keys:
        query = query.key_by(*keys)
    lost = 0
    if is_timed:
        delay = DELAY + draw.choice([0, 500, 7_000])
        query = query.event_time("t", delay)
        how: dict[str, Any] = {"time": "t", "delay": delay, "order_by": order_by}
        windows = oracle.windows(model, stream.rows, key=keys, open_windows="drop", **how)
        is_delta = isinstance(model, wr.DeltaWindow)
        lost = sum(r["t"] is None or (is_delta and r["d"] is None) for r in stream.rows)
    else:
        rows = stream.in_order_of_arrival(order_by)
        windows = oracle.windows(model, rows, key=keys, open_windows="drop")
    open_windows: Any = draw.choice(["emit", "drop"])
    query = compute(query.window(model, open_windows=open_windows), model, kind)
    query = query.using(over_keys(pattern, keys))
    what = f"{model}, {pattern}, {kind}, {keys}, timed: {is_timed}, {files} files a batch"
    df, dropped = streamed(query.to_df())
    assert_same(by_window(df, keys), expected(windows, naive(model, kind)), what)
    assert dropped == lost, what


@pytest.mark.parametrize("case", cases(every=8))
def test_pattern_gives_the_oracles_results(stream: Stream, case: Case) -> None:
    run_all([functools.partial(run, stream, *each, case.kind, True) for each in case.runs()])


def test_tuples_without_a_time_are_counted_in_order_of_arrival(stream: Stream) -> None:
    count = MODELS[0]
    patterns = {
        "agg": ["KeyFarm", "PaneFarm", "WinFarm of PaneFarm"],
        "apply": ["WinSeq", "WinFarm", "agnostic WinFarm"],
        "decompose": ["WinMapReduce", "KeyFarm of PaneFarm"],
    }
    run_all(
        functools.partial(run, stream, count, PATTERNS[name](level), kind, False)
        for kind, names in patterns.items()
        for level, name in enumerate(names)
    )
