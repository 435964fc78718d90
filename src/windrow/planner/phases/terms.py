"""The terms of cost that the phases of several patterns share."""

from __future__ import annotations

from dataclasses import replace

from windrow.core.models import Axis
from windrow.engine.window_query import WindowQuery
from windrow.patterns import PaneFarm, Pattern
from windrow.patterns.farm import in_a_row
from windrow.planner.constants import USUAL_WIDTH, Constants
from windrow.planner.cost import farm_share, largest_share, pane_gain
from windrow.planner.load import Load
from windrow.planner.phases.phase import Phase
from windrow.planner.plans import Resources

_FIRINGS = 8
"""How often a windower over bounded rows fires windows, about."""


def for_rows_of(constants: Constants, width: float) -> Constants:
    """The constants for rows of so many bytes: what moves a row takes longer if it is wide."""
    times = width / USUAL_WIDTH
    moving = ("hand_over", "read", "exchange", "keep", "state", "native_read")
    return replace(constants, **{name: getattr(constants, name) * times for name in moving})


class Terms:
    """What the steps of a query cost for a load."""

    def __init__(self, query: WindowQuery, load: Load, resources: Resources) -> None:
        self.query, self.load, self.resources = query, load, resources
        self.is_stream = resources.is_stream
        self.constants = for_rows_of(resources.constants, load.row_bytes)

    def of(self, load: Load) -> Terms:
        """The same for another load."""
        return Terms(self.query, load, self.resources)

    def batch_for(self, executors: int) -> float:
        """How many windows share their rows where bounded rows fire: few batches are sent."""
        load = self.load
        return min(load.windows / load.keys, load.windows / executors / _FIRINGS)

    def in_a_row(self, batch: int = 1) -> int:
        """How many consecutive windows go to one worker of a farm."""
        return batch if self.is_stream else in_a_row(self.query, batch)

    def intake(self, sent: float) -> Phase:
        """Rows come to Python and are sent; partials of panes in their place if that is less."""
        return self._intake("rows come to Python", sent * self.constants.exchange)

    def reducing_intake(self, sent: float) -> Phase:
        c = self.constants
        work = self.load.rows * c.reduce + sent * c.piece
        return self._intake("rows come to Python and are added to panes", work)

    def _intake(self, name: str, work: float) -> Phase:
        c, cores = self.constants, self.resources.cores
        coming = self.load.rows * (c.read if self.resources.reads_files else c.hand_over)
        return Phase(name, coming + work, cores, 1 / cores, is_exchanged=False)

    def state(self, stored: float) -> float:
        return stored * self.constants.state if self.is_stream else 0.0

    def results(self) -> float:
        """What windows cost that fire, with the function."""
        return self.load.windows * (self.constants.window + self.load.per_window)

    def held(self, rows: float) -> float:
        """What it costs to hold rows until their windows fire, and to compute the built-ins."""
        c, load = self.constants, self.load
        per_row = c.reduce if load.keeps_panes else c.keep + load.per_row
        return rows * per_row + self.state(rows)

    def by_key(self, n: int) -> float:
        """The share of the busiest of n workers if keys are hashed to them."""
        return largest_share(n, self.load.keys, self.load.skew)

    def dealt(self, n: int, of_hot_key: float) -> float:
        """The share of the busiest of n workers if the pieces of a key are dealt to them in turn.

        The most frequent key has so many pieces: windows, batches of windows, or panes.
        """
        return farm_share(n, self.load.keys, self.load.skew, of_hot_key)

    def rankers(self, n: int, sent: float, are_paned: bool = False) -> list[Phase]:
        """If ranks are needed to route rows: workers that rank them and send copies of them.

        If there are keys, each of n rankers ranks some of them.
        """
        c, load = self.constants, self.load
        is_given = self.query.rank is not None and not are_paned
        if self.query.model.axis is not Axis.RANK or is_given:
            return []
        n = n if self.query.keys else 1
        work = load.rows * (c.exchange + c.keep) + sent * c.exchange
        return [Phase("rank all rows", work, n, self.by_key(n))]

    def sends_partials(self) -> bool:
        """Whether tuples are reduced to partials of panes before they are sent, whatever runs."""
        is_dealt = self.load.keeps_panes and not self.is_stream
        return self.load.reduces_early or is_dealt

    def sends_partials_to(self, pattern: Pattern) -> bool:
        """The same of a pattern; a windower forms panes of tuples."""
        is_formed = (
            self.is_stream and isinstance(pattern, PaneFarm) and pattern.workers == "agnostic"
        )
        return self.sends_partials() and not is_formed

    def partials(self, sent: float, rankers: int) -> list[Phase]:
        """Rows become partials of panes, which are sent, at once or as they are ranked."""
        c, load = self.constants, self.load
        if load.reduces_early:
            return [self.reducing_intake(sent)]
        n = rankers if self.query.keys else 1
        work = load.rows * (c.exchange + c.reduce) + sent * c.piece
        ranker = Phase("rank all rows and add them to panes", work, n, self.by_key(n))
        return [self.intake(load.rows), ranker]

    def shared_by_windows(self) -> float:
        """What the function costs if windows share the results of panes."""
        c, load = self.constants, self.load
        new_panes = load.panes / load.windows
        t_g = new_panes * load.per_window / load.panes_per_window
        gain = pane_gain(max(1.0, load.panes_per_window / new_panes), t_g, c.piece)
        return load.windows * load.per_window / gain
