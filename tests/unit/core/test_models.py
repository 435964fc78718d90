from __future__ import annotations

import pickle
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest

import windrow as wr
from windrow import functions as wf
from windrow.core import Context, WindowModel

NOT_COUNTS: list[Any] = [0, -1, 2.5, "1 s", "10", timedelta(seconds=1), True]
NOT_DURATIONS: list[Any] = [0, -1, "0 ms", "-1 s", 2.5, "1.5 s", "soon", True, timedelta(0)]
NOT_CHANGES: list[Any] = [0, -1, 0.0, -0.5, float("nan"), float("inf"), "1 s", True, None]

BAD: list[tuple[str, Callable[[Any], Any], list[Any]]] = [
    ("CountWindow length", lambda v: wr.CountWindow(v), [*NOT_COUNTS, None]),
    ("CountWindow slide", lambda v: wr.CountWindow(10, slide=v), NOT_COUNTS),
    ("TimeWindow length", lambda v: wr.TimeWindow(v), [*NOT_DURATIONS, None]),
    ("TimeWindow slide", lambda v: wr.TimeWindow("1 s", slide=v), NOT_DURATIONS),
    ("TimeWindow origin", lambda v: wr.TimeWindow("1 s", origin=v), ["now", 1.5, None]),
    ("SlideByTupleWindow length", lambda v: wr.SlideByTupleWindow(v, 5), NOT_DURATIONS),
    ("SlideByTupleWindow slide", lambda v: wr.SlideByTupleWindow("1 s", v), [*NOT_COUNTS, None]),
    ("SlideByTimeWindow length", lambda v: wr.SlideByTimeWindow(v, "1 s"), NOT_COUNTS),
    ("SlideByTimeWindow slide", lambda v: wr.SlideByTimeWindow(5, v), [*NOT_DURATIONS, None]),
    ("DeltaWindow length", lambda v: wr.DeltaWindow("d", v, 1), NOT_CHANGES),
    ("DeltaWindow slide", lambda v: wr.DeltaWindow("d", 1, v), NOT_CHANGES),
    ("SessionWindow gap", lambda v: wr.SessionWindow(v), NOT_DURATIONS),
    ("LandmarkWindow every", lambda v: wr.LandmarkWindow(v, "1 s"), NOT_DURATIONS),
    ("LandmarkWindow slide", lambda v: wr.LandmarkWindow("1 s", v), NOT_DURATIONS),
]


@pytest.mark.parametrize(
    ("what", "build", "value"),
    [(what, build, value) for what, build, values in BAD for value in values],
)
def test_bad_spec_is_refused_with_rule_and_value(
    what: str, build: Callable[[Any], Any], value: Any
) -> None:
    with pytest.raises(wr.WindrowError) as e:
        build(value)
    assert what in str(e.value)
    assert f"{what.split()[1]}={value!r}" in str(e.value)


def test_message_has_rule_value_and_hint() -> None:
    with pytest.raises(wr.WindrowError) as e:
        wr.CountWindow(10, slide=0)
    assert str(e.value) == (
        "CountWindow slide must be a positive number of rows; got slide=0.\n"
        "Hint: leave slide out for tumbling windows."
    )


def test_landmark_every_must_be_a_multiple_of_slide() -> None:
    with pytest.raises(wr.WindrowError, match="multiple of slide; got every='10 s', slide='3 s'"):
        wr.LandmarkWindow("10 s", "3 s")


@pytest.mark.parametrize(
    ("model", "context", "pane_length"),
    [
        (wr.CountWindow(10, 4), Context.CF, 2),
        (wr.TimeWindow("1 s", "10 ms"), Context.CF, 10_000),
        (wr.LandmarkWindow("1 hour", "1 min"), Context.CF, 60_000_000),
        (wr.SessionWindow("1 s"), Context.FCF, None),
        (wr.SlideByTupleWindow("1 s", 3), Context.FCA, None),
        (wr.SlideByTimeWindow(3, "1 s"), Context.FCA, None),
        (wr.DeltaWindow("d", 2.5, 1), Context.FCA, None),
    ],
)
def test_taxonomy_and_panes(model: WindowModel, context: Context, pane_length: int | None) -> None:
    assert model.context is context
    assert model.pane_length == pane_length
    assert pickle.loads(pickle.dumps(model)) == model


def test_models_are_values() -> None:
    assert wr.TimeWindow("1 s") == wr.TimeWindow(timedelta(seconds=1), slide=1_000_000)
    assert wr.TimeWindow("1 s", origin=datetime(1970, 1, 1, 0, 0, 5)).origin == 5_000_000
    assert hash(wr.CountWindow(5)) == hash(wr.CountWindow(5, 5))
    with pytest.raises(AttributeError):
        wr.CountWindow(5).length = 6  # type: ignore[misc]


def windows(model: WindowModel, timeline: str) -> list[str]:
    """The windows over a timeline: one character a microsecond, a digit that many ties."""
    times = [i for i, c in enumerate(timeline) if c.isdigit() for _ in range(int(c))]
    places = range(len(times))

    def shown(w: wr.Window) -> dict[str, str]:
        return {"w": f"{w.id}: {w.start}..{w.end} #{w['place'][0]}-{w['place'][-1] + 1}"}

    columns = {"t": np.array(times, np.int64), "d": np.array(times, np.int64)}
    stream = wr.stream({**columns, "place": np.array(places, np.int64)}).event_time("t")
    found: list[str] = stream.window(model).apply(shown, "w string").collect()["w"].to_pylist()
    return found


#            0123456789012345
TIMELINE = " 1 1  2    1    1"
# positions   0 1  2,3  4    5


def test_count_windows() -> None:
    assert windows(wr.CountWindow(4, 3), TIMELINE) == ["0: 0..4 #0-4", "1: 3..7 #3-6"]


def test_hopping_count_windows_skip_tuples() -> None:
    assert windows(wr.CountWindow(1, 4), TIMELINE) == ["0: 0..1 #0-1", "1: 4..5 #4-5"]


def test_time_windows() -> None:
    assert windows(wr.TimeWindow(10, 5), TIMELINE) == [
        "-1: -5..5 #0-2",
        "0: 0..10 #0-4",
        "1: 5..15 #2-5",
        "2: 10..20 #4-6",
        "3: 15..25 #5-6",
    ]


def test_hopping_time_windows_leave_gaps() -> None:
    assert windows(wr.TimeWindow(2, 8, origin=3), TIMELINE) == ["0: 3..5 #1-2", "1: 11..13 #4-5"]


def test_slide_by_tuple_windows_include_ties_after_the_trigger() -> None:
    assert windows(wr.SlideByTupleWindow(3, 3), TIMELINE) == ["0: 3..6 #2-4", "1: 13..16 #5-6"]


def test_slide_by_time_windows_exist_where_the_slide_had_a_tuple() -> None:
    assert windows(wr.SlideByTimeWindow(3, 4), TIMELINE) == [
        "1: 1..4 #0-2",
        "2: 3..8 #1-4",
        "3: 6..12 #2-5",
        "5: 6..20 #3-6",
    ]


def test_session_neighbours_may_be_exactly_gap_apart() -> None:
    assert windows(wr.SessionWindow(3), TIMELINE) == [
        "0: 1..9 #0-4",
        "1: 11..14 #4-5",
        "2: 16..19 #5-6",
    ]


def test_landmark_windows_end_at_their_landmark() -> None:
    assert windows(wr.LandmarkWindow(8, 4), TIMELINE) == [
        "1: 0..4 #0-2",
        "2: 0..8 #0-4",
        "3: 8..12 #4-5",
        "4: 8..16 #4-5",
        "5: 16..20 #5-6",
        "6: 16..24 #5-6",
    ]


def test_delta_windows_exclude_their_trigger() -> None:
    assert windows(wr.DeltaWindow("d", 6, 4), TIMELINE) == [
        "1: 0..6 #0-2",
        "2: 5..11 #2-4",
        "3: 10..16 #4-5",
    ]


def test_decreasing_delta_attribute_is_an_error() -> None:
    with pytest.raises(wr.WindrowError, match="never decreases within a key: 'd', key None; got 1"):
        table = {"d": np.array([0, 2, 1])}
        wr.stream(table).window(wr.DeltaWindow("d", 1, 1)).agg(n=wf.count()).collect()


@pytest.mark.parametrize(
    "model",
    [
        wr.CountWindow(2),
        wr.TimeWindow(2),
        wr.SessionWindow(2),
        wr.LandmarkWindow(2, 1),
        wr.SlideByTimeWindow(2, 2),
        wr.SlideByTupleWindow(2, 2),
        wr.DeltaWindow("d", 2, 2),
    ],
)
def test_no_tuples_no_windows(model: WindowModel) -> None:
    assert windows(model, "") == []


def test_a_model_with_panes_must_define_them() -> None:
    class Paned(wr.MappedWindow):
        axis, ranks_tuples, pane_length = wr.Axis.TIME, False, 1

        def mapping(self, position: Any) -> Any: ...

        def bounds(self, ids: Any) -> Any: ...

    for method in ("panes", "in_panes"):
        with pytest.raises(wr.WindrowError, match=rf"must define {method}\(\); got Paned"):
            getattr(Paned(), method)()


@pytest.mark.parametrize(
    ("model", "written"),
    [
        (wr.CountWindow(1000), "CountWindow(1000)"),
        (wr.CountWindow(1000, 25), "CountWindow(1000, slide=25)"),
        (wr.TimeWindow("10 s"), 'TimeWindow("10 s")'),
        (wr.TimeWindow("1 day", "90 min"), 'TimeWindow("1 day", slide="90 min")'),
        (wr.TimeWindow("3 days", origin="-6 h"), 'TimeWindow("3 days", origin="-6 h")'),
        (wr.SlideByTupleWindow("1 min", 100), 'SlideByTupleWindow("1 min", slide=100)'),
        (wr.SlideByTimeWindow(100, 1), 'SlideByTimeWindow(100, slide="1 us")'),
        (wr.DeltaWindow("km", 5, 0.5), 'DeltaWindow("km", length=5, slide=0.5)'),
        (wr.SessionWindow("1500 ms"), 'SessionWindow("1500 ms")'),
        (wr.LandmarkWindow("1 day", "1 h"), 'LandmarkWindow("1 day", slide="1 h")'),
        (
            wr.LandmarkWindow("1 day", "1 h", origin=datetime(2026, 1, 5)),
            'LandmarkWindow("1 day", slide="1 h", origin="20458 days")',
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_model_prints_as_the_call_that_makes_it(model: WindowModel, written: str) -> None:
    assert repr(model) == written
    assert eval(written, vars(wr)) == model
