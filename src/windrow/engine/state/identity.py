"""A query in words that change whenever its state would mean something else."""

from __future__ import annotations

from typing import Any

from windrow.core.computation import Aggregation, Apply, Computation, Decompose, Fold
from windrow.engine.window_query import WindowQuery


def signature(query: WindowQuery, pattern: object) -> str:
    """What is computed on which windows of which tuples, and with which pattern."""
    names = [*query.keys, *query.order_by, *([query.time] if query.time else [])]
    return (
        f"{query.model!r} key_by{query.keys} event_time({query.time!r}, {query.unit!r}) "
        f"order_by{query.order_by} {_computed(query.computation)} using {pattern!r} "
        f"on {', '.join(f'{n} {query.types[n]}' for n in dict.fromkeys(names))}"
    )


def _computed(computation: Computation) -> str:
    if isinstance(computation, Aggregation):
        given = (f"{name}={f!r}" for name, f in computation.functions.items())
        return f"agg({', '.join(given)})"
    if isinstance(computation, Apply):
        return f"apply({_name(computation.function)}, {computation.returns!r})"
    if isinstance(computation, Fold):
        return f"fold({_name(computation.update)}, {computation.returns!r})"
    assert isinstance(computation, Decompose)
    rounds = [
        f"{_name(r.partial)}, {_name(r.combine)}, {r.partial_returns!r}" for r in computation.rounds
    ]
    return f"decompose({'; '.join(rounds)}, {computation.returns!r})"


def _name(function: Any) -> str:
    return getattr(function, "__qualname__", type(function).__qualname__)
