"""The invariant: whatever the layout, the strategy and the batches, a join gives the oracle's rows.

For every predicate, window, how, layout and strategy, stopped and taken up again between any two
batches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from random import Random
from typing import Any
from unittest.mock import patch

import pyarrow as pa
from hypothesis import event, given
from hypothesis import strategies as st

import windrow as wr
from tests.effort import examples
from windrow.core import oracle
from windrow.core.watermark import final_watermark
from windrow.engine.joins import slices, window_runs
from windrow.engine.joins.in_process import JoinRunner
from windrow.kernels import band_join

SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("t", pa.int64()),
        ("k", pa.string()),
        ("i", pa.int64()),
        ("j", pa.int32()),
        ("f", pa.float64()),
    ]
)
Rows = list[dict[str, Any]]
NAN = float("nan")


@dataclass(frozen=True)
class On:
    """A predicate, and the same of two rows."""

    predicate: wr.Predicate
    holds: Callable[[Any, Any], bool]

    def __and__(self, other: On) -> On:
        both = self.holds, other.holds
        return On(self.predicate & other.predicate, lambda x, y: both[0](x, y) and both[1](x, y))


def equal(a: Any, b: Any) -> bool:
    if a is None or b is None:
        return False
    return bool(a == b or (a != a and b != b))


def near(a: Any, b: Any, below: float, above: float) -> bool:
    if a is None or b is None:
        return False
    return bool(-below <= b - a <= above)


def equi_on(left: str, right: str) -> On:
    given = left if left == right else (left, right)
    return On(wr.equi(given), lambda x, y: equal(x[left], y[right]))


def band_on(left: str, right: str, below: float, above: float) -> On:
    extent = below if below == above else (below, above)
    made = wr.band((left, right), extent)
    return On(made, lambda x, y: near(x[left], y[right], below, above))


def theta_on(number: int) -> On:
    if number == 0:
        return On(
            wr.theta(lambda x, y: (x["id"] + y["id"]) % 3 == 0),
            lambda x, y: (x["id"] + y["id"]) % 3 == 0,
        )
    return On(
        wr.theta(lambda x, y: x["i"] * 2.0 > y["f"]),
        lambda x, y: x["i"] is not None and y["f"] is not None and x["i"] * 2.0 > y["f"],
    )


equis = st.sampled_from(["k", "i", "f", "j"]).map(lambda c: equi_on(c, c)) | st.sampled_from(
    [("i", "j"), ("j", "f"), ("f", "i")]
).map(lambda pair: equi_on(*pair))
extents = st.sampled_from(
    [(0, 0), (1, 1), (2, 5), (0.1, 0.1), (0.25, 2.5), (-1, 3), (3, -2), (float("inf"), 0)]
)
bands = st.builds(
    lambda pair, extent: band_on(*pair, *extent),
    st.sampled_from([("i", "i"), ("f", "f"), ("i", "j"), ("i", "f"), ("f", "j")]),
    extents,
)
thetas = st.integers(0, 1).map(theta_on)


@st.composite
def predicates(draw: st.DrawFn) -> On:
    parts = draw(st.lists(equis | bands | bands | thetas, min_size=1, max_size=3))
    made = parts[0]
    for part in parts[1:]:
        made = made & part
    return made


lengths = st.sampled_from([1, 2, 3, 5, 8, 12, 30])
windows_of_time = lengths.map(lambda n: f"{n} ms") | st.tuples(lengths, lengths).map(
    lambda both: (f"{both[0]} ms", f"{both[1]} ms")
)
windows_by_count = lengths | st.tuples(lengths, lengths)
hows: st.SearchStrategy[Any] = st.sampled_from(
    ["inner", "inner", "left_outer", "right_outer", "full_outer", "semi", "anti"]
)


@st.composite
def layouts(draw: st.DrawFn, on: wr.Predicate) -> dict[str, Any]:
    kind = draw(st.sampled_from(["pair", "named", "degree", "rates", "partitions", "one"]))
    if kind == "pair":
        return {"layout": draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))}
    if kind == "named":
        name = draw(st.sampled_from(["linear", "square", "rectangular"]))
        return {"layout": name, "degree": draw(st.sampled_from([1, 4]))}
    if kind == "degree":
        return {"degree": draw(st.integers(1, 6))}
    if kind == "rates":
        # The planner chooses the layout by the rates.
        rates = draw(st.sampled_from([(1, 1), (1, 1000), (1000, 3000), (5, 1)]))
        return {"rates": rates, "degree": draw(st.integers(1, 6))}
    is_partitionable = any(term.partitioned_by is not None for term in on.terms)
    if kind == "partitions" and is_partitionable:
        return {
            "partitions": draw(st.integers(1, 4)),
            "layout": draw(st.sampled_from([(1, 2), (2, 1), (2, 2)])),
        }
    return {}


degrees: st.SearchStrategy[dict[str, Any]] = st.builds(dict, degree=st.none() | st.integers(1, 6))
"""What a join without a grid can be given."""


@st.composite
def arrivals(draw: st.DrawFn, delay: int) -> list[tuple[int, dict[str, Any]]]:
    """(side, tuple) in order of arrival, disordered within the delay (in milliseconds).

    Ties, gaps, negative times, nulls, NaN. The values are of a seed: streams are long and dense
    enough to match, and quickly made.
    """
    rng = Random(draw(st.integers(0, 2**32)))
    sides = rng.choice([[0, 1], [0, 1], [0, 0, 1], [0, 1, 1, 1], [0], [1]])
    floats = [None, NAN, 0.0, -0.0, 0.1, 0.2, 0.3, 1e17, float("inf"), *range(-2, 3)]
    made: list[tuple[int, dict[str, Any]]] = []
    t = rng.randint(-50, 50)
    for number in range(draw(st.integers(0, 30))):
        t += rng.choice([0, 0, 0, 1, 1, 1, 2, 3, 7, 40])
        row = {
            "id": number,
            "t": t * 1000 + rng.choice([0, 0, 1, 999]),
            "k": rng.choice([None, "a", "b"]),
            "i": rng.choice([None, -2, -1, 0, 1, 2]),
            "j": rng.choice([None, -2, -1, 0, 1, 2]),
            "f": None if (f := rng.choice(floats)) is None else float(f),
        }
        made.append((rng.choice(sides), row))
    return sorted(made, key=lambda arrival: arrival[1]["t"] + rng.randint(0, delay) * 1000)


class Restarts:
    """Stops a runner between batches and goes on with another, new or one that is behind."""

    def __init__(self, join: wr.Join) -> None:
        self.join = join
        self.spare = JoinRunner(join.query, join.stages())

    def maybe(self, data: st.DataObject, runner: JoinRunner) -> JoinRunner:
        if not data.draw(st.booleans()):
            return runner
        snapshot = runner.snapshot()
        if not data.draw(st.booleans()):
            return runner
        if data.draw(st.booleans()):
            self.spare = JoinRunner(self.join.query, self.join.stages())
        other, self.spare = self.spare, runner
        other.restore(snapshot)
        return other


def shown(x: Any, y: Any, how: str) -> str:
    blank = dict.fromkeys(SCHEMA.names)
    row = {f"left_{k}": v for k, v in (x or blank).items()}
    if how not in ("semi", "anti"):
        row |= {f"right_{k}": v for k, v in (y or blank).items()}
    return repr(row)


def rows_of(tables: list[pa.Table]) -> Counter[str]:
    return Counter(repr(row) for table in tables for row in table.to_pylist())


def expected_rows(
    sides: tuple[Rows, Rows], on: On, within: Any, how: str, time: str | None
) -> Counter[str]:
    found = oracle.join(*sides, on.holds, within=within, time=time, how=how)
    return Counter(shown(x, y, how) for x, y in found)


def expected_so_far(
    sides: tuple[Rows, Rows],
    on: On,
    lengths: tuple[int, int],
    within: Any,
    how: str,
    watermark: int,
) -> Counter[str]:
    """Pairs as soon as both are there, the rest when its window is over."""
    found = oracle.join(*sides, on.holds, within=within, time="t", how=how)
    is_pair = how not in ("semi", "anti")
    kept = []
    for x, y in found:
        x_over = x is not None and x["t"] + lengths[0] < watermark
        y_over = y is not None and y["t"] + lengths[1] < watermark
        if (
            (is_pair and x is not None and y is not None)
            or (y is None and x_over)
            or (x is None and y_over)
        ):
            kept.append(shown(x, y, how))
    return Counter(kept)


def draw_join(data: st.DataObject, within: Any, how: Any, **more: Any) -> tuple[On, wr.Join]:
    on = data.draw(predicates())
    strategy: Any = data.draw(st.sampled_from(["grid", "grid", "grid", "centralised", "handshake"]))
    event(f"{strategy}, {how}")
    nothing = SCHEMA.empty_table()
    layout = data.draw(layouts(on.predicate) if strategy == "grid" else degrees)
    join = wr.join(
        nothing, nothing, within=within, on=on.predicate, how=how, strategy=strategy,
        **layout, **more,
    )  # fmt: skip
    return on, join


def small_blocks(data: st.DataObject) -> ExitStack:
    """Constants so small that short streams meet every way through the code."""
    block, least = data.draw(st.sampled_from([1, 3, 100])), data.draw(st.sampled_from([1, 4, 100]))
    span = data.draw(st.sampled_from([1, 8]))
    # Entered only after all draws: one that stops the example would leave the others patched.
    stack = ExitStack()
    stack.enter_context(patch.object(band_join, "BLOCK", block))
    stack.enter_context(patch.object(slices, "LEAST_SLICE", least))
    stack.enter_context(patch.object(window_runs, "_SPAN", span))
    return stack


def cut(data: st.DataObject, items: list[Any]) -> list[list[Any]]:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(items)), min_size=2, max_size=5)))
    return [items[a:b] for a, b in zip([0, *cuts], [*cuts, len(items)], strict=True)]


def table_of(rows: Rows) -> pa.Table:
    return pa.Table.from_pylist(rows, SCHEMA)


@examples(800)
@given(st.data(), windows_of_time, hows, st.integers(0, 6))
def test_windows_of_time(data: st.DataObject, within: Any, how: str, delay: int) -> None:
    on, join = draw_join(data, within, how, time="t", delay=delay * 1000)
    parts = cut(data, data.draw(arrivals(delay)))
    sides: tuple[Rows, Rows] = ([], [])
    restarts, greatest = Restarts(join), None
    runner, given_rows = JoinRunner(join.query, join.stages()), Counter[str]()
    with small_blocks(data):
        for part in parts:
            new = [[row for own, row in part if own == side] for side in (0, 1)]
            for own, rows in zip(sides, new, strict=True):
                own += rows
            given_rows += rows_of(runner.push(table_of(new[0]), table_of(new[1])))
            if part:
                newest = max(row["t"] for _, row in part)
                greatest = newest if greatest is None else max(newest, greatest)
                given_rows += rows_of(runner.advance(final_watermark(greatest, delay * 1000)))
            if join.strategy != "handshake":
                so_far = expected_so_far(
                    sides, on, join.query.lengths, within, how, runner.watermark
                )
                assert given_rows == so_far
            runner = restarts.maybe(data, runner)
        given_rows += rows_of(runner.finish())
    assert runner.dropped == 0
    assert given_rows == expected_rows(sides, on, within, how, "t")


@examples(600)
@given(st.data(), windows_by_count, hows, st.integers(0, 6), st.booleans())
def test_windows_by_count(
    data: st.DataObject, within: Any, how: str, delay: int, is_timed: bool
) -> None:
    timing = {"time": "t", "delay": delay * 1000} if is_timed else {}
    on, join = draw_join(data, within, how, **timing)
    parts = cut(data, data.draw(arrivals(delay)))
    sides: tuple[Rows, Rows] = ([], [])
    restarts, greatest = Restarts(join), None
    runner, given_rows = JoinRunner(join.query, join.stages()), Counter[str]()
    with small_blocks(data):
        for number, part in enumerate(parts):
            new = [[row for own, row in part if own == side] for side in (0, 1)]
            for own, rows in zip(sides, new, strict=True):
                if not is_timed:
                    # The tuples of a batch come in turn.
                    for i, row in enumerate(rows):
                        row["t"] = number * 1000 + i
                own += rows
            given_rows += rows_of(runner.push(table_of(new[0]), table_of(new[1])))
            if part and is_timed:
                newest = max(row["t"] for _, row in part)
                greatest = newest if greatest is None else max(newest, greatest)
                given_rows += rows_of(runner.advance(final_watermark(greatest, delay * 1000)))
            runner = restarts.maybe(data, runner)
        given_rows += rows_of(runner.finish())
    assert runner.dropped == 0
    assert given_rows == expected_rows(sides, on, within, how, "t")


@examples(300)
@given(st.data(), windows_of_time | windows_by_count, hows)
def test_late_tuples_are_dropped_and_counted(data: st.DataObject, within: Any, how: str) -> None:
    on, join = draw_join(data, within, how, time="t")
    parts = cut(data, data.draw(arrivals(6)))
    sides: tuple[Rows, Rows] = ([], [])
    runner, given_rows, late, greatest = (
        JoinRunner(join.query, join.stages()),
        Counter[str](),
        0,
        None,
    )
    for part in parts:
        for side, row in part:
            is_late = row["t"] < runner.watermark
            late += is_late
            if not is_late:
                sides[side].append(row)
        new = [[row for own, row in part if own == side] for side in (0, 1)]
        given_rows += rows_of(runner.push(table_of(new[0]), table_of(new[1])))
        if part:
            newest = max(row["t"] for _, row in part)
            greatest = newest if greatest is None else max(newest, greatest)
            given_rows += rows_of(runner.advance(final_watermark(greatest, 0)))
    given_rows += rows_of(runner.finish())
    assert runner.dropped == late
    assert given_rows == expected_rows(sides, on, within, how, "t")


@examples(300)
@given(st.data(), windows_of_time | windows_by_count, hows, st.booleans())
def test_bounded_tables(data: st.DataObject, within: Any, how: Any, is_timed: bool) -> None:
    on = data.draw(predicates())
    arrived = data.draw(arrivals(6))
    left, right = ([row for own, row in arrived if own == side] for side in (0, 1))
    is_by_count = isinstance(within if isinstance(within, int | str) else within[0], int)
    time = None if is_by_count and not is_timed else "t"
    strategy: Any = data.draw(st.sampled_from(["grid", "centralised", "handshake"]))
    layout = data.draw(layouts(on.predicate) if strategy == "grid" else degrees)
    with small_blocks(data):
        table = wr.join(
            table_of(left), table_of(right), within=within, on=on.predicate, how=how,
            time=time, strategy=strategy, **layout,
        ).collect()  # fmt: skip
    assert rows_of([table]) == expected_rows((left, right), on, within, how, time)
