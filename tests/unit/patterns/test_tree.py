from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import windrow as wr


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
