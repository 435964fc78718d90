"""Nodes of agnostic workers: windowers decide the windows, and executors compute them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from windrow.engine.stages.nodes import Collector, Emitter, Node, Workers
from windrow.engine.stages.routes import ByKey, InTurn
from windrow.engine.workers.agnostic import Packing
from windrow.engine.workers.geometry import Geometry
from windrow.engine.workers.worker import Worker
from windrow.patterns import workers
from windrow.patterns.farm import Farm
from windrow.patterns.setting import Setting


def deciding(
    at: Setting, n: int, farm: Farm, axis: str | None, packing: Packing
) -> tuple[list[Node], int]:
    """Windowers, and how many of them send to one emitter.

    There is one per instance. Over bounded rows with keys, a single instance has n of them,
    each for some of the keys.
    """
    are_shared = farm.n == 1 and n > 1 and at.are_tasks and bool(at.query.keys)
    if at.deals_partials:
        n = n if are_shared else 1
        return at.partials.windowers(n, packing), n
    farm = Farm(n) if are_shared else farm
    given = (at.query, Geometry.of(at.model, axis), farm.share, packing)
    windower = Workers("Windower", partial(workers.windower, *given), farm.n, prepares=True)
    if not are_shared:
        return [windower], 1
    return [Emitter(ByKey(at.query.keys, n)), windower], n


def executor(at: Setting, are_parts: bool) -> Callable[[int], Worker]:
    """A factory of executors of windows, or of parts of windows, that a windower has sent."""
    make = workers.executor_over_panes if at.deals_partials else workers.executor
    return partial(make, at.query, are_parts)


def execute(n: int, windowers: int, make: Callable[[int], Worker]) -> list[Node]:
    """Executors of the windows that some windowers decide."""
    return [
        Emitter(InTurn(n), windowers),
        Workers("Executor", make, n, holds_state=False),
        Collector(n),
    ]
