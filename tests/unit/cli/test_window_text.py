from __future__ import annotations

from dataclasses import is_dataclass

import pytest

import windrow as wr
from windrow.cli.window_text import window_of
from windrow.core import WindowModel

WRITTEN: list[tuple[str, WindowModel]] = [
    ("count 1000", wr.CountWindow(1000)),
    ("count 1000/25", wr.CountWindow(1000, 25)),
    (" count 1000 / 25 ", wr.CountWindow(1000, 25)),
    ("time 10 s", wr.TimeWindow("10 s")),
    ("time 10s/2s", wr.TimeWindow("10 s", "2 s")),
    ("time 1 hour 30 min/1 min origin -5 min", wr.TimeWindow("90 min", "1 min", "-5 min")),
    ("slide-by-tuple 1 min/100", wr.SlideByTupleWindow("1 min", 100)),
    ("slide-by-time 100/1 min", wr.SlideByTimeWindow(100, "1 min")),
    ("slide-by-time 9/1 h origin 1970-01-02", wr.SlideByTimeWindow(9, "1 h", "1 day")),
    ("delta km 5/1", wr.DeltaWindow("km", 5, 1)),
    ("delta km driven 5 / 0.5", wr.DeltaWindow("km driven", 5, 0.5)),
    ("session 30 min", wr.SessionWindow("30 min")),
    ("landmark 1 day/1 h", wr.LandmarkWindow("1 day", "1 h")),
]


@pytest.mark.parametrize(("text", "model"), WRITTEN)
def test_every_window_model_can_be_written(text: str, model: wr.WindowModel) -> None:
    assert window_of(text) == model


def test_no_window_model_is_left_out() -> None:
    models = {c for c in vars(wr).values() if isinstance(c, type) and issubclass(c, WindowModel)}
    assert {type(model) for _, model in WRITTEN} == {m for m in models if is_dataclass(m)}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("10 s", 'begin with the model, for example "time 10 s"'),
        ("cuont 5", r"not known: 'cuont'.\nHint: did you mean one of these .*: \['count'\]"),
        ("", "the window models are"),
        ("count", r"written as count LENGTH\[/SLIDE\]; got 'count'"),
        ("count 5/", "written as count"),
        ("count 5/5/5", "written as count"),
        ("count five", "must be a positive number of rows; got length='five'"),
        ("count 0", "got length=0"),
        ("count 5 origin 1 s", "written as count"),
        ("time 10", "with units; got length='10'"),
        ("session 1 s/2 s", "written as session GAP"),
        ("landmark 1 day", "written as landmark EVERY/SLIDE"),
        ("delta 5/1", "written as delta COLUMN LENGTH/SLIDE"),
        ("time 1 s origin soon", "origin='soon'"),
    ],
)
def test_wrong_text_is_refused_with_the_right_form(text: str, said: str) -> None:
    with pytest.raises(wr.WindrowError, match=said):
        window_of(text)
