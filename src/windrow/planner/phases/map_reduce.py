"""The phases of Win_MapReduce."""

from __future__ import annotations

from windrow.core.computation import Decompose
from windrow.patterns import WinMapReduce
from windrow.patterns.workers import can_be_dealt, is_told_by_time
from windrow.planner.cost import rows_sent_per_window
from windrow.planner.phases.phase import Phase
from windrow.planner.phases.terms import Terms


def map_reduce(at: Terms, pattern: WinMapReduce, n: int, share: float, rows: float) -> list[Phase]:
    """Map and reduce in n instances, which get so many rows and copies of rows in all."""
    c, load = at.constants, at.load
    if load.sends_rows and is_told_by_time(at.query.model):
        sent = load.sent_to(pattern.reduce, at.in_a_row()) * rows / load.rows
        work = at.held(sent) + at.results()
        of_reduces = share * at.dealt(pattern.reduce, load.windows_of_hot_key)
        reduce = Phase("compute windows", work, n * pattern.reduce, of_reduces)
        return [at.intake(sent), reduce]
    if can_be_dealt(at.query):
        held = rows * (c.keep + load.per_row) + at.state(rows)
        return [at.intake(rows), *parts(at, pattern, n, share, 0.0, held)]
    sent = load.windows * load.rows_per_window
    if load.sends_rows and not at.is_stream:
        batch = max(1.0, at.batch_for(pattern.reduce * n))
        sent = load.windows * rows_sent_per_window(load.rows_per_window, load.rows_apart, batch)
    windower = rows * c.keep + at.state(rows) + sent * c.exchange
    windowers, busiest = n, share
    if n == 1 and at.query.keys and not at.is_stream:
        # Each of them decides the windows of some of the keys.
        windowers = pattern.reduce if load.sends_rows else pattern.map
        busiest = at.by_key(windowers)
    deciding = Phase("decide all windows", windower, windowers, busiest)
    return [at.intake(rows), deciding, *parts(at, pattern, n, share, sent)]


def parts(
    at: Terms, pattern: WinMapReduce, n: int, share: float, sent: float, held: float = 0.0
) -> list[Phase]:
    """Map and reduce, once per round, of rows that mappers hold or a windower has sent."""
    c, load = at.constants, at.load
    of_reduces = share * at.dealt(pattern.reduce, load.windows_of_hot_key)
    if load.sends_rows:
        work = sent * (c.exchange + load.per_row) + at.results()
        n_reduce = n * pattern.reduce
        return [Phase("compute windows", work, n_reduce, of_reduces, holds_state=False)]
    computation = at.query.computation
    n_rounds = len(computation.rounds) if isinstance(computation, Decompose) else 1
    pieces = load.windows * pattern.map
    mapping = pieces * c.piece + load.windows * load.per_window / n_rounds + held
    mapping += sent * (c.exchange + load.per_row)
    # A round's reducers send the rows on to the next round's mappers.
    again = sent * c.exchange if n_rounds > 1 else 0.0
    combining = pieces * (c.exchange + c.piece) + load.windows * c.window + again
    of_maps, holds = share / pattern.map, held > 0
    one_round = [
        Phase("compute parts of windows", mapping, n * pattern.map, of_maps, holds_state=holds),
        Phase("combine parts", combining, n * pattern.reduce, of_reduces, holds_state=False),
    ]
    return one_round * n_rounds
