"""Every window model, every pattern, every kind of function: what the matrices are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

import windrow as wr
from tests.spark.results import aggregates
from tests.trail import Trail
from windrow import functions as wf
from windrow.core import Context, WindowModel, oracle
from windrow.patterns import Pattern

SCHEMA = "i int, k string, t bigint, seq int, x bigint, y double, s string, d bigint"
MODELS: list[WindowModel] = [
    wr.CountWindow(12, 5),
    wr.TimeWindow("30 ms", "12 ms", origin=-5_000),
    wr.LandmarkWindow("60 ms", "20 ms", origin=7_000),
    wr.SlideByTupleWindow("25 ms", 7),
    wr.SlideByTimeWindow(9, "20 ms"),
    wr.DeltaWindow("d", 20, 8),
    wr.SessionWindow("3 ms"),
]
DEGREES = [(2, 2), (1, 1), (2, 2)]
"""The workers of the two stages of a pattern, by its level: at level 1 they become one node."""
PATTERNS: dict[str, Callable[[Any], Pattern]] = {
    "WinSeq": lambda level: wr.WinSeq(),
    "KeyFarm": lambda level: wr.KeyFarm(2, level=level),
    "WinFarm": lambda level: wr.WinFarm(3, level=level),
    "agnostic WinFarm": lambda level: wr.WinFarm(3, workers="agnostic", batch=2, level=level),
    "KeyFarm with hot keys": lambda level: wr.KeyFarm(
        3, level=level, hot_keys=["a", None], hot=wr.WinFarm(3, batch=2)
    ),
    "KeyFarm with agnostic hot keys": lambda level: wr.KeyFarm(2, level=level, hot_keys=["a"]),
    "KeyFarm with panes of hot keys": lambda level: wr.KeyFarm(
        2, hot_keys=["a"], hot=wr.PaneFarm(*DEGREES[level], level=level)
    ),
    "KeyFarm with parts of hot keys": lambda level: wr.KeyFarm(
        2, hot_keys=["a", None], hot=wr.WinMapReduce(*DEGREES[level], level=level)
    ),
    "PaneFarm": lambda level: wr.PaneFarm(*DEGREES[level], level=level),
    "agnostic PaneFarm": lambda level: wr.PaneFarm(
        *DEGREES[level], level=level, workers="agnostic"
    ),
    "WinMapReduce": lambda level: wr.WinMapReduce(*DEGREES[level], level=level),
    "KeyFarm of PaneFarm": lambda level: wr.KeyFarm(
        2, wr.PaneFarm(*DEGREES[level], level=level), level=level
    ),
    "KeyFarm of WinMapReduce": lambda level: wr.KeyFarm(
        2, wr.WinMapReduce(*DEGREES[level], level=level), level=level
    ),
    "WinFarm of PaneFarm": lambda level: wr.WinFarm(
        2, wr.PaneFarm(*DEGREES[level], level=level), level=level
    ),
    "WinFarm of WinMapReduce": lambda level: wr.WinFarm(
        2, wr.WinMapReduce(*DEGREES[level], level=level), level=level
    ),
    "agnostic WinFarm of WinMapReduce": lambda level: wr.WinFarm(
        2, wr.WinMapReduce(*DEGREES[level], level=level), workers="agnostic", level=level
    ),
}
KINDS = ["agg", "apply", "decompose"]
ON_EVERY_MODEL = "KeyFarm", "agg"
"""The pattern and the kind of function that take every model, and always run them all."""
FUNCTIONS: dict[str, Any] = {
    "n": wf.count(),
    "total": wf.sum("x"),
    "mean": wf.mean("y"),
    "least": wf.min("s"),
    "first": wf.first("x"),
    "latest": wf.last("s", ignore_nulls=True),
    "p90": wf.quantile("y", 0.9),
    "distinct": wf.count_distinct("x"),
    "at_most": wf.arg_max("i", "y"),
}
NEED_ALL_ROWS = ("p90", "distinct")
"""The functions for which WinMapReduce has no MAP."""
RETURNS = "n bigint, seen array<int>"


def functions_of(model: WindowModel) -> dict[str, Any]:
    """The functions to compute; for every other model, only those that MAP has partials of.

    For delta windows there is one that needs its rows in order.
    """
    if MODELS.index(model) % 2 == 0:
        return FUNCTIONS
    if isinstance(model, wr.DeltaWindow):
        return {"trail": Trail("s"), "n": wf.count(), "first": wf.first("x")}
    return {name: f for name, f in FUNCTIONS.items() if name not in NEED_ALL_ROWS}


def seen(w: wr.Window) -> list[dict[str, Any]]:
    """No row, one or two, by the window's id."""
    return [{"n": len(w), "seen": w["i"].tolist()}] * (w.id % 3)


def partial(w: wr.Window) -> dict[str, Any]:
    return {"n": len(w), "seen": w["i"].tolist()}


def combine(parts: list[Any]) -> dict[str, Any]:
    return {"n": sum(p["n"] for p in parts), "seen": sorted(i for p in parts for i in p["seen"])}


def compute(query: wr.Query, model: WindowModel, kind: str) -> wr.Query:
    if kind == "agg":
        return query.agg(**functions_of(model))
    if kind == "apply":
        return query.apply(seen, RETURNS)
    return query.decompose(
        partial=partial, combine=combine, partial_returns=RETURNS, returns=RETURNS
    )


def naive(model: WindowModel, kind: str) -> Callable[[oracle.OracleWindow], list[Any]]:
    if kind == "agg":
        return aggregates(functions_of(model))

    def rows(w: oracle.OracleWindow) -> list[Any]:
        members = [r["i"] for r in w.rows]
        if kind == "apply":
            return [[len(members), members]] * (w.id % 3)
        return [[len(members), sorted(members)]]

    return rows


def takes(pattern: Pattern, model: WindowModel, kind: str) -> bool:
    """Whether the papers' rules allow the pattern for this window and function."""
    if isinstance(pattern, wr.KeyFarm) and pattern.hot is not None:
        pattern = pattern.hot
    inner = pattern.inner if isinstance(pattern, wr.KeyFarm | wr.WinFarm) else pattern
    is_active = isinstance(pattern, wr.WinFarm) and pattern.workers == "active"
    if is_active and model.context is not Context.CF:
        return False
    if isinstance(inner, wr.PaneFarm) and model.pane_length is None:
        return False
    return kind != "apply" or isinstance(inner, wr.WinSeq)


def over_keys(pattern: Pattern, keys: list[str]) -> Pattern:
    """The pattern for queries with these keys, of which the second is ``seq``, if there are two."""
    if len(keys) < 2 or not isinstance(pattern, wr.KeyFarm):
        return pattern
    hot = [(key, seq) for key in pattern.hot_keys for seq in (0, 2)]
    return replace(pattern, hot_keys=hot)


@dataclass(frozen=True)
class Case:
    """A pattern and a kind of function, with some of the models that the pattern takes."""

    name: str
    kind: str
    models: tuple[WindowModel, ...]

    def runs(self) -> list[tuple[WindowModel, Pattern]]:
        """Each model with the pattern, the level changing from one to the next."""
        make, first = PATTERNS[self.name], KINDS.index(self.kind)
        return [(m, make((first + MODELS.index(m)) % 3)) for m in self.models]


def cases(every: int) -> list[Any]:
    """All patterns with all kinds of functions, as parameters of a test.

    Each is run with one in ``every`` of its models, not the same for each; the campaign runs the
    others.
    """
    found = []
    for place, (name, make) in enumerate(PATTERNS.items()):
        for kind in KINDS:
            legal = [m for m in MODELS if takes(make(0), m, kind)]
            first = (place + KINDS.index(kind)) % min(every, len(legal) or 1)
            chosen = legal if (name, kind) == ON_EVERY_MODEL else legal[first::every]
            others = [m for m in legal if m not in chosen]
            if chosen:
                found.append(pytest.param(Case(name, kind, tuple(chosen)), id=f"{name}-{kind}"))
            if others:
                case = Case(name, kind, tuple(others))
                campaign = pytest.mark.campaign
                found.append(pytest.param(case, marks=campaign, id=f"{name}-{kind}-other models"))
    return found
