"""What is known about the rows of a query and the cost of its function."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from windrow.core.checks import number, positive_count
from windrow.core.durations import microseconds
from windrow.core.errors import WindrowError, received


@dataclass(frozen=True)
class Statistics:
    """The numbers that a plan is chosen by; None stands for what is not known."""

    keys: int | None = None
    """How many keys there are."""
    skew: float | None = None
    """The share of the rows that the most frequent key has: p_max."""
    rate: float | None = None
    """Rows per second of event time, of all keys together."""
    cost: float | None = None
    """What the function costs per window, in microseconds of one core."""
    rows: int | None = None
    """How many rows a bounded input has."""
    hot_keys: tuple[tuple[Any, float], ...] | None = None
    """The most frequent keys and their shares of the rows, the most frequent first."""

    @property
    def known(self) -> dict[str, float]:
        """The numbers that are known, by name."""
        numbers = {field.name: getattr(self, field.name) for field in fields(self)}
        del numbers["hot_keys"]
        return {name: value for name, value in numbers.items() if value is not None}

    def or_else(self, other: Statistics) -> Statistics:
        """These numbers; where one is not known, that of the other.

        >>> Statistics(keys=3).or_else(Statistics(keys=5, rate=10.0)).known
        {'keys': 3, 'rate': 10.0}
        """
        names = [field.name for field in fields(self)]
        own = {name: getattr(self, name) for name in names}
        return Statistics(**{n: getattr(other, n) if v is None else v for n, v in own.items()})


UNKNOWN = Statistics()
"""Nothing is known."""


def hinted(
    keys: object, skew: object, rate: object, cost: object, hot_keys: object = None
) -> Statistics:
    """The statistics that a user gives; raises for values that cannot be."""
    if keys is skew is rate is cost is hot_keys is None:
        hint = 'for example hint(keys=1000, skew=0.16, rate=200_000, cost="20 us").'
        rule = "hint needs at least one of keys, skew, rate, cost and hot_keys"
        raise WindrowError(rule, hint=hint)
    hot = None if hot_keys is None else _hot_keys(hot_keys)
    if hot and skew is None:
        skew = hot[0][1]
    known = Statistics(
        hot_keys=hot,
        keys=None if keys is None else positive_count(keys, "hint keys", "keys"),
        skew=None if skew is None else _share(skew),
        rate=None if rate is None else _rate(rate),
        cost=None if cost is None else _cost(cost),
    )
    if hot and known.skew is not None and known.skew < 0.99 * hot[0][1]:
        rule = f"the most frequent key has at least the share of {hot[0][0]!r}, {hot[0][1]}"
        hint = "leave skew out: hot_keys tell it."
        raise WindrowError(rule, received("hint skew", skew), hint)
    # By rounding, a share may be slightly less than that of equally frequent keys.
    if known.keys is not None and known.skew is not None and known.skew * known.keys < 0.99:
        rule = f"the most frequent of {known.keys} keys has at least 1/{known.keys} of the rows"
        name, given = ("skew", skew) if hot_keys is None else ("hot_keys", hot_keys)
        hint = f"leave {name} out for equal keys."
        raise WindrowError(rule, received(f"hint {name}", given), hint)
    return known


def _share(value: object) -> float:
    share = number(value)
    if share is None or not 0 < share <= 1:
        rule = "hint skew must be the share of the rows that the most frequent key has, up to 1"
        raise WindrowError(rule, received("hint skew", value), "for example skew=0.16.")
    return share


def _hot_keys(given: object) -> tuple[tuple[Any, float], ...]:
    shares = {k: number(v) for k, v in given.items()} if isinstance(given, Mapping) else {}
    known = [(key, share) for key, share in shares.items() if share is not None and share > 0]
    # By rounding, shares may add up to slightly more than all rows.
    if not known or len(known) < len(shares) or sum(share for _, share in known) > 1.01:
        rule = "hint hot_keys must map keys to their shares of the rows, together up to 1"
        raise WindrowError(rule, received("hint hot_keys", given), 'for example {"ACME": 0.5}.')
    return tuple(sorted(known, key=lambda pair: -pair[1]))


def _rate(value: object) -> float:
    rate = number(value)
    if rate is None or not 0 < rate < math.inf:
        rule = "hint rate must be a positive number of rows per second"
        raise WindrowError(rule, received("hint rate", value))
    return rate


def _cost(value: object) -> float:
    cost = microseconds(value, "hint cost")
    if cost <= 0:
        raise WindrowError("hint cost must be a positive duration", received("hint cost", value))
    return cost
