"""What a query will do, in words."""

from __future__ import annotations

from windrow.core.computation import Aggregation
from windrow.engine.evaluate.calling import name_of
from windrow.engine.stages.nodes import Stages
from windrow.engine.window_query import WindowQuery
from windrow.patterns import Pattern


def explain(
    query: WindowQuery,
    pattern: Pattern | None,
    why: str,
    stages: Stages,
    runs: str,
    reads: str | None = None,
) -> str:
    """The window, the computation, the pattern and its stages; for a dataset, what is read.

    There is no pattern if Spark itself computes the windows or their panes.
    """
    model = query.model
    order = [*([query.time] if query.time else []), *query.order_by, "arrival"]
    lines = {
        "window": f"{model!r}, {model.context.name} ({model.context.value})",
        "per key": ", ".join(query.keys) or "none: one stream",
        "order": f"{query.rank}, the rank" if query.rank else ", ".join(order),
        "compute": function_of(query),
        "pattern": None if pattern is None else f"{pattern!r}: {why}",
        "reads": reads,
        "runs": runs,
        "stages": stages.describe().replace("\n", "\n" + " " * 9),
    }
    return "\n".join(f"{name:<8} {value}" for name, value in lines.items() if value)


def function_of(query: WindowQuery) -> str:
    """What is computed, in words."""
    computation = query.computation
    if isinstance(computation, Aggregation):
        return ", ".join(f"{name}={f!r}" for name, f in computation.functions.items())
    step = type(computation).__name__.lower()
    function = getattr(computation, "function", getattr(computation, "update", None))
    return step if function is None else f"{step}({name_of(function)})"
