"""Patterns are written as the shortest call that makes them."""

from __future__ import annotations

import pytest

import windrow as wr
from windrow.patterns import Pattern

WRITTEN: dict[str, Pattern] = {
    "WinSeq()": wr.WinSeq(),
    "KeyFarm(4)": wr.KeyFarm(4, wr.WinSeq(), level=2),
    "KeyFarm(2, PaneFarm(2, 1), level=0)": wr.KeyFarm(2, wr.PaneFarm(2, 1), level=0),
    'WinFarm(4, workers="agnostic", batch=8)': wr.WinFarm(4, workers="agnostic", batch=8),
    "WinFarm(2, WinMapReduce(2, 1, level=1))": wr.WinFarm(2, wr.WinMapReduce(2, 1, level=1)),
    "KeyFarm(4, hot_keys=('ACME',), hot=WinFarm(4))": wr.KeyFarm(
        4, hot_keys=["ACME"], hot=wr.WinFarm(4)
    ),
}


@pytest.mark.parametrize(("text", "pattern"), WRITTEN.items(), ids=WRITTEN)
def test_a_pattern_is_written_as_its_shortest_call(text: str, pattern: Pattern) -> None:
    assert repr(pattern) == text
    assert eval(text, vars(wr)) == pattern
