"""Late tuples: any disorder, batches and watermarks give what a naive simulation gives.

The simulation keeps all tuples and decides, step by step and by the definitions alone, which of
them are late, which windows those still find open, and which windows fire.
"""

from __future__ import annotations

import math
import pickle
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from hypothesis import event, given
from hypothesis import strategies as st

import windrow as wr
from tests.effort import examples
from tests.own_aggregates import Middle, Opening, Seen, Total
from tests.patterns import degrees, levels, patterns
from tests.streams import landmark_windows, models, time_windows
from windrow import functions as wf
from windrow.core import WindowModel, oracle
from windrow.engine.in_process import WindowRunner
from windrow.patterns import Pattern
from windrow.patterns.windows import window_stages

SCHEMA = pa.schema(
    [("k", pa.string()), *((name, pa.int64()) for name in ("t", "seq", "x", "d"))],
)
Row = dict[str, Any]
Fired = tuple[Any, int, Any, Any, tuple[int, ...]]
"""Key, id, start, end, and the ``x`` of the tuples in their order."""


@dataclass
class Step:
    """A batch, and where the watermark is after it; None for the end of the stream."""

    rows: list[Row]
    watermark: float | None


@dataclass
class Simulation:
    """The late semantics of one stream."""

    model: WindowModel
    watermark: float = -math.inf
    dropped: int = 0
    keys: dict[Any, list[Row]] = field(default_factory=dict)
    """The tuples of each key that were not dropped, in order."""
    fired: set[tuple[Any, int]] = field(default_factory=set)
    sessions: dict[Any, list[tuple[int, int]]] = field(default_factory=dict)
    """Start and end of the sessions of each key that have fired."""

    def push(self, rows: list[Row]) -> None:
        known = [row for row in rows if row["t"] is not None]
        self.dropped += len(rows) - len(known)
        for key in {row["k"] for row in known}:
            own = [row for row in known if row["k"] == key]
            on_time = [row for row in own if row["t"] >= self.watermark]
            late = [row for row in own if row["t"] < self.watermark]
            held = self.keys.setdefault(key, [])
            held.extend(on_time)
            held.extend(self.in_time(key, late))
            held.sort(key=lambda row: (row["t"], row["seq"], row["arrival"]))

    def in_time(self, key: Any, late: list[Row]) -> list[Row]:
        """The late tuples that find a window; the others are dropped."""
        if self.model.ranks_tuples:
            self.dropped += len(late)
            return []
        if isinstance(self.model, wr.SessionWindow):
            return self.in_session(key, late, self.model.gap)
        found = []
        for row in late:
            ends = [end for _, _, end in windows_of(self.model, row["t"])]
            row["since"] = self.watermark
            if any(end > self.watermark for end in ends):
                found.append(row)
            elif ends:
                self.dropped += 1
        return found

    def in_session(self, key: Any, late: list[Row], gap: int) -> list[Row]:
        """Those not past by themselves, or near one that is of an open session, and so on.

        Those near a row of a session that has fired belong to that session.
        """
        past = self.sessions.get(key, [])
        free = [
            row for row in late if not any(start - gap <= row["t"] <= end for start, end in past)
        ]
        kept = [row for row in free if row["t"] + gap >= self.watermark]
        rest = [row for row in free if row not in kept]
        while near := [
            row
            for row in rest
            if any(abs(row["t"] - other["t"]) <= gap for other in [*kept, *self.keys[key]])
        ]:
            kept += near
            rest = [row for row in rest if row not in near]
        self.dropped += len(late) - len(kept)
        return kept

    def advance(self, watermark: float) -> list[Fired]:
        self.watermark = max(self.watermark, watermark)
        return [fired for key in self.keys for fired in self.fire(key)]

    def fire(self, key: Any) -> Iterator[Fired]:
        if isinstance(self.model, wr.SessionWindow):
            yield from self.fire_sessions(key, self.model.gap)
        elif self.model.ranks_tuples:
            yield from self.fire_ranked(key)
        else:
            yield from self.fire_timed(key)

    def fire_sessions(self, key: Any, gap: int) -> Iterator[Fired]:
        runs: list[list[Row]] = []
        for row in self.keys[key]:
            if runs and row["t"] - runs[-1][-1]["t"] <= gap:
                runs[-1].append(row)
            else:
                runs.append([row])
        for run in runs:
            end = run[-1]["t"] + gap
            if end < self.watermark:
                fired = self.sessions.setdefault(key, [])
                assert all(last < run[0]["t"] for _, last in fired), "sessions overlap"
                yield key, len(fired), run[0]["t"], end, xs_of(run)
                fired.append((run[0]["t"], end))
                self.keys[key] = [row for row in self.keys[key] if row not in run]

    def fire_timed(self, key: Any) -> Iterator[Fired]:
        """A late tuple is in those of its windows that had not fired when it came."""
        members: dict[tuple[int, int, int], list[Row]] = {}
        for row in self.keys[key]:
            for window in windows_of(self.model, row["t"]):
                if window[2] > row.get("since", -math.inf):
                    members.setdefault(window, []).append(row)
        for (id, start, end), rows in members.items():
            if end <= self.watermark and (key, id) not in self.fired:
                self.fired.add((key, id))
                yield key, id, start, end, xs_of(rows)

    def fire_ranked(self, key: Any) -> Iterator[Fired]:
        """The definitions over the tuples the watermark has passed: none of them was late."""
        placed = [row for row in self.keys[key] if row["t"] < self.watermark]
        is_end = self.watermark == math.inf
        for w in oracle.windows(self.model, placed, time="t", order_by=["seq", "arrival"]):
            if isinstance(self.model, wr.CountWindow):
                is_fired = is_end or len(w.rows) == self.model.length
            else:
                is_fired = not isinstance(self.model, wr.SlideByTimeWindow) or (
                    w.end <= self.watermark
                )
            if is_fired and (key, w.id) not in self.fired:
                self.fired.add((key, w.id))
                yield key, w.id, w.start, w.end, xs_of(w.rows)


def windows_of(model: WindowModel, t: int) -> Iterator[tuple[int, int, int]]:
    """Id, start and end of the time or landmark windows around a time, one by one."""
    if isinstance(model, wr.TimeWindow):
        near = (t - model.origin) // model.slide
        for id in range(near - model.length // model.slide - 1, near + 2):
            start = model.origin + id * model.slide
            if start <= t < start + model.length:
                yield id, start, start + model.length
    else:
        assert isinstance(model, wr.LandmarkWindow)
        landmark = model.origin + (t - model.origin) // model.every * model.every
        for step in range(1, model.every // model.slide + 1):
            end = landmark + step * model.slide
            if t < end:
                yield (end - model.origin) // model.slide, landmark, end


def xs_of(rows: Iterable[Any]) -> tuple[int, ...]:
    return tuple(row["x"] for row in rows)


@st.composite
def streams(draw: st.DrawFn) -> list[Step]:
    """Batches of tuples at any time around a watermark that moves on."""
    keys: list[list[str | None]] = [["a"], ["a", "b", None], [*"abcdef"]]
    key = st.sampled_from(draw(st.sampled_from(keys)))
    spread = draw(st.sampled_from([6, 20, 60]))
    steps, center, arrival = [], draw(st.integers(-30, 30)), 0
    watermark: int | None = None
    for _ in range(draw(st.integers(1, 6))):
        rows: list[Row] = []
        for _ in range(draw(st.integers(0, 8))):
            t = draw(st.integers(center - spread, center + spread // 2))
            time = None if draw(st.integers(0, 20)) == 20 else t
            seq = draw(st.integers(0, 2))
            rows.append({"k": draw(key), "t": time, "seq": seq, "x": arrival, "d": t // 2})
            rows[-1]["arrival"] = arrival
            arrival += 1
        center += draw(st.integers(0, spread))
        if draw(st.booleans()):
            moved = center - draw(st.integers(0, spread))
            watermark = moved if watermark is None else max(moved, watermark)
        steps.append(Step(rows, watermark))
    return [*steps, Step([], None)]


def run(
    query: wr.Query, pattern: Pattern, steps: list[Step], stops: list[bool]
) -> tuple[list[list[pa.Table]], int]:
    """What each step fires, and how many tuples were dropped."""
    complete = query.window_query()
    stages = window_stages(complete, pattern)
    runner, fired = WindowRunner(complete, stages), []
    for step, is_stopped in zip(steps, stops, strict=True):
        found = runner.push(pa.Table.from_pylist(step.rows, SCHEMA))
        if step is steps[-1]:
            found += runner.finish()
        elif step.watermark is not None:
            found += runner.advance(int(step.watermark))
        fired.append(found)
        if is_stopped:
            snapshot = pickle.loads(pickle.dumps(runner.snapshot()))
            runner = WindowRunner(complete, stages)
            runner.restore(snapshot)
    return fired, runner.dropped


def results(tables: list[pa.Table]) -> Counter[tuple[Any, ...]]:
    found: Counter[tuple[Any, ...]] = Counter()
    for table in tables:
        columns = [
            c.cast(pa.int64()).to_pylist() if pa.types.is_timestamp(c.type) else c.to_pylist()
            for c in table.columns
        ]
        for row in zip(*columns, strict=True):
            found[tuple(tuple(v) if isinstance(v, list) else v for v in row)] += 1
    return found


class Trail(wr.Aggregate[int, str, str]):
    """A custom aggregate whose result depends on the order of tuples."""

    returns = "string"

    def lift(self, value: int) -> str:
        return f"{value} "

    def combine(self, a: str, b: str) -> str:
        return a + b

    def lower(self, partial: str) -> str:
        return partial


def tuples_of(query: wr.Query) -> wr.Query:
    return query.agg(xs=wf.collect("x"), n=wf.count())


def sums_of(query: wr.Query) -> wr.Query:
    return query.agg(n=wf.count(), total=wf.sum("x"), most=wf.max("x"))


def seen_by(query: wr.Query) -> wr.Query:
    return query.apply(lambda w: {"xs": w["x"].tolist()}, "xs array<bigint>")


def trail_of(query: wr.Query) -> wr.Query:
    return query.agg(trail=Trail("x"))


def own_of(query: wr.Query) -> wr.Query:
    return query.agg(total=Total("x"), seen=Seen("x"), opening=Opening("x"))


def middles_of(query: wr.Query) -> wr.Query:
    return query.agg(middle=Middle("x"), opening=Opening("x"), total=Total("x"))


def folded(query: wr.Query) -> wr.Query:
    def add(found: Any, row: Any) -> Any:
        found["xs"].append(row["x"])
        return found

    return query.fold(add, {"xs": []}, "xs array<bigint>")


def in_pieces(query: wr.Query) -> wr.Query:
    return query.decompose(
        partial=lambda w: {"xs": w["x"].tolist()},
        combine=lambda parts: {"xs": sorted(x for p in parts for x in p["xs"])},
        partial_returns="xs array<bigint>",
        returns="xs array<bigint>",
    )


EXPECTED: dict[Any, Any] = {
    tuples_of: lambda xs: (xs, len(xs)),
    sums_of: lambda xs: (len(xs), sum(xs), max(xs)),
    seen_by: lambda xs: (xs,),
    in_pieces: lambda xs: (tuple(sorted(xs)),),
    own_of: lambda xs: (sum(xs), tuple(sorted(xs)), xs[0]),
    middles_of: lambda xs: (xs[len(xs) // 2], xs[0], sum(xs)),
    folded: lambda xs: (xs,),
    trail_of: lambda xs: ("".join(f"{x} " for x in xs),),
}


def check(
    data: st.DataObject,
    model: WindowModel,
    steps: list[Step],
    computes: list[Any],
    trees: st.SearchStrategy[Pattern] | None = None,
) -> None:
    base = wr.stream(SCHEMA.empty_table()).key_by("k").event_time("t").order_by("seq")
    compute = data.draw(st.sampled_from(computes))
    query = compute(base.window(model))
    legal = patterns(model, query.computation.is_decomposable) if trees is None else trees
    pattern = data.draw(legal)
    query.using(pattern)
    event(type(pattern).__name__)
    stops = data.draw(st.lists(st.booleans(), min_size=len(steps), max_size=len(steps)))
    fired, dropped = run(query, pattern, steps, stops)

    simulation = Simulation(model)
    for i, (step, tables) in enumerate(zip(steps, fired, strict=True)):
        simulation.push(step.rows)
        watermark = math.inf if i == len(steps) - 1 else step.watermark
        found = simulation.advance(-math.inf if watermark is None else watermark)
        expected = Counter((*window, *EXPECTED[compute](xs)) for *window, xs in found)
        assert results(tables) == expected, f"step {i}"
    assert dropped == simulation.dropped
    event(f"dropped: {dropped > 0}")


@examples(700)
@given(st.data(), models, streams())
def test_late_tuples(data: st.DataObject, model: WindowModel, steps: list[Step]) -> None:
    check(data, model, steps, [tuples_of, sums_of, seen_by, in_pieces, own_of, folded])


@st.composite
def batches(draw: st.DrawFn) -> list[list[Row]]:
    times = st.lists(st.none() | st.integers(-9, 9).map(lambda t: 700 * t), max_size=4)
    drawn = draw(st.lists(times, min_size=1, max_size=6))
    return [
        [{"k": "a", "t": t and t + 2_000 * n, "seq": 0, "x": 0, "d": 0} for t in batch]
        for n, batch in enumerate(drawn)
    ]


@examples(150)
@given(batches(), st.booleans(), st.sampled_from([0, 1_000, 2_500]))
def test_late_rows_are_those_of_the_oracle(
    drawn: list[list[Row]], of_own: bool, delay: int
) -> None:
    """Windows of one row lose exactly the late rows, and those without a time."""
    query = wr.stream(SCHEMA.empty_table()).event_time("t").window(wr.CountWindow(1))
    complete = query.agg(n=wf.count()).window_query()
    runner = WindowRunner(complete, window_stages(complete, wr.WinSeq()))
    late = oracle.late_rows(drawn, "t", delay, of_own=of_own)
    expected = 0
    for n, mark in enumerate(oracle.watermarks(drawn, "t", delay, of_own=of_own)):
        runner.push(pa.Table.from_pylist(drawn[n], SCHEMA))
        if mark != -math.inf:
            runner.advance(int(mark))
        expected += len(late[n]) + sum(row["t"] is None for row in drawn[n])
        assert runner.dropped == expected


farms: st.SearchStrategy[Pattern] = st.builds(wr.KeyFarm, degrees, level=levels) | st.builds(
    wr.WinFarm, degrees, workers=st.sampled_from(["active", "agnostic"]), level=levels
)


@examples(150)
@given(st.data(), time_windows | landmark_windows, streams())
def test_late_tuples_of_functions_that_mind_the_order(
    data: st.DataObject, model: WindowModel, steps: list[Step]
) -> None:
    check(data, model, steps, [trail_of, middles_of, folded], farms)
