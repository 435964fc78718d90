"""Factories of workers, one per kind.

The last argument of a factory is the worker's index. The driver binds the others with ``partial``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import pyarrow as pa

from windrow.core.computation import Aggregation, Decompose
from windrow.core.models import Axis, Context, WindowModel
from windrow.engine.columns.control import ARRIVAL, AXIS, PIECE, RANK
from windrow.engine.columns.hot_keys import HotKeys
from windrow.engine.evaluate.decisive import DecisiveTuples
from windrow.engine.evaluate.evaluators import MergedPieces, PiecesOfWindows, WindowsOfPieces
from windrow.engine.evaluate.partials import PartialColumns
from windrow.engine.evaluate.rounds import whole_windows
from windrow.engine.window_query import WindowQuery
from windrow.engine.windows.farm_panes import FarmPanes
from windrow.engine.windows.windower import Share
from windrow.engine.workers.agnostic import Executor, HotWindower, Packing, WindowerWorker
from windrow.engine.workers.geometry import Geometry
from windrow.engine.workers.mapper import Mapper
from windrow.engine.workers.paned import PaneLevelWorker, PaneWindower, WindowLevelWorker
from windrow.engine.workers.paned_win_seq import PanedWinSeq
from windrow.engine.workers.reduced import PaneMapper, PaneMerger, PieceWindower, ReducedWinSeq
from windrow.engine.workers.role import Role
from windrow.engine.workers.win_seq import WinSeqWorker
from windrow.engine.workers.worker import Worker

ShareOf: TypeAlias = Callable[[int], Share]


@dataclass(frozen=True)
class Alike:
    """A factory that makes the same worker for every index."""

    kind: Callable[..., Worker]
    arguments: tuple[object, ...]

    def __call__(self, index: int) -> Worker:
        return self.kind(*self.arguments)


def win_seq(query: WindowQuery, geometry: Geometry, share_of: ShareOf, index: int) -> Worker:
    role = Role(query, geometry, kept_columns(query, are_pieces=False), share_of(index))
    return WinSeqWorker(role, whole_windows(query))


def paned_win_seq(
    query: WindowQuery, geometry: Geometry, axis: str | None, share_of: ShareOf, index: int
) -> Worker:
    return PanedWinSeq(_over_panes(query, geometry, share_of(index)), WindowsOfPieces(query), axis)


def pane_ranker(query: WindowQuery, geometry: Geometry, index: int) -> Worker:
    return PanedWinSeq(_over_panes(query, geometry, Share()), MergedPieces(query), None)


def reduced_win_seq(
    query: WindowQuery, geometry: Geometry, share_of: ShareOf, index: int
) -> Worker:
    return ReducedWinSeq(_over_panes(query, geometry, share_of(index)), WindowsOfPieces(query))


def windower(
    query: WindowQuery, geometry: Geometry, share_of: ShareOf, packing: Packing, index: int
) -> Worker:
    """A windower of tuples, or of partials if the geometry is over panes."""
    if geometry.axis == PIECE:
        return PieceWindower(_over_panes(query, geometry, share_of(index)), packing)
    columns = kept_columns(query, are_pieces=False)
    return WindowerWorker(Role(query, geometry, columns, share_of(index)), packing)


def hot_windower(
    query: WindowQuery, geometry: Geometry, hot: HotKeys, packing: Packing, index: int
) -> Worker:
    role = Role(query, geometry, kept_columns(query, are_pieces=False), Share())
    return HotWindower(role, packing, whole_windows(query), hot)


def executor(query: WindowQuery, are_parts: bool, index: int) -> Worker:
    return Executor(query, PiecesOfWindows(query, [RANK]) if are_parts else whole_windows(query))


def executor_over_panes(query: WindowQuery, are_parts: bool, index: int) -> Worker:
    return Executor(query, MergedPieces(query) if are_parts else WindowsOfPieces(query))


def mapper(
    query: WindowQuery, geometry: Geometry, share_of: ShareOf, parts: int, index: int
) -> Worker:
    instance, part = divmod(index, parts)
    role = Role(query, geometry, kept_columns(query, are_pieces=True), share_of(instance))
    return Mapper(role, PiecesOfWindows(query, _order(query)), part)


def pane_level(
    query: WindowQuery,
    geometry: Geometry,
    panes: FarmPanes,
    share_of: ShareOf,
    plq: int,
    index: int,
) -> Worker:
    instance = index // plq
    role = Role(query, geometry, kept_columns(query, are_pieces=True), share_of(instance))
    return PaneLevelWorker(role, PiecesOfWindows(query, _order(query)), panes, instance)


def pane_windower(
    query: WindowQuery,
    geometry: Geometry,
    panes: FarmPanes,
    share_of: ShareOf,
    most: int,
    index: int,
) -> Worker:
    role = Role(query, geometry, kept_columns(query, are_pieces=True), share_of(index))
    return PaneWindower(role, panes, index, most)


def pane_executor(query: WindowQuery, index: int) -> Worker:
    return Executor(query, PiecesOfWindows(query, _order(query)))


def pane_mapper(
    query: WindowQuery,
    geometry: Geometry,
    of_tuples: Geometry,
    share_of: ShareOf,
    parts: int,
    index: int,
) -> Worker:
    instance, part = divmod(index, parts)
    older = partial(mapper, query, of_tuples, share_of, parts, index)
    role = _over_panes(query, geometry, share_of(instance))
    return PaneMapper(role, MergedPieces(query), part, older)


def pane_merger(
    query: WindowQuery,
    geometry: Geometry,
    of_tuples: Geometry,
    panes: FarmPanes,
    share_of: ShareOf,
    plq: int,
    index: int,
) -> Worker:
    older = partial(pane_level, query, of_tuples, panes, share_of, plq, index)
    return PaneMerger(query, geometry, older)


def window_level(
    query: WindowQuery, geometry: Geometry, outer: int, batch: int, wlq: int, index: int
) -> Worker:
    share = _inner_share(outer, batch, wlq, index)
    role = _over_panes(query, geometry, share)
    return WindowLevelWorker(role, WindowsOfPieces(query))


def row_reducer(
    query: WindowQuery, geometry: Geometry, outer: int, batch: int, reduce: int, index: int
) -> Worker:
    share_of = partial(_inner_share, outer, batch, reduce)
    return win_seq(query, geometry, share_of, index)


def reduced_window_level(
    query: WindowQuery, geometry: Geometry, outer: int, batch: int, wlq: int, index: int
) -> Worker:
    share_of = partial(_inner_share, outer, batch, wlq)
    return reduced_win_seq(query, geometry, share_of, index)


def _over_panes(query: WindowQuery, geometry: Geometry, share: Share) -> Role:
    """The role of a worker that keeps partials."""
    return Role(query, geometry, partial_columns(query), share)


def _inner_share(outer: int, batch: int, n: int, index: int) -> Share:
    """The share of one of the n workers of an instance; ``outer`` instances share the windows."""
    instance, worker = divmod(index, n)
    return Share.of(worker * outer + instance % outer, outer * n, batch)


def kept_columns(query: WindowQuery, are_pieces: bool) -> dict[str, pa.DataType]:
    """The columns a worker keeps: those of the function, of the model, and of the order."""
    computation, model = query.computation, query.model
    names = computation.columns if isinstance(computation, Aggregation) else query.types
    # An attribute that is the axis is kept as the axis.
    of_model = model.columns[1:] if model.axis is Axis.ATTRIBUTE else model.columns
    is_ordered_later = not model.ranks_tuples
    of_order = query.order_by if is_ordered_later else ()
    kept = {name: query.arrow_type(name) for name in (*names, *of_model, *of_order)}
    if are_pieces and is_ordered_later:
        kept[ARRIVAL] = pa.int64()
    return kept


def partial_columns(query: WindowQuery) -> dict[str, pa.DataType]:
    """The columns of the partials that a worker keeps instead of tuples."""
    return {field.name: field.type for field in PiecesOfWindows(query, _order(query)).schema}


def _order(query: WindowQuery) -> list[str]:
    """The columns that order a key's tuples, the same on every worker."""
    return [AXIS] if query.model.ranks_tuples else [AXIS, *query.order_by, ARRIVAL]


def is_told_by_time(model: WindowModel) -> bool:
    """Whether a tuple's windows follow from its time alone."""
    return model.context is Context.CF and model.axis is Axis.TIME


def can_be_dealt(query: WindowQuery) -> bool:
    """Whether tuples can be dealt to parts of windows before the windows are decided."""
    computation = query.computation
    is_one_round = not isinstance(computation, Decompose) or len(computation.rounds) == 1
    return is_told_by_time(query.model) and is_one_round and not computation.is_order_sensitive


def needs_all_rows(query: WindowQuery) -> bool:
    """Whether a partial of the query would have to hold all tuples it is made of."""
    if not isinstance(query.computation, Aggregation):
        return False
    rows = PartialColumns(query).rows
    return rows is not None and not rows.are_few


def sends_rows(query: WindowQuery, *, is_stream: bool) -> bool:
    """Whether workers of whole windows are sent rows, as parts of windows would send no fewer.

    Of bounded rows, emitters, rankers and windowers choose those that pieces of overlapping windows
    would send.
    """
    if needs_all_rows(query) or is_stream:
        return needs_all_rows(query)
    return query.model.shares_tuples and DecisiveTuples.of(query) is not None


def can_keep_panes(query: WindowQuery) -> bool:
    """Whether a worker can keep partials of panes instead of tuples."""
    if query.model.pane_length is None or not isinstance(query.computation, Aggregation):
        return False
    partials = PartialColumns(query)
    return all(partials.is_reducible_in_panes(f) for f in partials.functions.values())
