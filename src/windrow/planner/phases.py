"""The phases of a plan: the work of each stage, by the papers' terms and this runtime's constants.

Spark runs one stage after the other. Each has its total work and the share of its busiest worker.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from windrow.core.computation import Decompose
from windrow.core.models import Axis
from windrow.engine.window_query import WindowQuery
from windrow.patterns import KeyFarm, PaneFarm, Pattern, WinFarm, WinMapReduce
from windrow.patterns.setting import TASKS_EACH
from windrow.patterns.workers import can_be_dealt, is_told_by_time
from windrow.planner.constants import USUAL_WIDTH, Constants
from windrow.planner.cost import (
    farm_share,
    key_share,
    largest_share,
    makespan,
    pane_gain,
    rows_sent_per_window,
    share_of_partition,
    windows_share,
)
from windrow.planner.load import Load
from windrow.planner.plans import Plan, Resources

_FIRINGS = 8
"""How often a windower over bounded rows fires windows, about."""


@dataclass(frozen=True)
class Phase:
    """Workers that run at the same time."""

    name: str
    work: float
    """All that they do, in microseconds of one core."""
    n: int
    share: float
    """The share of the work that the busiest worker has."""
    is_exchanged: bool = True
    """Whether rows are exchanged before it."""
    holds_state: bool = True

    def time(self, resources: Resources) -> float:
        """How long it takes, in microseconds."""
        constants, cores = resources.constants, resources.cores
        # The state of a stream is in about as many partitions as there are cores.
        is_stored = resources.is_stream and self.holds_state
        n, share = self.n, self.share
        if is_stored and n > cores:
            n, share = cores, share_of_partition(n, share, cores)
        working = makespan(self.work, share, n, cores)
        if not self.is_exchanged:
            return working
        fixed = constants.stage + constants.task * n / cores
        return fixed + (constants.batch if is_stored else 0.0) + working


def for_rows_of(constants: Constants, width: float) -> Constants:
    """The constants for rows of so many bytes: what moves a row takes longer if it is wide."""
    times = width / USUAL_WIDTH
    moving = ("hand_over", "read", "exchange", "keep", "state", "native_read")
    return replace(constants, **{name: getattr(constants, name) * times for name in moving})


class Phases:
    """Makes the phases of plans for a query."""

    def __init__(self, query: WindowQuery, load: Load, resources: Resources) -> None:
        self.query, self.load, self.resources = query, load, resources
        self.constants = for_rows_of(resources.constants, load.row_bytes)

    def of(self, plan: Plan) -> list[Phase]:
        """The phases of the plan, in order."""
        if plan.native is not None:
            return self._native(plan)
        pattern = plan.pattern
        if isinstance(pattern, WinFarm):
            return self._win_farm(pattern)
        if isinstance(pattern, KeyFarm) and pattern.hot is not None:
            return self._hot_key_farm(pattern, pattern.hot)
        if isinstance(pattern, KeyFarm):
            share = largest_share(pattern.n, self.load.keys, self.load.skew)
            return self._inner(pattern.inner, pattern.n, share)
        rankers = 0
        if isinstance(pattern, PaneFarm | WinMapReduce):
            rankers = pattern.plq if isinstance(pattern, PaneFarm) else pattern.map
        return self._inner(pattern, 1, 1.0, rankers)

    def _intake(self, sent: float) -> Phase:
        """Rows come to Python and are sent; partials of panes in their place if that is less."""
        c, load = self.constants, self.load
        work = load.rows * (c.read if self.resources.reads_files else c.hand_over)
        work += sent * c.exchange
        cores = self.resources.cores
        return Phase("rows come to Python", work, cores, 1 / cores, is_exchanged=False)

    def _reducing_intake(self, sent: float) -> Phase:
        c, load = self.constants, self.load
        work = load.rows * (c.read if self.resources.reads_files else c.hand_over)
        work += load.rows * c.reduce + sent * c.piece
        cores = self.resources.cores
        name = "rows come to Python and are added to panes"
        return Phase(name, work, cores, 1 / cores, is_exchanged=False)

    def _state(self, stored: float) -> float:
        return stored * self.constants.state if self.resources.is_stream else 0.0

    def _native(self, plan: Plan) -> list[Phase]:
        c, load, cores = self.constants, self.load, self.resources.cores
        groups = load.windows if plan.native == "windows" else load.panes
        row = c.native_row + c.native_read * self.resources.reads_files
        row += c.native_value * load.needs_all_rows
        work = load.rows * row + groups * c.native_group
        first = Phase("Spark groups rows", work, cores, 1 / cores, is_exchanged=False)
        if plan.native == "windows":
            return [first]
        n = cores if self.query.keys else 1
        share = largest_share(n, load.keys, load.skew)
        work = groups * (c.hand_over + c.piece) + load.windows * c.window
        return [first, Phase("compute windows over panes", work, n, share)]

    def _inner(self, pattern: Pattern, n: int, share: float, rankers: int = 0) -> list[Phase]:
        """A pattern in each of n instances, of which the busiest has this share of the rows.

        If rows are ranked, there are so many rankers; by default one per instance.
        """
        if self._sends_partials() and isinstance(pattern, PaneFarm | WinMapReduce):
            return self._reduced(pattern, n, share, self.load.panes, rankers or n)
        if isinstance(pattern, PaneFarm):
            return self._pane_farm(pattern, n, share, self.load.rows, rankers or n)
        if isinstance(pattern, WinMapReduce):
            return self._map_reduce(pattern, n, share, self.load.rows)
        c, load = self.constants, self.load
        results = load.windows * (c.window + load.per_window)
        if load.reduces_early:
            work = load.panes * c.piece + results + self._state(load.panes)
            return [
                self._reducing_intake(load.panes),
                Phase("compute windows over panes", work, n, share),
            ]
        return [
            self._intake(load.rows),
            Phase("compute windows", self._held(load.rows) + results, n, share),
        ]

    def _held(self, rows: float) -> float:
        """What it costs to hold rows until their windows fire, and to compute the built-ins."""
        c, load = self.constants, self.load
        per_row = c.reduce if load.keeps_panes else c.keep + load.per_row
        return rows * per_row + self._state(rows)

    def _rankers(self, n: int, sent: float, are_paned: bool = False) -> list[Phase]:
        """If ranks are needed to route rows: workers that rank them and send copies of them.

        If there are keys, each of n rankers ranks some of them.
        """
        c, load = self.constants, self.load
        is_given = self.query.rank is not None and not are_paned
        if self.query.model.axis is not Axis.RANK or is_given:
            return []
        n = n if self.query.keys else 1
        work = load.rows * (c.exchange + c.keep) + sent * c.exchange
        return [Phase("rank all rows", work, n, largest_share(n, load.keys, load.skew))]

    def _win_farm(self, pattern: WinFarm) -> list[Phase]:
        c, load, n = self.constants, self.load, pattern.n
        if pattern.workers == "agnostic":
            return self._agnostic(pattern)
        batches = load.windows_of_hot_key / pattern.batch
        share = farm_share(n, load.keys, load.skew, batches)
        if self._sends_partials():
            return self._reduced(pattern.inner, n, share, load.panes_sent_to(n, pattern.batch), n)
        results = load.windows * (c.window + load.per_window)
        if isinstance(pattern.inner, PaneFarm):
            sent = load.sent_to(n, pattern.batch)
            return self._pane_farm(pattern.inner, n, share, sent, n)
        sent = load.sent_to(n, pattern.batch)
        rankers = self._rankers(n, sent)
        if isinstance(pattern.inner, WinMapReduce):
            intake, *rest = self._map_reduce(pattern.inner, n, share, sent)
            return [self._intake(load.rows) if rankers else intake, *rankers, *rest]
        work = self._held(sent) + results
        return [
            self._intake(load.rows if rankers else sent),
            *rankers,
            Phase("compute windows", work, n, share),
        ]

    def _agnostic(self, pattern: WinFarm) -> list[Phase]:
        """Windowers, then executors that are sent whole windows.

        Over bounded rows there is a windower per worker, and many small tasks execute. What fires
        at once is sent in few batches, however few windows a batch has at least.
        """
        c, load, n = self.constants, self.load, pattern.n
        windowers, share, executors, batch = 1, 1.0, n, float(pattern.batch)
        if not self.resources.is_stream:
            executors = n * TASKS_EACH
            batch = max(batch, min(load.windows / load.keys, load.windows / executors / _FIRINGS))
            if self.query.keys:
                windowers, share = n, largest_share(n, load.keys, load.skew)
        sent = load.windows * rows_sent_per_window(load.rows_per_window, load.rows_apart, batch)
        deciding = load.rows * c.keep + self._state(load.rows) + sent * c.exchange
        first = [
            self._intake(load.rows),
            Phase("decide all windows", deciding, windowers, share),
        ]
        if load.keeps_panes and not self.resources.is_stream:
            sent = load.windows * load.panes_per_window
            deciding = (load.panes + sent) * c.piece
            decide = Phase("decide all windows", deciding, windowers, share)
            first = [*self._partials(load.panes, windowers), decide]
        if isinstance(pattern.inner, WinMapReduce):
            inner = pattern.inner
            width = inner.reduce if load.needs_all_rows else inner.map
            instances = n if self.resources.is_stream else max(n, executors // width)
            share = windows_share(instances, load.windows)
            return [*first, *self._parts(inner, instances, share, sent)]
        results = load.windows * (c.window + load.per_window)
        work = sent * (c.exchange + max(load.per_row, c.of_few)) + results
        busiest = windows_share(executors, load.windows / batch)
        return [*first, Phase("compute windows", work, executors, busiest, holds_state=False)]

    def _hot_key_farm(self, pattern: KeyFarm, farm: WinFarm) -> list[Phase]:
        """Each key has one worker, but all of them, or executors, share the windows of hot keys."""
        c, load, n = self.constants, self.load, pattern.n
        named = dict(load.hot_keys)
        shares = [named.pop(key, load.skew) for key in pattern.hot_keys]
        hot, n_hot = min(1.0, sum(shares)), min(len(shares), load.keys)
        # The rows of the other keys, as if there were no others.
        rest, keys = max(1e-9, 1.0 - hot), max(1.0, load.keys - n_hot)
        p_max = min(1.0, max([key_share(keys), *(share / rest for share in named.values())]))
        of_cold = rest * largest_share(n, keys, p_max)
        # A key has windows by its rows, or, if time tells them, as many as any other key.
        of_windows = hot if self.query.model.ranks_tuples else n_hot / load.keys
        batches = max(1.0, load.windows * of_windows / farm.batch)
        results = load.windows * c.window
        if farm.workers == "active":
            busiest = min(1.0, of_cold + hot * windows_share(n, batches))
            if load.reduces_early:
                sent = load.panes * rest + load.panes_sent_to(n, farm.batch) * hot
                work = sent * c.piece + results + load.windows * load.per_window
                work += self._state(sent)
                computing = Phase("compute windows over panes", work, n, busiest)
                return [self._reducing_intake(sent), computing]
            sent = load.rows * rest + load.sent_to(n, farm.batch) * hot
            rankers = self._rankers(n, sent)
            work = self._held(sent) + results + load.windows * load.per_window
            first = self._intake(load.rows if rankers else sent)
            return [first, *rankers, Phase("compute windows", work, n, busiest)]
        executors = farm.n if self.resources.is_stream else farm.n * TASKS_EACH
        sent = hot * load.windows
        sent *= rows_sent_per_window(load.rows_per_window, load.rows_apart, farm.batch)
        deciding = load.rows * c.keep + self._state(load.rows)
        own = load.rows * load.per_row * rest + (results + load.windows * load.per_window) * rest
        first_work = deciding + own + sent * c.exchange
        of_hot = (hot * deciding + sent * c.exchange) / max(1.0, n_hot)
        busiest = min(1.0, (of_hot + of_cold * (deciding + own / rest)) / first_work)
        work = sent * (c.exchange + max(load.per_row, c.of_few))
        work += (results + load.windows * load.per_window) * hot
        share = windows_share(executors, batches)
        return [
            self._intake(load.rows),
            Phase("compute windows of most keys", first_work, n, busiest),
            Phase("compute windows of hot keys", work, executors, share, holds_state=False),
        ]

    def _sends_partials(self) -> bool:
        """Whether tuples are reduced to partials of panes before they are sent, whatever runs."""
        is_dealt = self.load.keeps_panes and not self.resources.is_stream
        return self.load.reduces_early or is_dealt

    def _partials(self, sent: float, rankers: int) -> list[Phase]:
        """Rows become partials of panes, which are sent, at once or as they are ranked."""
        c, load = self.constants, self.load
        if load.reduces_early:
            return [self._reducing_intake(sent)]
        n = rankers if self.query.keys else 1
        work = load.rows * (c.exchange + c.reduce) + sent * c.piece
        busiest = largest_share(n, load.keys, load.skew)
        ranker = Phase("rank all rows and add them to panes", work, n, busiest)
        return [self._intake(load.rows), ranker]

    def _reduced(
        self, pattern: Pattern, n: int, share: float, sent: float, rankers: int
    ) -> list[Phase]:
        """A pattern of which n instances get so many partials of panes in all."""
        c, load = self.constants, self.load
        results = load.windows * (c.window + load.per_window)
        first = self._partials(sent, rankers)
        if isinstance(pattern, PaneFarm):
            plq, wlq = pattern.plq, pattern.wlq
            of_panes, of_windows = windows_share(plq, load.panes), windows_share(wlq, load.windows)
            merging, taken = sent * c.piece, sent / load.panes * load.panes_sent_to(wlq)
            computing = taken * c.piece + results + self._state(taken)
            return [
                *first,
                Phase("merge panes", merging, n * plq, share * of_panes),
                Phase("compute windows over panes", computing, n * wlq, share * of_windows),
            ]
        if isinstance(pattern, WinMapReduce) and load.reduces_early:
            held = sent * c.piece + self._state(sent)
            return [*first, *self._parts(pattern, n, share, 0.0, held)]
        if isinstance(pattern, WinMapReduce):
            pieces, windowers = load.windows * load.panes_per_window, first[-1].n
            windowers = max(n, windowers) if n > 1 else windowers
            deciding = Phase("decide all windows", (sent + pieces) * c.piece, windowers, share)
            return [*first, deciding, *self._parts(pattern, n, share, pieces)]
        work = sent * c.piece + results + self._state(sent)
        return [*first, Phase("compute windows over panes", work, n, share)]

    def _pane_farm(
        self, pattern: PaneFarm, n: int, share: float, rows: float, n_rankers: int
    ) -> list[Phase]:
        c, load = self.constants, self.load
        copies = rows / load.rows
        if load.needs_all_rows and not self.resources.is_stream:
            sent = load.sent_to(pattern.wlq) * copies
            rankers = self._rankers(n_rankers, sent, are_paned=True)
            work = self._held(sent) + load.windows * (c.window + load.per_window)
            of_windows = share * windows_share(pattern.wlq, load.windows)
            computing = Phase("compute windows", work, n * pattern.wlq, of_windows)
            return [self._intake(rows if rankers else sent), *rankers, computing]
        pane_work = rows * (c.keep + load.per_row) + self._state(rows)
        pane_work += load.panes * copies * c.piece
        if not load.needs_all_rows:
            pane_work += copies * self._shared_by_windows()
        sent = load.panes_sent_to(pattern.wlq) * copies
        window_work = sent * c.piece + load.windows * c.window + self._state(sent)
        if load.needs_all_rows:
            # Panes send their rows, and the windows are computed of these.
            sent_rows = sent * load.rows_per_pane
            window_work += sent_rows * (c.exchange + c.keep + load.per_row)
            window_work += load.windows * load.per_window
        plq, wlq = pattern.plq, pattern.wlq
        of_panes = share * windows_share(plq, load.panes)
        of_windows = share * windows_share(wlq, load.windows)
        rankers = self._rankers(n_rankers, rows, are_paned=True)
        return [
            self._intake(rows),
            *rankers,
            Phase("compute panes", pane_work, n * plq, of_panes),
            Phase("compute windows over panes", window_work, n * wlq, of_windows),
        ]

    def _shared_by_windows(self) -> float:
        """What the function costs if windows share the results of panes."""
        c, load = self.constants, self.load
        new_panes = load.panes / load.windows
        t_g = new_panes * load.per_window / load.panes_per_window
        gain = pane_gain(max(1.0, load.panes_per_window / new_panes), t_g, c.piece)
        return load.windows * load.per_window / gain

    def _map_reduce(self, pattern: WinMapReduce, n: int, share: float, rows: float) -> list[Phase]:
        """Map and reduce in n instances, which get so many rows and copies of rows in all."""
        c, load = self.constants, self.load
        if load.needs_all_rows and is_told_by_time(self.query.model):
            sent = load.sent_to(pattern.reduce) * rows / load.rows
            work = self._held(sent) + load.windows * (c.window + load.per_window)
            of_reduces = share * windows_share(pattern.reduce, load.windows)
            reduce = Phase("compute windows", work, n * pattern.reduce, of_reduces)
            return [self._intake(sent), reduce]
        if can_be_dealt(self.query):
            held = rows * (c.keep + load.per_row) + self._state(rows)
            return [self._intake(rows), *self._parts(pattern, n, share, 0.0, held)]
        sent = load.windows * load.rows_per_window
        if load.needs_all_rows and not self.resources.is_stream:
            # What fires at once is sent in few batches.
            fired = load.windows / pattern.reduce / n / _FIRINGS
            batch = max(1.0, min(load.windows / load.keys, fired))
            sent = load.windows * rows_sent_per_window(load.rows_per_window, load.rows_apart, batch)
        windower = rows * c.keep + self._state(rows) + sent * c.exchange
        windowers, busiest = n, share
        if n == 1 and self.query.keys and not self.resources.is_stream:
            # Each of them decides the windows of some of the keys.
            windowers = pattern.reduce if load.needs_all_rows else pattern.map
            busiest = largest_share(windowers, load.keys, load.skew)
        deciding = Phase("decide all windows", windower, windowers, busiest)
        return [self._intake(rows), deciding, *self._parts(pattern, n, share, sent)]

    def _parts(
        self, pattern: WinMapReduce, n: int, share: float, sent: float, held: float = 0.0
    ) -> list[Phase]:
        """Map and reduce, once per round, of rows that mappers hold or a windower has sent."""
        c, load = self.constants, self.load
        of_reduces = share * windows_share(pattern.reduce, load.windows)
        if load.needs_all_rows:
            work = sent * (c.exchange + load.per_row) + load.windows * (c.window + load.per_window)
            n_reduce = n * pattern.reduce
            return [Phase("compute windows", work, n_reduce, of_reduces, holds_state=False)]
        computation = self.query.computation
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
