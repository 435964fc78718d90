"""Which pattern a query gets if it names none."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import windrow as wr
from windrow import functions as wf
from windrow.core import WindowModel
from windrow.core.statistics import Statistics
from windrow.engine.window_query import WindowQuery
from windrow.patterns import Pattern
from windrow.planner.choice import Choice, choose
from windrow.planner.in_process import MOST_IN_PROCESS, choose_in_process
from windrow.planner.plans import STREAM_WORKERS, Resources

SLIDING = wr.TimeWindow(10, 5)
TUMBLING = wr.TimeWindow(10)
COUNTED = wr.CountWindow(10, 5)
SESSIONS = wr.SessionWindow(5)
TRIGGERED = wr.SlideByTupleWindow(10, 5)


def pieces(query: wr.Query) -> wr.Query:
    """A function that can be computed in pieces."""
    return query.agg(total=wf.sum("x"))


def rows(query: wr.Query) -> wr.Query:
    """A function whose pieces would be all their rows."""
    return query.agg(total=wf.sum("x"), middle=wf.median("x"))


def whole(query: wr.Query) -> wr.Query:
    """A function of whole windows."""
    return query.apply(lambda w: {"n": len(w)}, "n bigint")


class Most(wr.Commutative[int, int, int]):
    """An aggregate of a user's own."""

    returns = "bigint"

    def lift(self, value: int) -> int:
        return value

    def combine(self, left: int, right: int) -> int:
        return max(left, right)

    def lower(self, partial: int) -> int:
        return partial


def own(query: wr.Query) -> wr.Query:
    """A function of the user's that is computed in pieces, in Python."""
    return query.agg(most=Most("x"))


def ordered(query: wr.Query) -> wr.Query:
    """A function whose pieces must stay in order, one row at a time."""
    return query.fold(lambda acc, row: acc + row["x"], 0, returns="bigint")


def query_of(model: WindowModel, compute: Any, *keys: str) -> WindowQuery:
    table = pa.table({"k": ["a"], "t": [1], "x": [1]})
    query = wr.stream(table).event_time("t")
    if keys:
        query = query.key_by(*keys)
    built: wr.Query = compute(query.window(model))
    return built.window_query()


def on_cores(query: WindowQuery, cores: int) -> Choice:
    return choose(query, Resources(cores))


def on_a_stream(query: WindowQuery, cores: int) -> Choice:
    return choose(query, Resources(cores, is_stream=True))


@pytest.mark.parametrize("compute", [pieces, rows, whole, ordered])
@pytest.mark.parametrize("model", [SLIDING, COUNTED, SESSIONS, TRIGGERED], ids=str)
class TestAnyModelAndFunction:
    def test_keys_are_farmed_or_the_windows_of_each_of_them(
        self, model: WindowModel, compute: Any
    ) -> None:
        is_farmed = compute in (whole, ordered) and model == SLIDING
        expected = wr.WinFarm(4, level=2) if is_farmed else wr.KeyFarm(4)
        assert on_cores(query_of(model, compute, "k"), 4).pattern == expected

    def test_one_core_needs_no_parallel_pattern(self, model: WindowModel, compute: Any) -> None:
        for keys in ([], ["k"]):
            assert on_cores(query_of(model, compute, *keys), 1).pattern == wr.WinSeq()

    def test_a_keyed_stream_has_the_same_state_on_any_number_of_cores(
        self, model: WindowModel, compute: Any
    ) -> None:
        query = query_of(model, compute, "k")
        for cores in (1, 2, 16):
            assert on_a_stream(query, cores).pattern == wr.KeyFarm(STREAM_WORKERS)

    def test_the_pattern_is_legal_and_has_a_reason(self, model: WindowModel, compute: Any) -> None:
        table = pa.table({"t": [1], "x": [1]})
        query = compute(wr.stream(table).event_time("t").window(model))
        for choice in (on_cores(query.window_query(), 3), on_a_stream(query.window_query(), 3)):
            assert choice.why
            query.using(choice.pattern)


def test_windows_of_each_key_are_farmed_unless_that_sends_too_many_copies() -> None:
    """A function of the user's may be expensive, and any key may have nearly all rows."""
    long = wr.TimeWindow(100, 5)
    assert on_cores(query_of(TUMBLING, own, "k"), 64).pattern == wr.WinFarm(64)
    assert on_cores(query_of(long, whole, "k"), 4).pattern == wr.WinFarm(4)
    assert on_cores(query_of(long, whole, "k"), 16).pattern == wr.KeyFarm(16)
    told = query_of(TUMBLING, whole, "k")
    equal_keys = Statistics(keys=1000, skew=0.001)
    assert choose(told, Resources(4), equal_keys).pattern == wr.KeyFarm(4)


def test_spark_takes_functions_by_rule_unless_it_keeps_their_values() -> None:
    spark = Resources(2, native="windows")
    assert choose(query_of(TUMBLING, pieces, "k"), spark).native == "windows"
    assert choose(query_of(TUMBLING, rows, "k"), spark).native is None
    known = Statistics(keys=100_000, rate=1e6, rows=2_000_000)
    assert choose(query_of(wr.TimeWindow("1 s"), rows, "k"), spark, known).native is None
    assert choose(query_of(wr.TimeWindow("1 s"), pieces, "k"), spark, known).native == "windows"


@pytest.mark.parametrize(
    ("model", "compute", "pattern"),
    [
        (SLIDING, rows, wr.WinFarm(4, level=2)),
        (COUNTED, rows, wr.WinSeq()),
        (SESSIONS, rows, wr.WinSeq()),
        (SLIDING, pieces, wr.WinFarm(4, level=2)),
        (TUMBLING, pieces, wr.WinFarm(4, level=2)),
        (COUNTED, pieces, wr.WinSeq()),
        (SESSIONS, pieces, wr.WinSeq()),
        (TRIGGERED, pieces, wr.WinSeq()),
        (SLIDING, own, wr.PaneFarm(4, 1, level=2)),
        (COUNTED, own, wr.PaneFarm(4, 1, level=2)),
        (TUMBLING, own, wr.WinMapReduce(4, 1, level=2)),
        (SESSIONS, own, wr.WinMapReduce(4, 1, level=2)),
        (SLIDING, whole, wr.WinFarm(4, level=2)),
        (COUNTED, whole, wr.WinFarm(4, level=2)),
        (COUNTED, ordered, wr.WinFarm(4, level=2)),
        (SESSIONS, whole, wr.WinFarm(4, workers="agnostic", level=2)),
        (TRIGGERED, whole, wr.WinFarm(4, workers="agnostic", level=2)),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_without_keys_model_and_function_decide(
    model: WindowModel, compute: Any, pattern: Pattern
) -> None:
    assert on_cores(query_of(model, compute), 4).pattern == pattern


@pytest.mark.parametrize("cores", [1, 2, 16])
def test_a_stream_without_keys_is_cut_in_pieces_for_any_number_of_cores(cores: int) -> None:
    panes = on_a_stream(query_of(SLIDING, own), cores)
    assert panes.pattern == wr.PaneFarm(STREAM_WORKERS, 1, level=2)
    parts = on_a_stream(query_of(TUMBLING, own), cores)
    assert parts.pattern == wr.WinMapReduce(STREAM_WORKERS, 1, level=2)


@pytest.mark.parametrize("cores", [1, 2, 16])
def test_a_stream_without_keys_that_keeps_panes_has_one_stage_with_state(cores: int) -> None:
    for model in (SLIDING, TUMBLING):
        by_time = on_a_stream(query_of(model, pieces), cores)
        assert by_time.pattern == wr.WinFarm(STREAM_WORKERS, level=2)
    assert on_a_stream(query_of(COUNTED, pieces), cores).pattern == wr.WinSeq()


@pytest.mark.parametrize("cores", [1, 2, 16])
def test_a_stream_of_whole_windows_has_as_many_stateless_workers_as_cores(cores: int) -> None:
    for model in (SLIDING, COUNTED, SESSIONS, TRIGGERED):
        choice = on_a_stream(query_of(model, whole), cores)
        assert choice.pattern == wr.WinFarm(cores, workers="agnostic", level=2)


class TestInProcess:
    def test_keys_are_farmed_if_kernels_compute_them(self) -> None:
        for model, compute in ((SLIDING, rows), (COUNTED, rows)):
            query = query_of(model, compute, "k")
            assert choose_in_process(query, 2, is_small=False).pattern == wr.KeyFarm(2)
            many = choose_in_process(query, 1000, is_small=False).pattern
            assert many == wr.KeyFarm(MOST_IN_PROCESS)

    def test_rows_that_cost_little_are_routed_only_to_many_cores(self) -> None:
        for model in (COUNTED, SLIDING):
            query = query_of(model, pieces, "k")
            assert choose_in_process(query, 3, is_small=False).pattern == wr.WinSeq()
            assert choose_in_process(query, 4, is_small=False).pattern == wr.KeyFarm(4)

    @pytest.mark.parametrize("compute", [pieces, whole, ordered])
    def test_others_have_one_worker(self, compute: Any) -> None:
        keyed, keyless = query_of(SLIDING, compute, "k"), query_of(SLIDING, compute)
        assert choose_in_process(keyless, 4, is_small=False).pattern == wr.WinSeq()
        assert choose_in_process(keyed, 4, is_small=True).pattern == wr.WinSeq()
        assert choose_in_process(keyed, 1, is_small=False).pattern == wr.WinSeq()
        if compute is not pieces:
            assert choose_in_process(keyed, 4, is_small=False).pattern == wr.WinSeq()
