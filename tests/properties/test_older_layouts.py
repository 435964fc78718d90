"""Streams go on from state in the layout of format 3, in which panes and parts held tuples."""

from __future__ import annotations

import math
import pickle
from collections import Counter
from typing import Any

import pyarrow as pa
from hypothesis import event, given
from hypothesis import strategies as st

import windrow as wr
from tests.effort import examples
from tests.patterns import degrees, levels
from tests.properties.test_late_tuples import (
    EXPECTED,
    SCHEMA,
    Simulation,
    Step,
    results,
    streams,
    sums_of,
)
from tests.streams import landmark_windows, time_windows
from windrow.core import WindowModel
from windrow.engine.in_process import WindowRunner
from windrow.engine.stages.nodes import Stages
from windrow.patterns import Pattern
from windrow.patterns.levels import group
from windrow.patterns.setting import Setting
from windrow.patterns.windows import nodes_of, window_stages

inner: st.SearchStrategy[Pattern] = st.builds(
    wr.PaneFarm, degrees, degrees, level=levels
) | st.builds(wr.WinMapReduce, degrees, degrees, level=levels)
farms: st.SearchStrategy[Pattern] = st.one_of(
    inner,
    st.builds(wr.KeyFarm, degrees, inner, level=levels),
    st.builds(wr.WinFarm, degrees, inner, batch=st.integers(1, 3), level=levels),
)


def older_stages(query: Any, pattern: Pattern) -> Stages:
    """The stages of format 3."""
    setting = Setting(query, "stream")
    setting.farms_partials = False
    return group(pattern, nodes_of(setting, pattern))


@examples(300)
@given(st.data(), time_windows | landmark_windows, streams(), farms)
def test_state_that_holds_tuples_goes_on(
    data: st.DataObject, model: WindowModel, steps: list[Step], pattern: Pattern
) -> None:
    base = wr.stream(SCHEMA.empty_table()).key_by("k").event_time("t").order_by("seq")
    query = sums_of(base.window(model)).using(pattern).window_query()
    runner = WindowRunner(query, older_stages(query, pattern))
    changed = data.draw(st.integers(0, len(steps) - 1))
    stops = data.draw(st.lists(st.booleans(), min_size=len(steps), max_size=len(steps)))
    event(type(pattern).__name__)
    simulation = Simulation(model)
    for number, step in enumerate(steps):
        if number == changed or (number > changed and stops[number]):
            snapshot = pickle.loads(pickle.dumps(runner.snapshot()))
            runner = WindowRunner(query, window_stages(query, pattern))
            runner.restore(snapshot)
        found = runner.push(pa.Table.from_pylist(step.rows, SCHEMA))
        simulation.push(step.rows)
        watermark = -math.inf if step.watermark is None else step.watermark
        if step is steps[-1]:
            found, watermark = found + runner.finish(), math.inf
        elif step.watermark is not None:
            found += runner.advance(int(step.watermark))
        fired = simulation.advance(watermark)
        expected = Counter((*window, *EXPECTED[sums_of](xs)) for *window, xs in fired)
        assert results(found) == expected, f"step {number}"
    assert runner.dropped == simulation.dropped
