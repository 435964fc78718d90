"""What a join will do, in words."""

from __future__ import annotations

from collections.abc import Sequence

from windrow.core.durations import in_words
from windrow.engine.joins.join_query import JoinQuery
from windrow.engine.stages.nodes import Stages
from windrow.patterns.joins import Strategy
from windrow.planner.join_layout import GridChoice

_WHY_BASELINE = {
    "centralised": "as given; one worker sends out its windows with each batch; a grid is faster",
    "handshake": "as given; all segments run in one worker; a grid is faster",
}


def explain_join(
    query: JoinQuery,
    choice: GridChoice,
    strategy: Strategy,
    stages: Stages,
    runs: str,
    reads: Sequence[str] = (),
) -> str:
    """The predicate, the windows, the layout and its stages; who reads each side, if told."""
    left, right = (f"{n} rows" if query.by_count else in_words(n) for n in query.lengths)
    order = "arrival" if query.time is None else f"{query.time[0]} and {query.time[1]}"
    layout = f"{choice.grid.describe(query)}: {choice.why}"
    if strategy != "grid":
        layout = f"{strategy} of {choice.grid.n}: {_WHY_BASELINE[strategy]}"
    lines = {
        "join": f"{query.how} on {query.on.describe()}",
        "within": f"the last {left} of the left, {right} of the right",
        "order": order,
        "layout": layout,
        **({"reads": _both(*reads)} if reads else {}),
        "runs": runs,
        "stages": stages.describe().replace("\n", "\n" + " " * 9),
    }
    return "\n".join(f"{name:<8} {value}" for name, value in lines.items())


def _both(left: str, right: str) -> str:
    return left if left == right else f"left: {left}; right: {right}"
