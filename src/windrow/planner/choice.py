"""Chooses how a query runs if the user names no pattern.

If nothing is known of the rows, rules choose. They ask the first questions of Mencagli 2019,
Figure 14: are there keys, can the function be decomposed, do windows overlap? From Mencagli 2018,
Figure 7, comes the question whether a tuple's windows are known when it arrives. With statistics,
which are hints or come from a sample, the plan whose predicted time is the shortest is chosen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from windrow.core.computation import Aggregation
from windrow.core.models import Context
from windrow.core.statistics import UNKNOWN, Statistics
from windrow.engine.window_query import WindowQuery
from windrow.functions.columnar import Columnar
from windrow.patterns import KeyFarm, PaneFarm, Pattern, WinFarm, WinMapReduce, WinSeq
from windrow.patterns.workers import can_keep_panes, is_told_by_time, needs_all_rows
from windrow.planner.constants import Constants
from windrow.planner.cost import multicast
from windrow.planner.load import load_of
from windrow.planner.plans import Native, Plan, Resources, plans_for
from windrow.planner.predict import Prediction, predict

WORTH_A_CHANGE = 1.1
"""How many times faster a prediction must be to replace what the rules choose."""
ABOUT_EQUAL = 1.05
"""Predictions that differ by less are taken to be equal."""
_FEW_COPIES = 4.0
"""To how many workers rows are sent for a function of the user's, if nothing is known of them."""
STREAM_CORES = 4
"""For how many cores the plan of a stream is predicted, whatever runs it.

State is tied to its pattern, so the choice must not depend on where the stream runs. By prediction,
plans for 4 cores lose the least on 1 to 8.
"""


@dataclass(frozen=True)
class Choice:
    """A pattern, or Spark's own aggregation in its place, and why it was chosen."""

    pattern: Pattern
    why: str
    native: Native | None = None

    @property
    def plan(self) -> Plan:
        return Plan(self.pattern, self.native)


def choose(query: WindowQuery, resources: Resources, statistics: Statistics = UNKNOWN) -> Choice:
    """The plan for a query: by prediction, or by the rules if nothing is known of its rows.

    Hints come before the statistics, which add to them.
    """
    known = query.hints.or_else(statistics)
    usual = by_rules(query, resources, known)
    if query.prefers_native and resources.native:
        return Choice(usual.pattern, "measured to be the fastest", resources.native)
    if not can_predict(known):
        return usual
    predictions = weigh(query, resources, statistics)
    best = predictions[0]
    if best.plan == usual.plan:
        return usual
    on = f" on {STREAM_CORES} cores" if resources.is_stream else ""
    why = f"predicted to be the fastest of {len(predictions)} plans{on}; {best.limit}"
    return Choice(best.plan.pattern, why, best.plan.native)


def can_predict(statistics: Statistics) -> bool:
    """Whether enough is known to overrule the rules: more than the number of rows."""
    return bool(statistics.known.keys() - {"rows"})


def weigh(
    query: WindowQuery,
    resources: Resources,
    statistics: Statistics = UNKNOWN,
    given: Plan | None = None,
) -> list[Prediction]:
    """All plans that may be the best one; the first is chosen, then the fastest come first.

    The first is the given plan. If there is none, it is what the rules choose unless another plan
    is clearly faster, then the simplest of the fastest. The plan of a stream is chosen for
    STREAM_CORES, and predicted for the cores there are.
    """
    if given is None and resources.is_stream:
        given = _plan_of_stream(query, resources, statistics)
    return _weigh(query, resources, statistics, given)


def _plan_of_stream(query: WindowQuery, resources: Resources, statistics: Statistics) -> Plan:
    """The plan that is chosen on any machine; only workers without state are one per core."""
    anywhere = replace(resources, cores=STREAM_CORES, constants=Constants())
    plan = _weigh(query, anywhere, statistics)[0].plan
    if isinstance(plan.pattern, WinFarm) and plan.pattern.workers == "agnostic":
        plan = replace(plan, pattern=replace(plan.pattern, n=resources.cores))
    return plan


def _weigh(
    query: WindowQuery, resources: Resources, statistics: Statistics, given: Plan | None = None
) -> list[Prediction]:
    known = query.hints.or_else(statistics)
    load = load_of(query, known, resources.constants, is_stream=resources.is_stream)
    usual = by_rules(query, resources, known).plan
    native = [Plan(usual.pattern, resources.native)] if resources.native else []
    plans = dict.fromkeys([given or usual, usual, *native, *plans_for(query, resources, load)])
    predictions = [predict(query, plan, load, resources) for plan in plans]
    least = min(p.seconds for p in predictions)
    chosen = predictions[0]
    if given is None and chosen.seconds > least * WORTH_A_CHANGE:
        # Simple plans come first.
        chosen = next(p for p in predictions if p.seconds <= least * ABOUT_EQUAL)
    others = (p for p in predictions if p is not chosen)
    return [chosen, *sorted(others, key=lambda p: p.seconds)]


def by_rules(query: WindowQuery, resources: Resources, statistics: Statistics = UNKNOWN) -> Choice:
    """What is chosen if nothing is known about the rows, or if no other plan is clearly faster."""
    if resources.is_stream and not query.keys and not _has_small_partials(query):
        why = "no keys, and the function needs whole windows: executors without state compute them"
        return Choice(WinFarm(resources.cores, workers="agnostic"), why)
    n = resources.workers
    is_unknown = not (resources.is_stream or can_predict(statistics))
    if n > 1 and query.keys and is_unknown and _is_worth_copies(query, n):
        pattern: Pattern = WinFarm(n)
        why = "any key may be frequent, and workers share the windows of each of them"
    else:
        pattern, why = _pattern_by_rules(query, n, is_stream=resources.is_stream)
    # Rows that tasks read themselves are in Python already. Where a function needs all values,
    # Spark keeps them in objects, group by group, which takes longer than the kernels.
    in_python = resources.reads_files or needs_all_rows(query)
    return Choice(pattern, why, None if in_python else resources.native)


def _pattern_by_rules(query: WindowQuery, n: int, *, is_stream: bool) -> tuple[Pattern, str]:
    if n == 1:
        return WinSeq(), "there is one core"
    if query.keys:
        return KeyFarm(n), "there are keys, which are independent of each other"
    model = query.model
    if can_keep_panes(query) and is_told_by_time(model):
        why = "no keys: rows become partials of panes as they come, and workers share the windows"
        return WinFarm(n), why
    if not is_told_by_time(model) and (can_keep_panes(query) if is_stream else _is_built_in(query)):
        why = "no keys, and to put all rows in one order takes longer than to compute the windows"
        return WinSeq(), why
    if _has_small_partials(query):
        if model.pane_length is not None and model.shares_tuples:
            why = "no keys, and windows overlap: they share the results of panes"
            return PaneFarm(n, 1), why
        why = "no keys, and windows share no panes: each window is split into parts"
        return WinMapReduce(n, 1), why
    if model.context is Context.CF:
        why = "no keys, the function needs whole windows, and each row's windows are known at once"
        return WinFarm(n), why
    why = "no keys, the function needs whole windows, and a windower must determine them"
    return WinFarm(n, workers="agnostic"), why


def _is_worth_copies(query: WindowQuery, n: int) -> bool:
    """Whether to send rows to several workers costs little, beside the function.

    Of two plans, the one is chosen whose time is the better in its worst case. A key farm takes n
    times as long if nearly all rows have one key; a window farm, at most as long as its copies.
    """
    model = query.model
    if _is_built_in(query) or not is_told_by_time(model):
        return False
    rows, rows_apart = model.expected_rows(1.0) or (1.0, 1.0)
    return multicast(n, rows / rows_apart) <= _FEW_COPIES


def _is_built_in(query: WindowQuery) -> bool:
    """Whether all functions are the library's."""
    computation = query.computation
    if not isinstance(computation, Aggregation):
        return False
    return all(isinstance(f, Columnar) for f in computation.functions.values())


def _has_small_partials(query: WindowQuery) -> bool:
    """Whether windows can be computed in pieces that are smaller than their rows."""
    computation = query.computation
    if not computation.is_decomposable or computation.is_order_sensitive:
        return False
    return not needs_all_rows(query)
