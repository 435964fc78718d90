"""What is kept of the events of streams."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.unit.monitoring.streams import Clock, observed, progress, report
from windrow.monitoring.batch import Batch, plain
from windrow.monitoring.history import MOST_BATCHES, MOST_RUNS, Held, History


def heard(history: History, *reports: SimpleNamespace) -> None:
    for each in reports:
        history.progressed("r", "0123456789", "quotes", Batch.of(each))


def test_a_report_becomes_plain_data() -> None:
    batch = Batch.of(progress(7, 2.5))
    assert (batch.number, batch.started, batch.ended) == (7, 1002.5, 1003.0)
    assert batch.watermark == 1000.0
    (part,) = batch.parts
    assert (part.name, part.windows, part.late, part.dropped) == ("windrow", 40, 2, 3)
    assert [share.worker for share in part.shares] == [0, 1, 2, 3]
    assert part.shares[0].seconds == 0.02


def test_spark_connect_tells_values_and_their_schema() -> None:
    row = {
        "values": [3, [{"values": [1, None], "schema": [{"name": "stage"}, {"name": "worker"}]}]],
        "schema": [{"name": "dropped"}, {"name": "workers"}],
    }
    assert plain(row) == {"dropped": 3, "workers": [{"stage": 1, "worker": None}]}


def test_metrics_of_others_are_no_part_and_missing_ones_are_zero() -> None:
    """What Spark computes wholly observes dropped rows only."""
    batch = Batch.of(progress(metrics={"mine": {"n": 1}, "windrow": {"dropped": 4}}))
    (part,) = batch.parts
    assert (part.dropped, part.windows, part.watermark, part.stages) == (4, 0, None, ())


@pytest.mark.parametrize("rate", [None, float("nan"), float("inf")])
def test_a_rate_that_spark_cannot_tell_is_zero(rate: float | None) -> None:
    told = SimpleNamespace(**{**vars(progress()), "inputRowsPerSecond": rate})
    assert Batch.of(told).rows_per_second == 0


def test_totals_are_sums_over_all_batches_though_only_the_last_are_kept() -> None:
    history = History(Clock(1000))
    heard(history, *(progress(number, number / 10) for number in range(MOST_BATCHES + 5)))
    (run,) = history.runs()
    assert len(run.batches) == len(run.latencies) == MOST_BATCHES
    assert run.totals["batches"] == MOST_BATCHES + 5
    assert run.totals["windows"] == 40 * (MOST_BATCHES + 5)
    worker = run.workers["windrow", 0, 3]
    assert worker.rows_in == 100 * (MOST_BATCHES + 5)


def test_workers_that_did_not_run_in_the_last_batch_still_hold_what_they_held() -> None:
    """Both stages know the same keys."""
    history = History(Clock(1000))
    both = {"windrow": observed([report(0, 0, 10), report(0, 1, 20), report(1, 0, 30)])}
    heard(history, progress(0, 0, metrics=both))
    heard(history, progress(1, 1, metrics={"windrow": observed([report(0, 0, 50)])}))
    assert list(history.runs()[0].held) == [Held(120, 2, 3 * 1024), Held(200, 2, 3 * 1024)]


def test_latency_is_from_the_start_of_the_batch_before() -> None:
    history = History(Clock(1000))
    heard(history, progress(0, 0), progress(1, 2), progress(2, 3))
    assert list(history.runs()[0].latencies) == [0.5, 2.5, 1.5]


def test_rows_after_silence_have_not_waited_since_the_batch_before() -> None:
    history = History(Clock(1000))
    heard(history, progress(0, 0))
    history.idled("r")
    heard(history, progress(1, 60))
    assert list(history.runs()[0].latencies) == [0.5, 0.5]


def test_the_lag_grows_while_the_query_runs_and_stays_once_it_has_ended() -> None:
    clock = Clock(1010)
    history = History(clock)
    heard(history, progress())
    (run,) = history.runs()
    assert run.watermark_lag(clock.now) == 10
    history.ended("r", "0123456789", None)
    assert run.watermark_lag(2000) == 10


def test_a_query_ends_stopped_or_failed_with_its_message() -> None:
    history = History(Clock(1000))
    for number, message in enumerate([None, "no disk"]):
        history.started(str(number), "0123456789", None)
        history.ended(str(number), "0123456789", message)
    failed, stopped = history.runs()
    assert (stopped.state, stopped.message) == ("stopped", None)
    assert (failed.state, failed.message, failed.label) == ("failed", "no disk", "01234567")


def test_of_many_queries_those_that_ended_first_are_forgotten() -> None:
    history = History(Clock(1000))
    history.started("running", "id", None)
    for number in range(2 * MOST_RUNS):
        history.started(str(number), "id", None)
        history.ended(str(number), "id", None)
    kept = [run.run_id for run in history.runs()]
    assert len(kept) == MOST_RUNS
    assert kept[0] == str(2 * MOST_RUNS - 1)
    assert kept[-1] == "running"


def test_of_a_chain_the_least_watermark_counts() -> None:
    parts = {
        name: observed([report(0, 0)], watermark=watermark)
        for name, watermark in [("one", 5_000_000), ("two", 3_000_000), ("three", None)]
    }
    batch = Batch.of(progress(metrics=parts))
    assert batch.watermark == 3.0
    assert batch.sum(lambda part: part.windows) == 120
