"""Idleness: the clock of ticks tells when a source has been quiet for long enough."""

from __future__ import annotations

from typing import Any

import pytest

import windrow as wr
from windrow.core import WindowModel
from windrow.core.watermark import BEGINNING
from windrow.spark.idleness import Idleness
from windrow.spark.packed import Ticks


def watermarks(idleness: Idleness, batches: list[tuple[int | None, int]]) -> list[int]:
    """How far each batch moves time, given its greatest event time and the clock (0: no tick)."""
    memory: dict[str, Any] = {}
    return [
        idleness.watermark(memory, Ticks(0, BEGINNING if time is None else time, clock))
        for time, clock in batches
    ]


TIMEOUT = Idleness(wr.TimeWindow(10), 2_000)


def test_windows_of_the_last_tuple_close_once_it_was_quiet_for_the_timeout() -> None:
    batches = [(13, 5_000), (None, 6_000), (None, 6_999), (None, 7_000)]
    assert watermarks(TIMEOUT, batches) == [BEGINNING, BEGINNING, BEGINNING, 20]


def test_without_a_clock_beside_the_tuples_silence_begins_with_the_next_tick() -> None:
    batches = [(13, 0), (None, 8_000), (None, 9_999), (None, 10_000)]
    assert watermarks(TIMEOUT, batches) == [BEGINNING, BEGINNING, BEGINNING, 20]


def test_a_tuple_ends_the_silence() -> None:
    batches = [(13, 1_000), (None, 2_000), (27, 3_000), (None, 4_999), (None, 5_000)]
    assert watermarks(TIMEOUT, batches) == [BEGINNING, BEGINNING, BEGINNING, BEGINNING, 30]


def test_time_does_not_go_back_when_an_older_tuple_comes() -> None:
    batches = [(13, 1_000), (None, 3_000), (4, 3_500), (None, 6_000)]
    assert watermarks(TIMEOUT, batches) == [BEGINNING, 20, 20, 20]


def test_a_source_that_has_brought_nothing_closes_nothing() -> None:
    assert watermarks(TIMEOUT, [(None, 1_000), (None, 90_000)]) == [BEGINNING, BEGINNING]


def test_batches_without_a_tick_close_nothing() -> None:
    assert watermarks(TIMEOUT, [(13, 1_000), (None, 0), (None, 0)]) == [
        BEGINNING,
        BEGINNING,
        BEGINNING,
    ]


@pytest.mark.parametrize(
    ("model", "closed"),
    [
        (wr.TimeWindow(10, 5), 20),
        (wr.TimeWindow(10, origin=4), 14),
        (wr.LandmarkWindow(20, 5), 20),
        (wr.SessionWindow(5), 19),
        (wr.SlideByTimeWindow(3, 5), 15),
        (wr.CountWindow(3), 14),
        (wr.SlideByTupleWindow(10, 3), 14),
        (wr.DeltaWindow("d", 3, 1), 14),
    ],
    ids=str,
)
def test_time_moves_to_where_all_windows_of_the_last_tuple_have_fired(
    model: WindowModel, closed: int
) -> None:
    assert watermarks(Idleness(model, 10), [(13, 1), (None, 11)]) == [BEGINNING, closed]
