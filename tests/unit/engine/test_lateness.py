from __future__ import annotations

import numpy as np
import pytest

import windrow as wr
from windrow.core import WindowModel
from windrow.engine.columns.control import AXIS
from windrow.engine.columns.storage import Stored
from windrow.engine.windows import WindowBuffer, windower_class


def fates(
    model: WindowModel, times: list[int], watermark: int, held: list[list[int]] | None = None
) -> str:
    """For each late tuple, of key 0: k if it is kept, l if it is lost, - if neither."""
    return fates_of_keys(model, times, [0] * len(times), watermark, held or [[]])


def fates_of_keys(
    model: WindowModel, times: list[int], codes: list[int], watermark: int, held: list[list[int]]
) -> str:
    buffer = WindowBuffer()
    buffer.add_keys(len(held))
    axis = np.array([t for own in held for t in own], np.int64)
    owners = np.repeat(np.arange(len(held)), [len(own) for own in held])
    buffer.append(owners, {AXIS: Stored(axis)})
    windower = windower_class(model)(model)
    windower.add_keys(np.zeros(len(held), np.int64))
    late = windower.judge_late(np.array(times), np.array(codes), watermark, buffer)
    assert not (late.is_kept & late.is_lost).any()
    both = zip(late.is_kept, late.is_lost, strict=True)
    return "".join("k" if k else "l" if n else "-" for k, n in both)


def test_time_windows_keep_what_is_in_a_window_not_fired() -> None:
    assert fates(wr.TimeWindow(10, 5), [4, 5, 9, 11], watermark=12) == "lkkk"
    assert fates(wr.TimeWindow(10, 5), [4, 5], watermark=15) == "ll"


def test_a_window_has_fired_when_the_watermark_is_at_its_end() -> None:
    assert fates(wr.TimeWindow(10), [3], watermark=9) == "k"
    assert fates(wr.TimeWindow(10), [3], watermark=10) == "l"


def test_gaps_between_hopping_windows_are_neither_kept_nor_lost() -> None:
    assert fates(wr.TimeWindow(2, 5), [0, 1, 2, 4, 5, 6, 9], watermark=6) == "ll--kk-"


def test_times_before_1970() -> None:
    assert fates(wr.TimeWindow(4, 2, 1), [-8, -4], watermark=-3) == "lk"


def test_landmark_windows_keep_what_is_behind_the_last_landmark_passed() -> None:
    model = wr.LandmarkWindow(every=6, slide=2)
    assert fates(model, [0, 1, 5, 6], watermark=5) == "kkkk"
    assert fates(model, [0, 1, 5, 6], watermark=6) == "lllk"


@pytest.mark.parametrize(
    "model",
    [
        wr.CountWindow(9),
        wr.SlideByTupleWindow(9, 1),
        wr.SlideByTimeWindow(9, 1),
        wr.DeltaWindow("d", 9, 1),
    ],
)
def test_where_tuples_are_ranked_every_late_one_is_lost(model: WindowModel) -> None:
    assert fates(model, [0, 8], watermark=9) == "ll"


def test_a_session_is_open_until_the_watermark_is_past_its_end() -> None:
    assert fates(wr.SessionWindow(5), [6, 7, 8], watermark=13) == "kkk"
    assert fates(wr.SessionWindow(5), [7], watermark=13) == "l"
    assert fates(wr.SessionWindow(5), [8], watermark=13) == "k"


def test_a_tuple_that_touches_an_open_session_is_kept() -> None:
    model = wr.SessionWindow(5)
    assert fates(model, [3], watermark=12, held=[[8]]) == "k"
    assert fates(model, [2], watermark=12, held=[[8]]) == "l"


def test_a_tuple_that_touches_one_through_others_is_kept() -> None:
    model = wr.SessionWindow(5)
    assert fates(model, [-7, -2, 3], watermark=12, held=[[8]]) == "kkk"
    assert fates(model, [-8, -2, 3], watermark=12, held=[[8]]) == "lkk"


def test_another_keys_session_is_no_help() -> None:
    held: list[list[int]] = [[], [8], [4]]
    found = fates_of_keys(wr.SessionWindow(5), [3, 3, 0, 9], [0, 1, 2, 0], 12, held)
    assert found == "lkkk"


def test_a_tuple_of_a_session_that_has_fired_is_lost() -> None:
    model = wr.SessionWindow(5)
    buffer = WindowBuffer()
    buffer.add_keys(2)
    buffer.append(np.array([0, 0, 1]), {AXIS: Stored(np.array([1, 2, 8]))})
    windower = windower_class(model)(model)
    windower.add_keys(np.zeros(2, np.int64))
    assert len(windower.fire(buffer, 8)) == 1
    late = windower.judge_late(np.array([3, 7, 3]), np.array([0, 0, 1]), 8, buffer)
    assert late.is_kept.tolist() == [False, False, True]
    assert late.is_lost.tolist() == [True, True, False]
