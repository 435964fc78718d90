"""Custom aggregates and folds are incremental: what is called how often, batch by batch."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
import pytest

import windrow as wr
from tests.own_aggregates import Middle, Plain, Seen, Total
from tests.trail import Trail
from windrow.core import oracle
from windrow.engine.in_process import WindowRunner
from windrow.engine.workers.win_seq import WinSeqWorker
from windrow.patterns import Pattern
from windrow.patterns.windows import window_stages

CALLS: Counter[str] = Counter()


@pytest.fixture(autouse=True)
def no_calls() -> None:
    CALLS.clear()


class Counted(Plain):
    """A sum that counts the calls of its methods."""

    def lift(self, value: Any) -> Any:
        CALLS["lift"] += 1
        return super().lift(value)

    def combine(self, a: Any, b: Any) -> Any:
        CALLS["combine"] += 1
        return super().combine(a, b)


class CountedTotal(Counted, Total):
    def subtract(self, whole: Any, older: Any) -> Any:
        CALLS["subtract"] += 1
        return super().subtract(whole, older)


class CountedTrail(Trail):
    def lift(self, value: Any) -> Any:
        CALLS["lift"] += 1
        return f"{value} "


class CountedMiddle(Middle):
    def lift(self, value: Any) -> Any:
        CALLS["lift"] += 1
        return super().lift(value)

    def combine_all(self, partials: Any) -> Any:
        CALLS["combine_all"] += 1
        return super().combine_all(partials)


def counted(total: dict[str, int], row: Any) -> dict[str, int]:
    CALLS["update"] += 1
    total["n"] += 1
    total["total"] += row["x"]
    return total


N, BATCH, KEYS = 1200, 40, 2
ROWS = [{"k": i % KEYS, "t": i, "x": i * 37 % 101, "d": i} for i in range(N)]
LONG = wr.TimeWindow(400, 8)
"""Windows ten times as long as a batch; a pane has four tuples of each key."""


def table(rows: list[dict[str, Any]]) -> pa.Table:
    return pa.table({name: [row[name] for row in rows] for name in ("k", "t", "x", "d")})


def runner_of(query: wr.Query, pattern: Pattern) -> WindowRunner:
    complete = query.window_query()
    return WindowRunner(complete, window_stages(complete, pattern))


def over(model: wr.WindowModel) -> wr.Query:
    return wr.stream(table(ROWS[:1])).key_by("k").event_time("t").window(model)


def run(query: wr.Query, pattern: Pattern) -> dict[Any, Any]:
    """The results of a stream in batches, without those at its end."""
    runner, tables = runner_of(query, pattern), []
    for first in range(0, N, BATCH):
        tables += runner.push(table(ROWS[first : first + BATCH])) + runner.advance(first + BATCH)
    return of_windows(tables)


def of_windows(tables: list[pa.Table]) -> dict[Any, Any]:
    rows = (row for found in tables for row in found.to_pylist())
    return {(row["k"], row["window_id"]): row["found"] for row in rows}


def expected(model: wr.WindowModel, function: Any) -> dict[Any, Any]:
    windows = oracle.windows(model, ROWS, key=["k"], time="t", open_windows="drop")
    return {(w.key[0], w.id): oracle.aggregate(function, w.rows) for w in windows}


def check(model: wr.WindowModel, function: Any, pattern: Pattern) -> None:
    """Compare a stream with the oracle. Only the calls of the stream count."""
    found = run(over(model).agg(found=function), pattern)
    calls = Counter(CALLS)
    wanted = expected(model, function)
    assert {window: found[window] for window in wanted} == wanted
    CALLS.clear()
    CALLS.update(calls)


@pytest.mark.parametrize(
    "pattern",
    [wr.WinSeq(), wr.KeyFarm(2), wr.PaneFarm(2, 2), wr.KeyFarm(2, wr.PaneFarm(1, 1))],
    ids=repr,
)
@pytest.mark.parametrize("function", [Counted("x"), CountedTotal("x"), CountedTrail("x")], ids=repr)
@pytest.mark.parametrize("model", [LONG, wr.CountWindow(200, 4), wr.LandmarkWindow(600, 8)])
def test_a_tuple_is_lifted_once_however_many_batches_its_windows_last(
    model: wr.WindowModel, function: Any, pattern: Pattern
) -> None:
    check(model, function, pattern)
    assert CALLS["lift"] <= N


@pytest.mark.parametrize(
    "model",
    [wr.SlideByTupleWindow(400, 4), wr.SlideByTimeWindow(200, 8), wr.DeltaWindow("d", 400, 8)],
)
def test_without_panes_too(model: wr.WindowModel) -> None:
    check(model, CountedTrail("x"), wr.KeyFarm(2))
    assert CALLS["lift"] <= N


def test_parts_of_windows_are_lifted_once() -> None:
    check(LONG, Counted("x"), wr.WinMapReduce(2, 1))
    assert CALLS["lift"] <= N


def test_each_worker_of_a_window_farm_lifts_its_own_tuples_once() -> None:
    check(LONG, Counted("x"), wr.WinFarm(3))
    assert CALLS["lift"] <= 3 * N


def test_panes_are_combined_once_and_windows_from_panes() -> None:
    """One call per tuple within panes, up to two per pane, one per window of 50 panes."""
    check(LONG, Counted("x"), wr.KeyFarm(2))
    panes, windows = N // 4, len(expected(LONG, Total("x")))
    assert CALLS["combine"] <= (N - panes) + 2 * panes + windows


def test_what_left_a_window_is_subtracted_if_that_is_exact() -> None:
    check(LONG, CountedTotal("x"), wr.KeyFarm(2))
    assert CALLS["combine"] <= N
    assert 0 < CALLS["subtract"] <= N // 4


def test_sums_of_floats_are_never_subtracted() -> None:
    rows = [{**row, "x": row["x"] / 7} for row in ROWS]
    stream = wr.stream(table(rows[:1])).key_by("k").event_time("t").window(LONG)
    runner = runner_of(stream.agg(found=CountedTotal("x")), wr.WinSeq())
    for first in range(0, N, BATCH):
        runner.push(table(rows[first : first + BATCH]))
        runner.advance(first + BATCH)
    assert CALLS["subtract"] == 0
    assert CALLS["lift"] <= N + BATCH


def test_functions_that_combine_at_once_get_the_partials_of_panes() -> None:
    check(LONG, CountedMiddle("x"), wr.KeyFarm(2))
    panes, windows = N // 4, len(expected(LONG, Middle("x")))
    assert CALLS["lift"] <= N
    assert CALLS["combine_all"] <= panes + windows + KEYS * 50


def test_a_late_tuple_makes_only_its_key_begin_anew() -> None:
    runner = runner_of(over(LONG).agg(found=CountedTrail("x")), wr.WinSeq())
    runner.push(table(ROWS[:800]))
    runner.advance(800)
    before, late = CALLS["lift"], {**ROWS[700], "x": 1000}
    tables = runner.push(table([late, *ROWS[800:840]])) + runner.advance(840)
    rows = sorted([*ROWS[:840], late], key=lambda row: row["t"])
    windows = oracle.windows(LONG, rows, key=["k"], time="t")
    wanted = {
        (w.key[0], w.id): "".join(f"{row['x']} " for row in w.rows)
        for w in windows
        if 800 < w.end <= 840
    }
    assert of_windows(tables) == wanted
    held = 400 // KEYS + 1
    assert CALLS["lift"] - before <= BATCH + held


def test_a_restored_worker_lifts_what_is_held_once_more() -> None:
    query = over(LONG).agg(found=Counted("x"))
    runner = runner_of(query, wr.WinSeq())
    runner.push(table(ROWS[:800]))
    runner.advance(800)
    copy = runner_of(query, wr.WinSeq())
    copy.restore(runner.snapshot())
    CALLS.clear()
    copy.push(table(ROWS[800:840]))
    copy.advance(840)
    assert CALLS["lift"] <= 440
    CALLS.clear()
    copy.push(table(ROWS[840:880]))
    copy.advance(880)
    assert CALLS["lift"] <= 40


def kept_keys(runner: WindowRunner) -> int:
    (worker,) = runner.workers[0]
    assert isinstance(worker, WinSeqWorker)
    return sum(len(sliding.keys) for sliding in worker.evaluator.sliding.values())


@pytest.mark.parametrize("model", [wr.SessionWindow(10), wr.TimeWindow(40), LONG])
def test_nothing_is_kept_of_keys_whose_windows_have_fired(model: wr.WindowModel) -> None:
    runner = runner_of(over(model).agg(found=Seen("x")), wr.WinSeq())
    runner.push(table(ROWS[:400]))
    runner.advance(5_000)
    assert kept_keys(runner) == 0


def test_fold_since_a_landmark_adds_each_tuple_once() -> None:
    model = wr.LandmarkWindow(600, 8)
    query = over(model).fold(counted, {"n": 0, "total": 0}, "n bigint, total bigint")
    runner, tables = runner_of(query, wr.KeyFarm(2)), []
    for first in range(0, N, BATCH):
        tables += runner.push(table(ROWS[first : first + BATCH])) + runner.advance(first + BATCH)
    assert CALLS["update"] == N
    windows = oracle.windows(model, ROWS, key=["k"], time="t", open_windows="drop")
    rows = [row for found in tables for row in found.to_pylist()]
    found = {(r["k"], r["window_id"]): (r["n"], r["total"]) for r in rows}
    wanted = {(w.key[0], w.id): (len(w.rows), sum(r["x"] for r in w.rows)) for w in windows}
    assert {key: found[key] for key in wanted} == wanted


def test_fold_of_all_windows_at_once_adds_each_tuple_once() -> None:
    query = wr.stream(table(ROWS)).key_by("k").event_time("t").window(wr.LandmarkWindow(600, 8))
    query.fold(counted, {"n": 0, "total": 0}, "n bigint, total bigint").collect()
    assert CALLS["update"] == N


def test_fold_begins_anew_if_a_late_tuple_belongs_before_others() -> None:
    query = over(wr.LandmarkWindow(600, 8)).fold(
        lambda seen, row: {"found": [*seen["found"], row["x"]]},
        {"found": []},
        "found array<bigint>",
    )
    runner = runner_of(query, wr.WinSeq())
    runner.push(table([row for row in ROWS[:80] if row["t"] != 20]))
    runner.advance(80)
    tables = runner.push(table([ROWS[20], *ROWS[80:88]])) + runner.advance(88)
    assert of_windows(tables)[0, 11] == [row["x"] for row in ROWS[:88] if row["k"] == 0]


class Uncopied(dict[str, Any]):
    def __deepcopy__(self, memo: Any) -> Any:
        raise TypeError("not this one")


def test_an_accumulator_that_cannot_be_copied_is_made_anew() -> None:
    def add(made: Any, row: Any) -> Any:
        made["found"] = made.get("found", 0) + row["x"]
        return made

    query = over(wr.LandmarkWindow(600, 8)).fold(add, Uncopied, "found bigint")
    runner = runner_of(query, wr.WinSeq())
    tables = runner.push(table(ROWS[:80])) + runner.advance(80)
    assert of_windows(tables)[1, 10] == sum(row["x"] for row in ROWS[:80] if row["k"] == 1)
