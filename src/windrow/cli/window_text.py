"""Window models as text: ``count 1000/25``, ``time 10 s/2 s``, ``session 30 min``."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from windrow.core.errors import WindrowError, near_names
from windrow.core.models import (
    CountWindow,
    DeltaWindow,
    LandmarkWindow,
    SessionWindow,
    SlideByTimeWindow,
    SlideByTupleWindow,
    TimeWindow,
    WindowModel,
)


def _number(text: str) -> object:
    """The number, or else the text itself, which the model refuses."""
    try:
        return int(text) if re.fullmatch(r"[+-]?\d+", text) else float(text)
    except ValueError:
        return text


@dataclass(frozen=True)
class _Form:
    """How a model is written: its lengths are numbers, or durations, which are text with a unit."""

    written: str
    model: Callable[..., WindowModel]
    lengths: tuple[Callable[[str], object], ...]
    needed: int = 2

    @property
    def has_origin(self) -> bool:
        return "[origin" in self.written


_FORMS = {
    "count": _Form("count LENGTH[/SLIDE]", CountWindow, (_number, _number), 1),
    "time": _Form("time LENGTH[/SLIDE] [origin INSTANT]", TimeWindow, (str, str), 1),
    "slide-by-tuple": _Form("slide-by-tuple LENGTH/SLIDE", SlideByTupleWindow, (str, _number)),
    "slide-by-time": _Form(
        "slide-by-time LENGTH/SLIDE [origin INSTANT]", SlideByTimeWindow, (_number, str)
    ),
    "delta": _Form("delta COLUMN LENGTH/SLIDE", DeltaWindow, (_number, _number)),
    "session": _Form("session GAP", SessionWindow, (str,), 1),
    "landmark": _Form("landmark EVERY/SLIDE [origin INSTANT]", LandmarkWindow, (str, str)),
}


def window_of(text: str) -> WindowModel:
    """The window model that a text describes.

    >>> window_of("count 1000/25"), window_of("delta km 5 / 0.5")
    (CountWindow(1000, slide=25), DeltaWindow("km", length=5, slide=0.5))
    >>> window_of("landmark 1 day/1 h origin 2026-01-05")
    LandmarkWindow("1 day", slide="1 h", origin="20458 days")
    """
    kind, _, rest = text.strip().partition(" ")
    if kind not in _FORMS:
        rule = f"the window model is not known: {kind!r}"
        hint = near_names(kind, _FORMS, "window models")
        if kind[:1].isdigit():
            hint = 'begin with the model, for example "time 10 s" or "count 1000".'
        raise WindrowError(rule, hint=hint)
    form = _FORMS[kind]
    rest, has_origin, origin = rest.partition(" origin ")
    columns: list[str] = []
    if kind == "delta":
        column, _, rest = re.sub(r"\s*/\s*", "/", rest.strip()).rpartition(" ")
        columns = [column]
    lengths = [length.strip() for length in rest.split("/")]
    is_complete = form.needed <= len(lengths) <= len(form.lengths) and all([*columns, *lengths])
    if not is_complete or (has_origin and not form.has_origin):
        raise WindrowError(f"a {kind} window is written as {form.written}", repr(text))
    read = [read(length) for read, length in zip(form.lengths, lengths, strict=False)]
    return form.model(*columns, *read, **({"origin": _instant(origin)} if has_origin else {}))


def _instant(text: str) -> object:
    """A date and time, or else the text itself, which may be a duration since 1970."""
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        return text
