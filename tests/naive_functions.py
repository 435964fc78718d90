"""The definitions of window functions: one window at a time, in plain Python; a null is None."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

Tuples = list[tuple[Any, ...]]


def present(tuples: Tuples) -> Tuples:
    return [t for t in tuples if None not in t]


def values(tuples: Tuples) -> list[Any]:
    return [t[0] for t in present(tuples)]


def key(value: Any) -> tuple[bool, Any]:
    """NaN is greater than every number and equal to itself."""
    return (True, 0) if value != value else (False, value)


def exact_sum(numbers: list[Any]) -> Any:
    broken = [v for v in numbers if not math.isfinite(v)]
    if broken:
        return math.fsum(broken) if math.inf not in broken or -math.inf not in broken else math.nan
    return sum(map(Fraction, numbers))


def naive_sum(tuples: Tuples) -> Any:
    numbers = values(tuples)
    return type(numbers[0])(exact_sum(numbers)) if numbers else None


def naive_mean(tuples: Tuples) -> Any:
    numbers = values(tuples)
    return float(exact_sum(numbers) / len(numbers)) if numbers else None


def naive_var(tuples: Tuples) -> Any:
    numbers = values(tuples)
    if len(numbers) < 2:
        return None
    if not all(map(math.isfinite, numbers)):
        return math.nan
    return float(statistics.variance(map(Fraction, numbers)))


def naive_stddev(tuples: Tuples) -> Any:
    variance = naive_var(tuples)
    return None if variance is None else math.sqrt(variance)


def naive_arg(best: Callable[..., Any]) -> Callable[[Tuples], Any]:
    def arg(tuples: Tuples) -> Any:
        rated = [t for t in tuples if t[1] is not None]
        return best(rated, key=lambda t: key(t[1]))[0] if rated else None

    return arg


def naive_quantile(q: float) -> Callable[[Tuples], Any]:
    def quantile(tuples: Tuples) -> Any:
        ordered = sorted(values(tuples), key=key)
        if not ordered:
            return None
        position = q * (len(ordered) - 1)
        below, above = ordered[math.floor(position)], ordered[math.ceil(position)]
        if key(below) == key(above):
            return float(below)
        return below + (position - math.floor(position)) * (above - below)

    return quantile


def naive_mode(tuples: Tuples) -> Any:
    counts = Counter(map(key, values(tuples)))
    if not counts:
        return None
    is_nan, value = min(v for v, count in counts.items() if count == max(counts.values()))
    return math.nan if is_nan else value


def naive_count_distinct(tuples: Tuples) -> int:
    return len({tuple(map(key, t)) for t in present(tuples)})


def naive_top_by(k: int) -> Callable[[Tuples], Any]:
    def top(tuples: Tuples) -> list[Any]:
        rest = [t for t in tuples if t[1] is not None]
        best: Tuples = []
        while rest and len(best) < k:
            best.append(max(rest, key=lambda t: key(t[1])))  # the oldest of the greatest
            rest = [t for t in rest if t is not best[-1]]
        return [t[0] for t in best]

    return top


def naive_ohlc(tuples: Tuples) -> Any:
    prices = values(tuples)
    if not prices:
        return None
    high, low = max(prices, key=key), min(prices, key=key)
    return {"open": prices[0], "high": high, "low": low, "close": prices[-1]}


def naive_line(tuples: Tuples) -> Any:
    points = [(Fraction(x), Fraction(y)) for y, x in present(tuples)]
    if len({x for x, _ in points}) < 2:
        return None
    n, sx, sy = len(points), sum(x for x, _ in points), sum(y for _, y in points)
    xx = n * sum(x * x for x, _ in points) - sx * sx
    xy = n * sum(x * y for x, y in points) - sx * sy
    yy = n * sum(y * y for _, y in points) - sy * sy
    slope = xy / xx
    r2 = xy * xy / (xx * yy) if yy else Fraction(1)
    intercept = (sy - slope * sx) / n
    return {"slope": float(slope), "intercept": float(intercept), "r2": float(r2)}


def naive_fit(degree: int) -> Callable[[Tuples], Any]:
    def fit(tuples: Tuples) -> Any:
        points = present(tuples)
        if len({x for _, x in points}) <= degree:
            return None
        y, x = zip(*points, strict=True)
        found: list[float] = np.polyfit(x, y, degree)[::-1].tolist()
        return found

    return fit


def naive_skyline(signs: dict[str, int]) -> Callable[[Tuples], Any]:
    def skyline(tuples: Tuples) -> list[dict[str, float]]:
        points = [dict(zip(signs, map(float, t), strict=True)) for t in present(tuples)]
        costs = [[s * p[c] if p[c] == p[c] else math.inf for c, s in signs.items()] for p in points]

        def dominated(mine: list[float]) -> bool:
            rivals = (other for other in costs if other != mine)
            return any(all(a <= b for a, b in zip(r, mine, strict=True)) for r in rivals)

        return [p for p, mine in zip(points, costs, strict=True) if not dominated(mine)]

    return skyline
