"""The oracle: every window model by its definition, for reading and for testing against.

Nothing here is fast, and nothing is shared with the code it judges. Tuples are dicts, times are
integer microseconds (datetimes are converted), and a window is a list of tuples. Every extent is
written as in the papers (Mencagli 2018, section 2.2): as a condition on each tuple of the key.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, Literal, TypeAlias

from windrow.core.aggregate import Aggregate
from windrow.core.durations import Duration, instant, microseconds
from windrow.core.errors import WindrowError
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

Row: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class OracleWindow:
    """A window of one key, its tuples in order."""

    key: tuple[Any, ...]
    id: int
    start: Any
    end: Any
    rows: list[Row]


@dataclass(frozen=True)
class _Tuple:
    """A tuple with its time, if the query has one, and its delta attribute, if there is one."""

    row: Row
    time: int
    delta: Any


def windows(
    model: WindowModel,
    rows: Iterable[Row],
    *,
    key: Sequence[str] = (),
    time: str | None = None,
    order_by: Sequence[str] = (),
    delay: Duration = 0,
    open_windows: Literal["emit", "drop"] = "emit",
) -> list[OracleWindow]:
    """All non-empty windows of all keys; ``rows`` are in order of arrival.

    >>> rows = [{"t": 0}, {"t": 3}, {"t": 12}]
    >>> [(w.id, len(w.rows)) for w in windows(TimeWindow("10 us"), rows, time="t")]
    [(0, 2), (1, 1)]
    """
    rows = list(rows)
    placed = _place(model, rows, time, order_by)
    watermark = None
    if open_windows == "drop" and time is not None:
        times = [instant(r[time]) for r in rows if r[time] is not None]
        watermark = _final_watermark(times, microseconds(delay))
        placed = [t for t in placed if t.time < watermark]
    keys: dict[Any, tuple[tuple[Any, ...], list[_Tuple]]] = {}
    for t in placed:
        values = tuple(t.row[k] for k in key)
        identity = tuple("NaN" if v != v else v for v in values)
        keys.setdefault(identity, (values, []))[1].append(t)
    return [
        OracleWindow(values, id, start, end, [t.row for t in members])
        for values, tuples in keys.values()
        for id, start, end, members in _extents(model, tuples)
        if members and (open_windows == "emit" or _fires(model, end, len(members), watermark))
    ]


def query(
    model: WindowModel, rows: Iterable[Row], function: Callable[[list[Row]], Any], **how: Any
) -> list[tuple[tuple[Any, ...], int, Any, Any, Any]]:
    """``(key, id, start, end, function(tuples))`` for every window."""
    found = windows(model, rows, **how)
    return [(w.key, w.id, w.start, w.end, function(w.rows)) for w in found]


def aggregate(function: Aggregate[Any, Any, Any], rows: Iterable[Row]) -> Any:
    """The aggregate of a window's tuples, taken one at a time."""
    columns = function.columns
    if len(columns) == 1:
        return function.over(row[columns[0]] for row in rows)
    return function.over(tuple(row[c] for c in columns) for row in rows)


def watermarks(
    batches: Sequence[Iterable[Row]], time: str, delay: Duration = 0, *, of_own: bool = False
) -> list[float]:
    """W(N), the watermark that each batch of a stream moves to; -inf if there is none yet.

    W(N) = the greatest time in batches 0 to N-1, less the delay, in whole milliseconds. For a
    watermark of a query's own, it is the greatest time in batches 0 to N.
    """
    found = []
    for n in range(len(batches)):
        known = batches[: n + 1 if of_own else n]
        times = [instant(row[time]) for rows in known for row in rows if row[time] is not None]
        found.append(_final_watermark(times, microseconds(delay)))
    return [max(found[: n + 1]) for n in range(len(found))]


def late_rows(
    batches: Sequence[Iterable[Row]], time: str, delay: Duration = 0, *, of_own: bool = False
) -> list[list[Row]]:
    """The late rows of each batch: in batch N, those whose time is less than W(N-1).

    >>> batches = [[5_000, 9_000], [12_000, 6_000], [8_000, 6_000]]
    >>> stream = [[{"t": t} for t in batch] for batch in batches]
    >>> late_rows(stream, "t", "2 ms")
    [[], [], [{'t': 6000}]]
    >>> late_rows(stream, "t", "2 ms", of_own=True)
    [[], [{'t': 6000}], [{'t': 8000}, {'t': 6000}]]
    """
    before = [-math.inf, *watermarks(batches, time, delay, of_own=of_own)]
    return [
        [row for row in rows if row[time] is not None and instant(row[time]) < mark]
        for rows, mark in zip(batches, before, strict=False)
    ]


def join(
    left: Sequence[Row],
    right: Sequence[Row],
    predicate: Callable[[Row, Row], bool],
    *,
    within: Any,
    time: str | tuple[str, str] | None = None,
    how: str = "inner",
) -> list[tuple[Row | None, Row | None]]:
    """The rows of the window join, by nested loops; (x, None) is a row x without a match.

    ``within`` is one length or (left length, right length). A duration is a window by time, an
    integer is a number of tuples.

    By time, (x, y) is a result iff the predicate holds and time(x) >= time(y) - left length if x
    is older than y, time(y) >= time(x) - right length otherwise (DP-Join, Definition 4.1).

    By count, the tuples of both sides are put into one order: by time, then left before right,
    then by arrival. Without time, the i-th tuples of both sides arrive together. y sees the last
    ``left length`` left tuples before it, and x sees the last ``right length`` right tuples before
    it. (x, y) is a result iff the predicate holds and one of them sees the other.

    >>> join([{"t": 0}], [{"t": 5}, {"t": 6}], lambda x, y: True, within="5 us", time="t")
    [({'t': 0}, {'t': 5})]
    >>> join([{"a": 1}, {"a": 2}], [{"b": 3}, {"b": 4}], lambda x, y: True, within=1, how="semi")
    [({'a': 1}, None), ({'a': 2}, None)]
    """
    names = time if isinstance(time, tuple) else (time, time)
    sides = [_in_order(rows, name) for rows, name in zip((left, right), names, strict=True)]
    both = within if isinstance(within, tuple) else (within, within)
    if isinstance(both[0], int):
        near = _near_by_count(sides, both)
    else:
        near = _near_by_time(sides, [microseconds(w) for w in both])
    pairs = [
        (i, j)
        for i, (_, x) in enumerate(sides[0])
        for j, (_, y) in enumerate(sides[1])
        if near(i, j) and predicate(x, y)
    ]
    lefts, rights = {i for i, _ in pairs}, {j for _, j in pairs}
    if how in ("semi", "anti"):
        wanted = [i for i in range(len(sides[0])) if (i in lefts) == (how == "semi")]
        return [(sides[0][i][1], None) for i in wanted]
    rows: list[tuple[Row | None, Row | None]] = [(sides[0][i][1], sides[1][j][1]) for i, j in pairs]
    if how in ("left_outer", "full_outer"):
        rows += [(x, None) for i, (_, x) in enumerate(sides[0]) if i not in lefts]
    if how in ("right_outer", "full_outer"):
        rows += [(None, y) for j, (_, y) in enumerate(sides[1]) if j not in rights]
    return rows


def _in_order(rows: Sequence[Row], time: str | None) -> list[tuple[int, Row]]:
    """(time, tuple) of the tuples with a time, in order; without event time, by arrival."""
    if time is None:
        return list(enumerate(rows))
    timed = [(instant(row[time]), row) for row in rows if row[time] is not None]
    return sorted(timed, key=lambda t: t[0])


def _near_by_time(sides: list[list[tuple[int, Row]]], lengths: Sequence[int]) -> _Near:
    def near(i: int, j: int) -> bool:
        tx, ty = sides[0][i][0], sides[1][j][0]
        return tx >= ty - lengths[0] if tx < ty else ty >= tx - lengths[1]

    return near


def _near_by_count(sides: list[list[tuple[int, Row]]], lengths: Sequence[int]) -> _Near:
    merged = [(t, 0, i) for i, (t, _) in enumerate(sides[0])]
    merged += [(t, 1, j) for j, (t, _) in enumerate(sides[1])]
    merged.sort()
    seen: set[tuple[int, int]] = set()
    for place, (_, side, number) in enumerate(merged):
        others = [n for _, s, n in merged[:place] if s != side]
        for other in others[-lengths[1 - side] :]:
            seen.add((number, other) if side == 0 else (other, number))
    return lambda i, j: (i, j) in seen


_Near: TypeAlias = Callable[[int, int], bool]


def _place(
    model: WindowModel, rows: Iterable[Row], time: str | None, order_by: Sequence[str]
) -> list[_Tuple]:
    """The tuples that are not dropped, ordered by time, then ``order_by``, then arrival."""
    if model.needs_event_time and time is None:
        raise WindrowError(f"{type(model).__name__} needs an event time", hint="pass time=.")
    placed = []
    for row in rows:
        delta = row[model.on] if isinstance(model, DeltaWindow) else 0
        if delta is None or delta != delta or (time is not None and row[time] is None):
            continue
        placed.append(_Tuple(row, 0 if time is None else instant(row[time]), delta))
    return sorted(placed, key=lambda t: (t.time, [_rank(t.row[c]) for c in order_by]))


def _rank(value: Any) -> tuple[int, Any]:
    """A sort key for Spark's order: nulls first, NaN last."""
    if value is None:
        return 0, 0
    return (2, 0) if value != value else (1, value)


def _final_watermark(times: list[int], delay: int) -> float:
    return (max(times) - delay) // 1000 * 1000 if times else -math.inf


def _fires(model: WindowModel, end: Any, size: int, watermark: float | None) -> bool:
    """Whether a window over the tuples before the watermark has fired."""
    if isinstance(model, CountWindow):
        return size == model.length
    if isinstance(model, SlideByTupleWindow | DeltaWindow) or watermark is None:
        return True
    past_end: bool = end < watermark if isinstance(model, SessionWindow) else end <= watermark
    return past_end


_Extent: TypeAlias = tuple[int, Any, Any, list[_Tuple]]


@singledispatch
def _extents(model: WindowModel, tuples: list[_Tuple]) -> Iterator[_Extent]:
    """(id, start, end, tuples) of the windows of one key; some may be empty."""
    raise TypeError(f"no oracle for {model!r}")


@_extents.register
def _(model: CountWindow, tuples: list[_Tuple]) -> Iterator[_Extent]:
    for w in range(len(tuples)):
        start, end = w * model.slide, w * model.slide + model.length
        yield w, start, end, [t for i, t in enumerate(tuples) if start <= i < end]


@_extents.register
def _(model: TimeWindow, tuples: list[_Tuple]) -> Iterator[_Extent]:
    reach = model.length // model.slide + 1
    near = {(t.time - model.origin) // model.slide for t in tuples}
    for w in sorted({n - back for n in near for back in range(reach + 1)}):
        start = model.origin + w * model.slide
        end = start + model.length
        yield w, start, end, [t for t in tuples if start <= t.time < end]


@_extents.register
def _(model: SlideByTupleWindow, tuples: list[_Tuple]) -> Iterator[_Extent]:
    for w in range(len(tuples) // model.slide):
        end = tuples[(w + 1) * model.slide - 1].time
        start = end - model.length
        yield w, start, end, [t for t in tuples if start < t.time <= end]


@_extents.register
def _(model: SlideByTimeWindow, tuples: list[_Tuple]) -> Iterator[_Extent]:
    for m in sorted({(t.time - model.origin) // model.slide + 1 for t in tuples}):
        end = model.origin + m * model.slide
        members = [t for t in tuples if t.time < end][-model.length :]
        yield m, members[0].time, end, members


@_extents.register
def _(model: DeltaWindow, tuples: list[_Tuple]) -> Iterator[_Extent]:
    triggers: list[_Tuple] = []
    for t in tuples:
        if not triggers or t.delta - triggers[-1].delta > model.slide:
            triggers.append(t)
    for w, trigger in enumerate(triggers):
        start, end = trigger.delta - model.length, trigger.delta
        yield w, start, end, [t for t in tuples if start <= t.delta < end]


@_extents.register
def _(model: SessionWindow, tuples: list[_Tuple]) -> Iterator[_Extent]:
    sessions: list[list[_Tuple]] = []
    for t in tuples:
        if sessions and t.time - sessions[-1][-1].time <= model.gap:
            sessions[-1].append(t)
        else:
            sessions.append([t])
    for w, members in enumerate(sessions):
        yield w, members[0].time, members[-1].time + model.gap, members


@_extents.register
def _(model: LandmarkWindow, tuples: list[_Tuple]) -> Iterator[_Extent]:
    reach = model.every // model.slide + 1
    near = {(t.time - model.origin) // model.slide for t in tuples}
    for m in sorted({n + ahead for n in near for ahead in range(reach + 1)}):
        end = model.origin + m * model.slide
        k = (end - model.origin) // model.every
        if model.origin + k * model.every == end:
            k -= 1
        start = model.origin + k * model.every
        yield m, start, end, [t for t in tuples if start <= t.time < end]
