from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import windrow as wr
from windrow import functions as wf
from windrow.engine.stages.nodes import Workers
from windrow.patterns.windows import window_stages


@pytest.mark.parametrize("value", [0, -1, 1.5, "2", None, True])
@pytest.mark.parametrize(
    "build",
    [
        lambda v: wr.KeyFarm(v),
        lambda v: wr.WinFarm(v),
        lambda v: wr.PaneFarm(v, 1),
        lambda v: wr.PaneFarm(1, v),
        lambda v: wr.WinMapReduce(v, 1),
        lambda v: wr.WinMapReduce(1, v),
    ],
)
def test_degrees_are_positive_numbers_of_workers(build: Callable[[Any], Any], value: Any) -> None:
    with pytest.raises(wr.WindrowError, match="positive number of workers"):
        build(value)


@pytest.mark.parametrize("level", [-1, 3, "1", None, True])
def test_levels_are_0_1_or_2(level: Any) -> None:
    with pytest.raises(wr.WindrowError, match="level must be 0, 1 or 2"):
        wr.KeyFarm(2, level=level)


def test_nestings_of_the_papers() -> None:
    for farm in (wr.KeyFarm, wr.WinFarm):
        for inner in (wr.WinSeq(), wr.PaneFarm(2, 3), wr.WinMapReduce(2, 1)):
            assert farm(2, inner).inner == inner


@pytest.mark.parametrize("inner", [wr.KeyFarm(2), wr.WinFarm(2), "WinSeq", 3, None])
@pytest.mark.parametrize("farm", [wr.KeyFarm, wr.WinFarm])
def test_other_nestings_are_refused(farm: Callable[..., Any], inner: Any) -> None:
    with pytest.raises(wr.WindrowError, match=r"can only nest|must be a pattern"):
        farm(2, inner)


def test_workers_are_active_or_agnostic() -> None:
    with pytest.raises(wr.WindrowError, match='"active" or "agnostic"; got workers=\'lazy\''):
        wr.WinFarm(2, workers="lazy")  # type: ignore[arg-type]


def test_agnostic_workers_share_no_panes() -> None:
    """Mencagli 2018, Table 1: consecutive windows of an agnostic worker share no computation."""
    with pytest.raises(wr.WindrowError, match="whole windows, which share no panes"):
        wr.WinFarm(2, wr.PaneFarm(1, 1), workers="agnostic")


def test_worker_models_follow_the_context_of_windows() -> None:
    """Mencagli 2018, Figure 7; an emitter knows the past of no key, so sessions are agnostic."""
    stream = wr.stream({"k": [1], "t": [1], "x": [1]}).key_by("k").event_time("t")
    known: list[Any] = [wr.CountWindow(2), wr.TimeWindow(2), wr.LandmarkWindow(4, 2)]
    unknown = [wr.SessionWindow(2), wr.SlideByTupleWindow(2, 1), wr.SlideByTimeWindow(2, 1)]
    for model in [*known, *unknown]:
        query = stream.window(model).agg(n=wf.count())
        query.using(wr.WinFarm(2, workers="agnostic"))
        query.using(wr.KeyFarm(2))
        if model in known:
            query.using(wr.WinFarm(2))
            continue
        with pytest.raises(wr.WindrowError, match="active WinFarm workers need a row's windows"):
            query.using(wr.WinFarm(2))


def test_sessions_are_active_in_key_farms_and_agnostic_in_window_farms() -> None:
    stream = wr.stream({"k": [1], "t": [1], "x": [1]}).key_by("k").event_time("t")
    query = stream.window(wr.SessionWindow(2)).agg(n=wf.count()).window_query()

    def names(pattern: Any) -> list[str]:
        return [n.name for n in window_stages(query, pattern).nodes if isinstance(n, Workers)]

    assert names(wr.KeyFarm(2)) == ["WinSeq"]
    assert names(wr.WinFarm(2, workers="agnostic")) == ["Windower", "Executor"]
