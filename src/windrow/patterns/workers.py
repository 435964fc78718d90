"""The workers of each kind: what a pattern's stage is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import pyarrow as pa

from windrow.core.computation import Aggregation
from windrow.core.models import CountWindow, DeltaWindow, LandmarkWindow, TimeWindow, WindowModel
from windrow.engine.columns.control import ARRIVAL, AXIS, PIECE, RANK, TIME
from windrow.engine.evaluate.evaluators import PiecesOfWindows, WholeWindows, WindowsOfPieces
from windrow.engine.evaluate.pane_reduction import ReducedToPanes
from windrow.engine.evaluate.partials import PartialColumns
from windrow.engine.stages.routes import Route
from windrow.engine.window_query import WindowQuery
from windrow.engine.windows.windower import Share
from windrow.engine.workers.agnostic import Executor, WindowerWorker
from windrow.engine.workers.mapper import Mapper
from windrow.engine.workers.paned import PaneLevelWorker, WindowLevelWorker
from windrow.engine.workers.paned_win_seq import PanedWinSeq, ReducedWinSeq
from windrow.engine.workers.ranker import Ranker
from windrow.engine.workers.reducer import Reducer
from windrow.engine.workers.rounds import RoundMapper, RoundReducer
from windrow.engine.workers.win_seq import Geometry, WinSeqWorker
from windrow.engine.workers.worker import Worker

Interval = CountWindow | TimeWindow | LandmarkWindow
Make: TypeAlias = Callable[[int], Worker]
ShareOf: TypeAlias = Callable[[int], Share]


def is_timed_interval(model: WindowModel) -> bool:
    """Whether a tuple's own time tells its windows."""
    return isinstance(model, TimeWindow | LandmarkWindow)


def position(query: WindowQuery) -> str:
    """The column that tells a tuple's windows to an emitter."""
    return RANK if isinstance(query.model, CountWindow) else TIME


def own_axis(query: WindowQuery) -> str | None:
    """What rules the windows of a worker that sees all tuples of its keys."""
    if isinstance(query.model, CountWindow):
        return None
    return query.model.on if isinstance(query.model, DeltaWindow) else TIME


def kept_columns(query: WindowQuery, are_pieces: bool) -> dict[str, pa.DataType]:
    """The columns a worker keeps of tuples: those of the function, and what orders tuples."""
    is_agg = isinstance(query.computation, Aggregation)
    names = query.computation.columns if is_agg else list(query.types)  # type: ignore[attr-defined]
    is_ordered_later = not query.model.ranks_tuples
    kept = {n: query.arrow_type(n) for n in [*names, *(query.order_by if is_ordered_later else ())]}
    if are_pieces and is_ordered_later:
        kept[ARRIVAL] = pa.int64()
    return kept


def _order(query: WindowQuery) -> list[str]:
    """The columns that order a key's tuples, the same on every worker."""
    return [AXIS] if query.model.ranks_tuples else [AXIS, *query.order_by, ARRIVAL]


def ranker(query: WindowQuery) -> Make:
    return partial(_ranker, query)


def _ranker(query: WindowQuery, index: int) -> Worker:
    return Ranker(query)


def win_seq(query: WindowQuery, axis: str | None, share_of: ShareOf) -> Make:
    return partial(_win_seq, query, axis, share_of)


def _win_seq(query: WindowQuery, axis: str | None, share_of: ShareOf, index: int) -> Worker:
    share = share_of(index)
    if can_keep_panes(query):
        windows = windows_of_panes(query.model)
        partials = _partial_columns(query)
        return PanedWinSeq(query, windows.geometry, axis, partials, share)
    columns = kept_columns(query, are_pieces=False)
    return WinSeqWorker(
        query, Geometry(query.model, axis), WholeWindows(query), columns, share, share
    )


def reduced_win_seq(query: WindowQuery, share_of: ShareOf) -> Make:
    """For what ``reduced_to_panes`` sends."""
    return partial(_reduced_win_seq, query, share_of)


def _reduced_win_seq(query: WindowQuery, share_of: ShareOf, index: int) -> Worker:
    share = share_of(index)
    geometry = windows_of_panes(query.model).geometry
    columns = _partial_columns(query)
    return ReducedWinSeq(query, geometry, WindowsOfPieces(query), columns, share, share)


def reduced_to_panes(query: WindowQuery, then: Route) -> Route:
    """Tuples as partials of panes, sent on as ``then`` says."""
    geometry = windows_of_panes(query.model).geometry
    return ReducedToPanes(query, geometry.pane, geometry.origin, TIME, then)


def can_reduce_early(query: WindowQuery) -> bool:
    """Whether an emitter can make partials of panes: time tells a tuple's pane."""
    return is_timed_interval(query.model) and can_keep_panes(query)


def windower(
    query: WindowQuery, axis: str | None, share_of: ShareOf, batch: int, executors: int, parts: int
) -> Make:
    return partial(_windower, query, axis, share_of, batch, executors, parts)


def _windower(
    query: WindowQuery,
    axis: str | None,
    share_of: ShareOf,
    batch: int,
    executors: int,
    parts: int,
    index: int,
) -> Worker:
    columns = kept_columns(query, are_pieces=False)
    geometry = Geometry(query.model, axis)
    return WindowerWorker(query, geometry, columns, share_of(index), batch, executors, parts)


def executor(query: WindowQuery, are_parts: bool) -> Make:
    return partial(_executor, query, are_parts)


def _executor(query: WindowQuery, are_parts: bool, index: int) -> Worker:
    evaluator = PiecesOfWindows(query, [RANK]) if are_parts else WholeWindows(query)
    return Executor(query, evaluator)


def mapper(query: WindowQuery, share_of: ShareOf, parts: int) -> Make:
    return partial(_mapper, query, share_of, parts)


def _mapper(query: WindowQuery, share_of: ShareOf, parts: int, index: int) -> Worker:
    share = share_of(index // parts)
    evaluator = PiecesOfWindows(query, _order(query))
    geometry = Geometry(query.model, TIME)
    columns = kept_columns(query, are_pieces=True)
    return Mapper(index % parts, query, geometry, evaluator, columns, share, share)


def round_mapper(query: WindowQuery, number: int, is_last: bool) -> Make:
    return partial(_round_mapper, query, number, is_last)


def _round_mapper(query: WindowQuery, number: int, is_last: bool, index: int) -> Worker:
    return RoundMapper(query, number, is_last)


def round_reducer(query: WindowQuery, number: int) -> Make:
    return partial(_round_reducer, query, number)


def _round_reducer(query: WindowQuery, number: int, index: int) -> Worker:
    return RoundReducer(query, number)


def reducer(query: WindowQuery) -> Make:
    return partial(_reducer, query)


def _reducer(query: WindowQuery, index: int) -> Worker:
    return Reducer(query)


def panes(model: WindowModel) -> CountWindow | TimeWindow:
    """The panes as tumbling windows."""
    assert model.pane_length is not None
    if isinstance(model, CountWindow):
        return CountWindow(model.pane_length)
    assert isinstance(model, TimeWindow | LandmarkWindow)
    return TimeWindow(model.pane_length, origin=model.origin)


@dataclass(frozen=True)
class WindowsOfPanes:
    """The query's windows, counted in panes."""

    model: Interval
    geometry: Geometry
    position: str = PIECE


def windows_of_panes(model: WindowModel) -> WindowsOfPanes:
    pane = model.pane_length
    assert pane is not None
    in_panes: Interval
    if isinstance(model, CountWindow):
        in_panes = CountWindow(model.length // pane, model.slide // pane)
        return WindowsOfPanes(in_panes, Geometry(in_panes, PIECE, pane))
    assert isinstance(model, TimeWindow | LandmarkWindow)
    if isinstance(model, TimeWindow):
        in_panes = TimeWindow(model.length // pane, model.slide // pane)
    else:
        in_panes = LandmarkWindow(model.every // pane, model.slide // pane)
    return WindowsOfPanes(in_panes, Geometry(in_panes, PIECE, pane, model.origin))


def pane_level(query: WindowQuery, axis: str, share_of: ShareOf, plq: int) -> Make:
    return partial(_pane_level, query, axis, share_of, plq)


def _pane_level(query: WindowQuery, axis: str, share_of: ShareOf, plq: int, index: int) -> Worker:
    evaluator = PiecesOfWindows(query, _order(query))
    geometry = Geometry(panes(query.model), axis)
    columns = kept_columns(query, are_pieces=True)
    outer = share_of(index // plq)
    return PaneLevelWorker(query, geometry, evaluator, columns, Share(), outer)


def window_level(
    query: WindowQuery, windows: WindowsOfPanes, outer: int, batch: int, wlq: int
) -> Make:
    return partial(_window_level, query, windows, outer, batch, wlq)


def _window_level(
    query: WindowQuery, windows: WindowsOfPanes, outer: int, batch: int, wlq: int, index: int
) -> Worker:
    evaluator = WindowsOfPieces(query)
    instance, worker = divmod(index, wlq)
    share = Share.of(worker * outer + instance % outer, outer * wlq, batch)
    columns = _partial_columns(query)
    return WindowLevelWorker(query, windows.geometry, evaluator, columns, share, Share())


def can_keep_panes(query: WindowQuery) -> bool:
    """Whether a worker can keep partials of panes in place of tuples."""
    if query.model.pane_length is None or not isinstance(query.computation, Aggregation):
        return False
    partials = PartialColumns(query)
    return all(partials.is_reducible(f) for f in partials.functions.values())


def _partial_columns(query: WindowQuery) -> dict[str, pa.DataType]:
    return {field.name: field.type for field in PiecesOfWindows(query, []).schema}
