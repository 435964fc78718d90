"""The panes of a window farm's instances (Mencagli 2019, section V.A and Table 3)."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.own_aggregates import Total
from tests.streams import count_windows, landmark_windows, time_windows
from windrow import functions as wf
from windrow.core import IntervalWindow
from windrow.engine.state.identity import describe
from windrow.engine.state.mismatch import refuse_mismatch
from windrow.engine.windows.farm_panes import FarmPanes
from windrow.engine.workers.paned import PaneLevelWorker

intervals = time_windows | landmark_windows | count_windows


@given(intervals, st.integers(1, 5), st.integers(1, 3), st.integers(0, 4), st.integers(0, 4))
def test_no_window_of_an_instance_cuts_a_pane_apart(
    model: IntervalWindow, n: int, batch: int, instance: int, shift: int
) -> None:
    instance, shift = instance % n, shift % n
    panes = FarmPanes.of(model, n, batch)
    positions = np.arange(0 if model.ranks_tuples else -40, 80)
    shifts = np.full(len(positions), shift)
    first, last = model.mapping(positions)
    own = [
        {i for i in range(a, b + 1) if (shift + i // batch) % n == instance}
        for a, b in zip(first.tolist(), last.tolist(), strict=True)
    ]
    of_pane: dict[int, set[int]] = {}
    for pane, windows in zip(panes.numbers(positions, shifts, instance).tolist(), own, strict=True):
        assert of_pane.setdefault(pane, windows) == windows
    starts, ends = panes.windows().bounds(panes.numbers(positions, shifts, instance))
    assert (starts <= positions).all() and (positions < ends).all()


@given(time_windows | count_windows, st.integers(1, 5))
def test_panes_have_the_gcd_of_the_length_and_the_private_slide(
    model: IntervalWindow, n: int
) -> None:
    start, end = FarmPanes.of(model, n, 1).windows().bounds(np.arange(1))
    assert end - start == math.gcd(model.length, n * model.slide)


@given(time_windows | count_windows, st.integers(1, 5), st.integers(2, 4))
def test_panes_of_batches_have_the_gcd_of_length_and_slide(
    model: IntervalWindow, n: int, batch: int
) -> None:
    start, end = FarmPanes.of(model, n, batch).windows().bounds(np.arange(1))
    assert end - start == math.gcd(model.length, model.slide)


@pytest.mark.parametrize("model", [wr.TimeWindow(12, 2), wr.CountWindow(12, 2)], ids=str)
def test_an_instance_computes_fewer_panes_the_more_instances_there_are(
    model: IntervalWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    """120 tuples have 60 panes of 2, but 20 or so of 6."""
    table = pa.table({"k": ["a"] * 120, "t": range(120), "x": range(120)})
    query = wr.stream(table).key_by("k").event_time("t").window(model).agg(n=Total("x"))
    given: list[int] = []
    give = PaneLevelWorker.give

    def counted(self, columns, windows):  # type: ignore[no-untyped-def]
        given.append(len(windows))
        return give(self, columns, windows)

    monkeypatch.setattr(PaneLevelWorker, "give", counted)
    panes = {}
    for n in (1, 2, 3):
        given.clear()
        found = query.using(wr.WinFarm(n, wr.PaneFarm(2, 2))).ordered().collect()
        assert found.equals(query.using(wr.WinSeq()).ordered().collect())
        panes[n] = sum(given) / n
    assert panes[1] == 60
    assert panes[2] <= 31
    assert panes[3] <= 21


def test_checkpoints_with_other_panes_rankers_or_chains_are_refused() -> None:
    table = pa.table({"t": [1], "x": [1]})
    query = wr.stream(table).event_time("t").window(wr.TimeWindow(12, 2)).agg(n=wf.count())
    now = describe(query.window_query(), wr.WinFarm(3, wr.PaneFarm(2, 2)))
    before = {name: value for name, value in now.items() if name != "panes"}
    refuse_mismatch(now, now)
    with pytest.raises(wr.WindrowError, match="the version of Windrow, that wrote it") as refused:
        refuse_mismatch(before, now)
    assert 'panes: was "gcd(length, slide)", is "gcd(length, 3*slide)"' in str(refused.value)
    counted = wr.stream(table).key_by("x").window(wr.CountWindow(2)).agg(n=wf.count())
    now = describe(counted.window_query(), wr.WinFarm(3))
    with pytest.raises(wr.WindrowError, match="rankers: was 1, is 3"):
        refuse_mismatch({n: v for n, v in now.items() if n != "rankers"}, now)
    with pytest.raises(wr.WindrowError, match='is "PLQ, WLQ"'):
        refuse_mismatch(now, {**now, "stored_together": ["PLQ, WLQ"]})
    batched = describe(query.window_query(), wr.WinFarm(3, wr.PaneFarm(2, 2), batch=2))
    assert "panes" not in batched
