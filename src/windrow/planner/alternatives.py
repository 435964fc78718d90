"""The plans of a decision as a tree: by pattern, then by degree, each with a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from windrow.patterns import Pattern, WinSeq
from windrow.planner.choice import ABOUT_EQUAL, WORTH_A_CHANGE
from windrow.planner.predict import Prediction

_IN_SPARK = "Spark's own aggregation"
_UNITS = ("B", "kB", "MB", "GB", "TB")


@dataclass(frozen=True)
class Alternative:
    """A plan that was weighed."""

    prediction: Prediction
    is_chosen: bool
    sentence: str
    """Why it was chosen, or why not."""

    def describe(self) -> str:
        """Its throughput, latency and memory."""
        p = self.prediction
        return f"{rate_of(p)}, {seconds_of(p.latency)} latency, {bytes_of(p.bytes)} held"


def families(predictions: Sequence[Prediction], why: str) -> dict[str, list[Alternative]]:
    """The plans by their outermost pattern, that of the chosen plan first, the fastest first."""
    found: dict[str, list[Alternative]] = {}
    chosen = predictions[0]
    for p in predictions:
        name = _IN_SPARK if p.plan.native else _family(p.plan.pattern)
        sentence = _capital(why) if p is chosen else rejection(p, chosen)
        found.setdefault(name, []).append(Alternative(p, p is chosen, sentence))
    return found


def _family(pattern: Pattern) -> str:
    name = type(pattern).__name__
    inner = getattr(pattern, "inner", None)
    return name if inner is None or isinstance(inner, WinSeq) else f"{name} of {_family(inner)}"


def rejection(p: Prediction, chosen: Prediction) -> str:
    """Why a plan was not chosen, as a sentence."""
    times = p.seconds / chosen.seconds
    if times < 1 / WORTH_A_CHANGE:
        return f"It would take {times:.2f} times as long, but another plan was given."
    if times < 1:
        return f"It would take {times:.2f} times as long, which is too little gain for a change."
    if times < ABOUT_EQUAL:
        return "It would take as long, and the chosen plan is simpler."
    return f"It would take {times:.2f} times as long: {p.limit}."


def as_text(predictions: Sequence[Prediction], why: str) -> Iterator[str]:
    """The tree, line by line; the chosen plan has a star."""
    every = families(predictions, why)
    for number, (name, plans) in enumerate(every.items()):
        is_last = number == len(every) - 1
        yield f"{'└' if is_last else '├'}─ {name}"
        stem = "   " if is_last else "│  "
        for place, plan in enumerate(plans):
            ends = place == len(plans) - 1
            mark = "* " if plan.is_chosen else ""
            yield f"{stem}{'└' if ends else '├'}─ {mark}{plan.prediction.plan.describe()}"
            inner = stem + ("   " if ends else "│  ")
            yield f"{inner}{plan.describe()}"
            yield f"{inner}{plan.sentence}"


def rate_of(p: Prediction) -> str:
    """Its throughput."""
    return f"{p.rows_per_second / 1e6:.3g} M rows/s"


def seconds_of(seconds: float) -> str:
    """A time, as short as it can be read.

    >>> seconds_of(0.25), seconds_of(72.0), seconds_of(7200.0)
    ('250 ms', '72 s', '2 h')
    """
    if seconds < 1:
        return f"{seconds * 1e3:.3g} ms"
    if seconds < 300:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:.3g} min" if seconds < 7200 else f"{seconds / 3600:.3g} h"


def bytes_of(held: float) -> str:
    """An amount of memory.

    >>> bytes_of(12.0), bytes_of(32e6)
    ('12 B', '32 MB')
    """
    unit = 0
    while held >= 999.5 and unit < len(_UNITS) - 1:
        held, unit = held / 1000, unit + 1
    return f"{held:.3g} {_UNITS[unit]}"


def _capital(why: str) -> str:
    return f"{why[:1].upper()}{why[1:]}."
