"""What the page is told."""

from __future__ import annotations

import json

from tests.unit.monitoring.streams import Clock, skewed
from windrow.monitoring.history import History
from windrow.monitoring.view import RECENT, view


def test_a_query_that_has_not_done_anything_can_be_shown() -> None:
    history = History(Clock(1000))
    history.started("r", "0123456789", None)
    (query,) = view(history)["queries"]
    assert (query["name"], query["state"], query["parts"]) == ("01234567", "running", [])
    assert query["last"]["seconds"] is None


def test_rates_are_those_of_the_recent_batches() -> None:
    history, _ = skewed("quotes", hot=2, slow=1)
    (query,) = view(history)["queries"]
    span = RECENT - 0.5  # a batch per second, and the last one takes half of one
    assert query["last"]["rows_per_second"] == 5_500 * RECENT / span
    assert query["last"]["lag"] == 1.5
    assert query["totals"]["windows"] == 30 * 40
    assert len(query["curves"]["lag"]) == len(query["curves"]["latency"]) == 30
    json.dumps(query, allow_nan=False)


def test_a_hot_and_a_slow_worker_stand_out() -> None:
    history, _ = skewed("quotes", hot=2, slow=1)
    (query,) = view(history)["queries"]
    ((stage,),) = [part["stages"] for part in query["parts"]]
    assert [w["is_hot"] for w in stage["workers"]] == [False, False, True, False]
    assert [w["is_slow"] for w in stage["workers"]] == [False, True, False, False]
    assert stage["workers"][2]["rows_share"] == 4_000 / 5_500


def test_workers_with_about_as_much_do_not_stand_out() -> None:
    history, _ = skewed("quotes", hot=-1, slow=-1)
    (query,) = view(history)["queries"]
    workers = query["parts"][0]["stages"][0]["workers"]
    assert not any(w["is_hot"] or w["is_slow"] for w in workers)


def test_a_query_that_has_ended_has_no_rate() -> None:
    history, clock = skewed("quotes", hot=2, slow=1)
    history.ended("run of quotes", "id", None)
    clock.now += 1000
    (query,) = view(history)["queries"]
    assert query["last"]["rows_per_second"] == 0
    assert query["last"]["lag"] == 1.5
