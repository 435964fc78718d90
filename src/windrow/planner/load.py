"""The load of a query: how many rows, panes and windows there will be, and what they cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from windrow.core.computation import Aggregation, Apply, Fold
from windrow.core.models import WindowModel
from windrow.core.statistics import Statistics
from windrow.engine.intake import needed_columns
from windrow.engine.window_query import WindowQuery
from windrow.functions.columnar import Columnar
from windrow.patterns.workers import can_keep_panes, is_told_by_time, needs_all_rows, sends_rows
from windrow.planner.constants import Constants
from windrow.planner.cost import key_share, multicast, share_of_filled

ROWS = 2_000_000
"""The rows of a bounded input if their number is not known."""
BATCH_SECONDS = 1.0
"""How much of a stream one micro-batch is taken to hold."""
KEYS = 100
"""The keys if their number is not known."""
_CONTROL = 16.0
"""The bytes of a row's time, or of the number of a pane, and of its key."""
_WIDTH, _OF_ANY_LENGTH = 8.0, 32.0
_NARROW = {"boolean": 1.0, "tinyint": 1.0, "smallint": 2.0, "int": 4.0, "float": 4.0, "date": 4.0}
_WIDE = frozenset(["bigint", "double", "timestamp", "timestamp_ntz"])
_SLIDE = 1_000_000
"""The microseconds between windows that have no panes."""
_LEAST_RATE, _GREATEST_RATE = 1e-12, 1e15
"""Rows per second: beyond these, numbers of windows would have no meaning."""
FUNCTION = 6.0
"""The microseconds that a user's function takes per window if nothing is known about it."""
ROWS_PER_WINDOW = 100.0
"""The rows of a window where nothing is known about it."""
ROWS_APART = 10.0
"""The rows between two windows where nothing is known about them, and the rows of a pane."""


@dataclass(frozen=True)
class Load:
    """What a bounded input, or one micro-batch, brings: totals over all keys."""

    rows: float
    keys: float
    skew: float
    """p_max, the share of the most frequent key."""
    windows: float
    windows_of_hot_key: float
    """Those of the most frequent key: as its rows, or, if time tells them, as those of any key."""
    rows_per_window: float
    rows_apart: float
    """Rows of a key between the starts of two windows."""
    panes: float
    """Panes with at least one row; no less than windows if the model has no panes."""
    rows_per_pane: float
    panes_per_window: float
    per_row: float
    """What the function costs per row that a worker holds, beside keeping it."""
    per_window: float
    """What the function costs per window."""
    keeps_panes: bool
    """Whether workers keep partials of panes instead of rows."""
    reduces_early: bool
    """Whether emitters send partials of panes instead of rows."""
    sends_rows: bool
    """Whether workers of windows are sent rows, as parts of windows would send no fewer."""
    row_bytes: float
    """The memory that a row takes in a worker."""
    partial_bytes: float
    """The memory that the partials of a pane take, if workers keep them."""

    hot_keys: tuple[tuple[Any, float], ...] = ()
    """Frequent keys by name and their shares of the rows, the most frequent first."""

    @property
    def windows_per_row(self) -> float:
        return self.rows_per_window / self.rows_apart

    @property
    def panes_of_hot_key(self) -> float:
        """Those of the most frequent key."""
        return self.panes * self.windows_of_hot_key / self.windows

    def sent_to(self, n: int, batch: int = 1) -> float:
        """How many rows and copies of rows a window farm sends to n workers."""
        return self.rows * multicast(n, self.windows_per_row, batch)

    def panes_sent_to(self, n: int, batch: int = 1) -> float:
        """How many partials of panes are sent to n workers that share the windows."""
        return self.panes * multicast(n, self.panes_per_window, batch)


def load_of(
    query: WindowQuery, statistics: Statistics, constants: Constants, *, is_stream: bool = False
) -> Load:
    """The load by the statistics; what they do not tell is assumed to be ordinary."""
    model = query.model
    keys = float(statistics.keys or KEYS) if query.keys else 1.0
    if query.keys and statistics.keys is None and statistics.skew is not None:
        keys = max(KEYS, 1 / statistics.skew) if statistics.skew < 1 else 1.0
    hot_keys = statistics.hot_keys or () if query.keys else ()
    shares = [share for _, share in hot_keys]
    skew = max(statistics.skew or 0.0, key_share(keys), *shares) if query.keys else 1.0
    pane_length = model.pane_length
    rate = statistics.rate
    if rate is None:
        # As if panes had some rows each.
        rate = ROWS_APART * keys / (pane_length or _SLIDE) * 1e6
    rate = min(max(rate, _LEAST_RATE), _GREATEST_RATE)
    rows = float(statistics.rows or ROWS)
    if is_stream:
        rows = max(1.0, rate * BATCH_SECONDS)
    per_key = rate / 1e6 / keys
    rows_per_window, rows_apart = _rows_of_windows(
        model, per_key, is_known=statistics.rate is not None
    )
    if not is_stream:
        # No window has more rows than its key.
        most = max(1.0, rows / keys)
        rows_per_window = min(rows_per_window, most)
        rows_apart = rows_apart if model.shares_tuples else min(rows_apart, most)
    # Others begin or end with a row.
    filled = share_of_filled(rows_per_window) if is_told_by_time(model) else 1.0
    windows = rows / rows_apart * filled
    rows_per_pane = rows_apart
    panes_per_window = max(1.0, rows_per_window / rows_apart)
    if pane_length is not None:
        per_unit = 1.0 if model.ranks_tuples else per_key
        rows_per_pane = pane_length * per_unit
        panes_per_window = max(1.0, rows_per_window / rows_per_pane)
    panes = rows / rows_per_pane * (1.0 if model.ranks_tuples else share_of_filled(rows_per_pane))
    per_row, per_window = _function_costs(query, statistics, constants, rows_per_window / filled)
    return Load(
        rows=rows,
        keys=keys,
        skew=skew,
        windows=windows,
        windows_of_hot_key=windows * (skew if model.ranks_tuples else 1 / keys),
        rows_per_window=rows_per_window / filled,
        rows_apart=rows_apart / filled,
        panes=panes,
        rows_per_pane=rows / panes,
        panes_per_window=panes_per_window,
        per_row=per_row,
        per_window=per_window,
        keeps_panes=can_keep_panes(query),
        reduces_early=can_keep_panes(query) and is_told_by_time(model),
        sends_rows=sends_rows(query, is_stream=is_stream),
        row_bytes=_CONTROL + sum(_width(query.types[name]) for name in needed_columns(query)),
        partial_bytes=_CONTROL + _WIDTH * (1 + _functions(query)),
        hot_keys=hot_keys,
    )


def _rows_of_windows(model: WindowModel, per_key: float, *, is_known: bool) -> tuple[float, float]:
    """The rows of a window and those between two, if a key has so many rows per microsecond."""
    usual = ROWS_APART * model.overlap if model.overlap else ROWS_PER_WINDOW
    expected = model.expected_rows(per_key) or (usual, ROWS_APART)
    if model.are_bursts:
        rows = max(ROWS_APART, expected[0]) if is_known else ROWS_APART
        return rows, rows
    return expected


def _width(kind: str) -> float:
    """The bytes of a value, about: those of any length are taken to be short."""
    return _NARROW.get(kind, _WIDTH if kind in _WIDE else _OF_ANY_LENGTH)


def _functions(query: WindowQuery) -> int:
    """How many functions there are; each has about one partial."""
    computation = query.computation
    return len(computation.functions) if isinstance(computation, Aggregation) else 1


def _function_costs(
    query: WindowQuery, statistics: Statistics, constants: Constants, rows_per_window: float
) -> tuple[float, float]:
    """What the function costs per row held and per window."""
    computation = query.computation
    if isinstance(computation, Aggregation):
        own = [f for f in computation.functions.values() if not isinstance(f, Columnar)]
        per_row = constants.of_all if needs_all_rows(query) else constants.of_few
        per_row = 0.0 if can_keep_panes(query) else per_row + constants.lift * len(own)
        return per_row, statistics.cost or 0.0
    if statistics.cost is not None:
        return 0.0, statistics.cost + constants.call
    if isinstance(computation, Fold):
        return 0.0, constants.fold * rows_per_window
    calls = 1 if isinstance(computation, Apply) else 2
    return 0.0, (FUNCTION + constants.call) * calls
