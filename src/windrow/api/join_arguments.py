"""The arguments of a join: each is checked by itself and given back as the engine takes it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from windrow.core.checks import number
from windrow.core.durations import Duration, microseconds
from windrow.core.errors import WindrowError, nearest, received

if TYPE_CHECKING:
    from windrow.engine.joins.join_query import How
    from windrow.engine.joins.terms.predicate import Predicate
    from windrow.engine.joins.terms.term import Term

AnyHow = Literal[
    "inner",
    "left", "leftouter", "left_outer",
    "right", "rightouter", "right_outer",
    "outer", "full", "fullouter", "full_outer",
    "semi", "leftsemi", "left_semi",
    "anti", "leftanti", "left_anti",
]  # fmt: skip
"""The kinds of join, under all names that Spark accepts."""
_HOWS: dict[str, How] = {
    "inner": "inner",
    **dict.fromkeys(("left", "leftouter"), "left_outer"),
    **dict.fromkeys(("right", "rightouter"), "right_outer"),
    **dict.fromkeys(("outer", "full", "fullouter"), "full_outer"),
    **dict.fromkeys(("semi", "leftsemi"), "semi"),
    **dict.fromkeys(("anti", "leftanti"), "anti"),
}
_LONGEST = 2**60


def predicate_of(on: Predicate | Term) -> Predicate:
    """The predicate; a single term is one."""
    from windrow.engine.joins.terms.predicate import Predicate
    from windrow.engine.joins.terms.term import Term

    if isinstance(on, Term):
        return Predicate((on,))
    if not isinstance(on, Predicate):
        hint = 'for example on=wr.equi("symbol") & wr.band(price=0.01).'
        raise WindrowError("on must be a predicate", received("on", on), hint)
    return on


def check_is_grid(strategy: str, **given: object) -> None:
    """Raise if a strategy without a grid is given what describes one."""
    for name, value in given.items():
        if strategy != "grid" and value is not None:
            rule = f'{name} describes a grid, which strategy="{strategy}" does not have'
            hint = "pass degree, the number of workers, or leave strategy out."
            raise WindrowError(rule, received(name, value), hint)


def how_of(how: str) -> How:
    """The kind of join; like Spark, this ignores case and underscores."""
    known = _HOWS.get(how.lower().replace("_", "")) if isinstance(how, str) else None
    if known is None:
        near = nearest(str(how), get_args(AnyHow), {})
        rule = 'how must be "inner", "left", "right", "outer", "semi" or "anti"'
        raise WindrowError(rule, received("how", how), f'did you mean "{near}"?' if near else None)
    return known


def lengths_of(within: Any) -> tuple[tuple[int, int], bool]:
    """The left and the right window, and whether they are numbers of rows."""
    both = within if isinstance(within, tuple) else (within, within)
    if len(both) != 2:
        hint = 'write within="5 minutes", or within=("5 minutes", "1 minute").'
        raise WindrowError("within must be one length or a pair", received("within", within), hint)
    counts = [isinstance(w, int | np.integer) and not isinstance(w, np.timedelta64) for w in both]
    if counts[0] != counts[1]:
        rule = "join within must be two durations or two numbers of rows"
        raise WindrowError(rule, received("within", within))
    lengths = [microseconds(w, "join within") for w in both]
    if min(lengths) <= 0:
        rule = "join within must be a positive duration or number of rows"
        raise WindrowError(rule, received("within", within))
    if max(lengths) > _LONGEST:
        rule = "join within must be less than 30,000 years"
        raise WindrowError(rule, received("within", within))
    return (lengths[0], lengths[1]), counts[0]


def times_of(time: Any, by_count: bool) -> tuple[str, str] | None:
    """The columns of event time of both sides; windows by count need none."""
    if time is None:
        if by_count:
            return None
        hint = 'pass time="column", or a number of rows as within.'
        raise WindrowError("windows of time need an event time", hint=hint)
    both = time if isinstance(time, tuple) else (time, time)
    if len(both) != 2 or not all(isinstance(name, str) for name in both):
        rule = "join time must be the name of a column, or a pair of names"
        raise WindrowError(rule, received("time", time))
    return both


def delay_of(delay: Duration) -> int:
    """How far rows may be out of order, in microseconds."""
    micros = microseconds(delay, "join delay")
    if micros < 0:
        raise WindrowError("join delay must not be negative", received("delay", delay))
    return micros


def rates_of(rates: Any) -> tuple[float, float] | None:
    """The rows per second of both sides, if they are given."""
    if rates is None:
        return None
    given = [number(r) for r in rates] if isinstance(rates, tuple | list) else []
    left, right = given if len(given) == 2 else (None, None)
    if left is None or right is None or not (0 < left < math.inf and 0 < right < math.inf):
        rule = "rates must be a pair of positive numbers"
        raise WindrowError(rule, received("rates", rates), "for example (1000, 50).")
    return float(left), float(right)


def prefixes_of(prefixes: Any) -> tuple[str, str]:
    """What the names of both sides' columns begin with in results."""
    is_pair = isinstance(prefixes, tuple | list) and len(prefixes) == 2
    if not is_pair or not all(isinstance(p, str) for p in prefixes):
        rule = "prefixes must be a pair of strings"
        raise WindrowError(rule, received("prefixes", prefixes), 'for example ("l_", "r_").')
    return prefixes[0], prefixes[1]
