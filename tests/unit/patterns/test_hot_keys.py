"""Key farms that split hot keys: what is refused, what runs, and who computes what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from tests.unit.patterns.test_stages import COUNT, HASH2, SESSION, TIME, collect, stages
from windrow import functions as wf
from windrow.engine.columns.held import as_held
from windrow.engine.columns.hot_keys import HotKeys
from windrow.engine.columns.key_table import hash_keys
from windrow.engine.in_process import WindowRunner
from windrow.patterns import Pattern
from windrow.patterns.windows import window_stages

ACTIVE2 = wr.KeyFarm(2, hot_keys=["a"], hot=wr.WinFarm(2))
SPLIT2 = f"{HASH2}, of 1 hot key window i of key k to (hash(k) + i) mod 2"


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: wr.KeyFarm(2, hot_keys="a"), "hot_keys must be a list of keys; got hot_keys='a'"),
        (lambda: wr.KeyFarm(2, hot=wr.WinFarm(2)), "hot needs hot_keys"),
        (lambda: wr.KeyFarm(2, hot_keys=[1], hot=wr.WinFarm(3)), "so there are as many"),
        (
            lambda: wr.KeyFarm(2, hot_keys=[1], hot=wr.KeyFarm(2)),
            r"must be a WinFarm, a PaneFarm or a WinMapReduce; got hot=KeyFarm\(2\)",
        ),
        (
            lambda: wr.KeyFarm(2, hot_keys=[1], hot=wr.WinFarm(2, wr.PaneFarm(1, 1))),
            r"nest no pattern; got hot=WinFarm\(2, .*\nHint: use hot=PaneFarm\(1, 1\)",
        ),
        (lambda: wr.KeyFarm(2, wr.PaneFarm(2, 1), hot_keys=[1]), "split by a KeyFarm of WinSeq"),
    ],
)
def test_other_splits_are_refused(build: Callable[[], Pattern], message: str) -> None:
    with pytest.raises(wr.WindrowError, match=message):
        build()


def test_hot_keys_are_split_on_demand_unless_said_otherwise() -> None:
    pattern = wr.KeyFarm(4, hot_keys=["a", "b", "a"])
    assert pattern.hot == wr.WinFarm(4, workers="agnostic")
    assert pattern.hot_keys == ("a", "b")
    assert "hot_keys=('a', 'b')" in repr(pattern)
    assert "hot" not in repr(wr.KeyFarm(4))


def test_active_workers_need_windows_that_are_told_in_advance() -> None:
    query = wr.stream(pa.table({"k": ["a"], "t": [1]})).key_by("k").event_time("t")
    sessions = query.window(SESSION).agg(n=wf.count())
    with pytest.raises(wr.WindrowError, match='use WinFarm\\(2, workers="agnostic"\\)'):
        sessions.using(ACTIVE2)
    assert sessions.using(wr.KeyFarm(2, hot_keys=["a"])).collect()["n"].to_pylist() == [1]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ([1], "'k' is of type string; got 1"),
        ([("a", "b")], r"the key columns are \['k'\]; got \('a', 'b'\)"),
    ],
)
def test_hot_keys_are_values_of_the_key_columns(keys: list[Any], message: str) -> None:
    query = wr.stream(pa.table({"k": ["a"], "t": [1]})).key_by("k").window(COUNT)
    with pytest.raises(wr.WindrowError, match=message):
        query.agg(n=wf.count()).using(wr.KeyFarm(2, hot_keys=keys))


ZONE = timezone(timedelta(hours=2))


@pytest.mark.parametrize(
    ("kind", "stored", "named"),
    [
        (pa.string(), "a", "a"),
        (pa.string(), None, None),
        (pa.large_string(), "a", "a"),
        (pa.int64(), 3, 3),
        (pa.int32(), 3, np.int64(3)),
        (pa.float64(), 1.0, 1),
        (pa.float64(), float("nan"), float("nan")),
        (pa.float64(), 0.0, -0.0),
        (pa.bool_(), True, True),
        (pa.decimal128(20, 2), Decimal("1.50"), Decimal("1.5")),
        (pa.date32(), date(2024, 1, 1), date(2024, 1, 1)),
        (pa.binary(), b"a", b"a"),
        (
            pa.timestamp("us", "Europe/Rome"),
            datetime(2024, 1, 1, 2, tzinfo=ZONE),
            datetime(2024, 1, 1, tzinfo=UTC),
        ),
        (pa.struct([("x", pa.int64())]), {"x": 1}, {"x": 1}),
    ],
)
def test_hot_keys_are_compared_as_keys_are(kind: pa.DataType, stored: Any, named: Any) -> None:
    table = pa.table({"k": pa.array([stored], kind)})
    query = wr.stream(table).key_by("k").window(COUNT).agg(n=wf.count()).window_query()
    hot = HotKeys.of([(named,)], {"k": query.arrow_type("k")})
    assert hot.among(hash_keys(as_held(table).columns, 1)).tolist() == [True]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (pa.int64(), 1.5),
        (pa.int64(), "1"),
        (pa.int32(), 2**40),
        (pa.decimal128(20, 2), Decimal("1.555")),
        (pa.struct([("x", pa.int64())]), {"y": 1}),
    ],
)
def test_values_that_no_key_can_have_are_refused(kind: pa.DataType, value: Any) -> None:
    with pytest.raises(wr.WindrowError, match="hot keys must be values of the key columns"):
        HotKeys.of([(value,)], {"k": kind})


def test_active_workers_are_those_of_the_farm() -> None:
    assert stages(TIME, ACTIVE2) == [SPLIT2, "WinSeq x 2", collect(2)]
    assert stages(COUNT, ACTIVE2) == [HASH2, f"Ranker x 2 | {SPLIT2}", "WinSeq x 2", collect(2)]


def test_agnostic_workers_follow_the_farm() -> None:
    pattern = wr.KeyFarm(2, hot_keys=["a"], hot=wr.WinFarm(3, workers="agnostic"))
    for model in (TIME, COUNT, SESSION):
        assert stages(model, pattern) == [
            HASH2,
            "WinSeq or Windower x 2 | emit batches of windows to 3 in turn",
            "Executor x 3",
            collect(3),
        ]
    assert "Executor x 24" in stages(TIME, pattern, place="tasks")


def runner_of(pattern: Pattern) -> WindowRunner:
    schema = pa.schema([("k", pa.string()), ("t", pa.int64())])
    query = wr.stream(schema.empty_table()).key_by("k").event_time("t").window(wr.TimeWindow(10, 5))
    complete = query.agg(times=wf.collect("t")).window_query()
    return WindowRunner(complete, window_stages(complete, pattern))


def test_only_hot_keys_are_split() -> None:
    names = [*"abcdefgh"]
    runner = runner_of(wr.KeyFarm(4, hot_keys=["b"], hot=wr.WinFarm(4)))
    runner.push(pa.table({"k": names * 50, "t": np.repeat(np.arange(50) * 4, 8)}))
    runner.advance(100)
    holders: Counter[str] = Counter()
    for worker in runner.workers[1]:
        held = worker.keys.table()["k"].to_pylist() if len(worker.keys) else []  # type: ignore[attr-defined]
        holders.update(held)
    assert holders == {name: 4 if name == "b" else 1 for name in names}


def test_agnostic_workers_are_sent_only_windows_of_hot_keys() -> None:
    runner = runner_of(wr.KeyFarm(2, hot_keys=["b"]))
    runner.push(pa.table({"k": ["a", "b", "c", "b"], "t": [0, 0, 2, 8]}))
    given = [m for worker in runner.workers[1] for m in _advanced(worker)]
    tables = [m for m in given if isinstance(m, pa.Table)]
    assert sorted(k for t in tables for k in t["k"].to_pylist()) == ["a", "a", "c", "c"]
    batches = [m for m in given if not isinstance(m, pa.Table)]
    assert {k for b in batches for k in b.keys["k"].to_pylist()} == {"b"}


def _advanced(worker: Any) -> list[Any]:
    given: list[Any] = worker.advance(1000)
    return given


@pytest.mark.parametrize(("share", "alone", "split"), [(0.5, 0.7, 0.54), (0.16, 0.55, 0.54)])
def test_workers_share_the_rows_of_a_frequent_key(share: float, alone: float, split: float) -> None:
    """On two workers, a key farm's busiest has more than p + (1 - p) / 2 of the rows, about."""
    draw = np.random.default_rng(3)
    is_hot = draw.random(20_000) < share
    keys = np.where(is_hot, "hot", draw.integers(0, 200, 20_000).astype(str))
    table = pa.table({"k": keys, "t": np.arange(20_000) // 20})
    farm, active = wr.KeyFarm(2), wr.KeyFarm(2, hot_keys=["hot"], hot=wr.WinFarm(2))
    assert _busiest(farm, table) > alone
    assert _busiest(active, table) < split


def _busiest(pattern: Pattern, table: pa.Table) -> float:
    """The share of all rows of all windows that the busiest worker computes."""
    runner = runner_of(pattern)
    runner.push(table)
    rows = [
        sum(len(times) for given in _advanced(worker) for times in given["times"].to_pylist())
        for worker in runner.workers[1]
    ]
    return max(rows) / sum(rows)
