"""Workers behind emitters that reduce tuples to partials of panes: counts, sums and extremes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa

from windrow.engine.columns.arrays import sorting_order
from windrow.engine.columns.control import AXIS, PIECE, ROWS, TIME
from windrow.engine.columns.key_table import KeyTable
from windrow.engine.evaluate.evaluator import Evaluator
from windrow.engine.evaluate.evaluators import MergedPieces
from windrow.engine.evaluate.pane_reduction import ReducedToPanes
from windrow.engine.evaluate.partials import PartialColumns
from windrow.engine.evaluate.results import with_part
from windrow.engine.stages.routes import ByKey
from windrow.engine.state.worker_state import State
from windrow.engine.window_query import WindowQuery
from windrow.engine.windows.batch import pack_fired
from windrow.engine.windows.fired import FiredWindows, TupleColumns
from windrow.engine.windows.placing import Passed
from windrow.engine.workers.agnostic import Packing
from windrow.engine.workers.geometry import Geometry
from windrow.engine.workers.paned import WindowLevelWorker
from windrow.engine.workers.role import Role
from windrow.engine.workers.window_worker import WindowWorker
from windrow.engine.workers.worker import Message, Worker

_REDUCED = "reduced"
"""Marks the state of a worker that is sent partials, where an older version was sent tuples."""


class ReducedWinSeq(WindowLevelWorker):
    """Receives the partials of panes that an emitter, or a ranker, computed, and keeps them.

    All tuples of a pane belong to the same windows, so lateness can be judged per pane. What a
    ranker sends is never late.
    """

    def take(self, passed: Passed) -> list[Message]:
        partials = passed.tuples
        if partials is None or len(partials) == 0 or ROWS not in partials.column_names:
            return super().take(passed)
        codes, panes = self.codes(partials), np.asarray(partials[PIECE].to_numpy())
        reached = self.geometry.reached(passed.previous)
        late = self.windower.judge_late(panes, codes, reached, self.buffer)
        rows = np.asarray(partials[ROWS].to_numpy())
        self.dropped += int(rows[self._counted_here(late, codes)].sum())
        if not late.is_kept.all():
            partials, codes = partials.filter(pa.array(late.is_kept)), codes[late.is_kept]
        self._place(partials, codes)
        return []


class PaneMapper(ReducedWinSeq):
    """The mapper of Win_MapReduce over partials of panes: it computes a part of every window.

    The partials of some of the panes are its part of the windows with them. Up to state format 3 a
    mapper held tuples; ``older`` makes such a mapper, to read its state.
    """

    def __init__(
        self, role: Role, evaluator: Evaluator, part: int, older: Callable[[], Worker]
    ) -> None:
        super().__init__(role, evaluator)
        self.part, self.older = part, older

    def give(self, columns: TupleColumns, windows: FiredWindows) -> list[Message]:
        return [with_part(table, self.part) for table in super().give(columns, windows)]

    def state(self) -> State:
        state = super().state()
        return replace(state, scalars={**state.scalars, _REDUCED: True})

    def restore(self, state: State) -> None:
        if _REDUCED in state.scalars:
            super().restore(state)
            return
        older = self.older()
        older.restore(state)
        none_alive = {**state.by_key, "alive": np.zeros_like(state.by_key["alive"])}
        super().restore(replace(state, by_key=none_alive, chunks={}))
        for partials in reduced(older, self.query, self.geometry):
            self.push(partials)


def reduced(older: Worker, query: WindowQuery, geometry: Geometry) -> list[pa.Table]:
    """What a worker holds that was sent tuples, as the partials of panes that emitters send."""
    assert isinstance(older, WindowWorker)
    codes, columns = older.buffer.contents()
    tables = list(older.placing.pending.values())
    if len(codes):
        held = {TIME if n == AXIS else n: c for n, c in older.named(columns).to_arrow().items()}
        keys = dict(zip(query.keys, older.keys.take(codes), strict=True))
        tables.append(pa.table({**held, **keys}))
    route = ReducedToPanes(query, geometry.pane, geometry.origin, TIME, ByKey(query.keys, 1))
    return [partials for table in tables for partials in route.targets(table, 0)]


class PieceWindower(ReducedWinSeq):
    """A windower over partials of panes, which it packs and sends on."""

    def __init__(self, role: Role, packing: Packing) -> None:
        super().__init__(role, MergedPieces(role.query))
        self.packing = packing

    def give(self, columns: TupleColumns, windows: FiredWindows) -> list[Message]:
        fired = self.bounded(windows)
        least, most = self.packing.batch, self.packing.most
        batches = pack_fired(columns, fired, self.keys, least, most, for_kernels=True)
        return [part for packed in batches for part in packed.split(self.packing.parts)]


class PaneMerger(Worker):
    """The pane-level query over partials of panes: one per pane that has come.

    Counts, sums and extremes of numbers need no more: windows can be computed over any number of
    partials of a pane. So it holds nothing, and nothing is late for it. Up to state format 3 it
    held the tuples of open panes; ``older`` makes such a worker, to read its state.
    """

    def __init__(self, query: WindowQuery, geometry: Geometry, older: Callable[[], Worker]) -> None:
        self.query, self.geometry, self.older = query, geometry, older
        self.partials = PartialColumns(query)
        self.waiting: list[pa.Table] = []

    def push(self, message: Message) -> None:
        self.waiting.append(message)

    def advance(self, watermark: int) -> list[Message]:
        came, self.waiting = self.waiting, []
        if len(came) < 2:
            return came
        pieces, keys = pa.concat_tables(came), KeyTable(self.query.keys)
        codes, panes = keys.codes(pieces), np.asarray(pieces[PIECE].to_numpy())
        order = sorting_order([codes, panes])
        codes, panes = codes[order], panes[order]
        is_new = (np.diff(codes, prepend=-1) != 0) | (np.diff(panes, prepend=panes[:1] - 1) != 0)
        lo = np.flatnonzero(is_new)
        codes, panes = codes[lo], panes[lo]
        ranges = FiredWindows(codes, panes, panes, panes, lo, np.append(lo[1:], len(order)))
        names = self.partials.schema.names
        columns = TupleColumns.of(pieces.select(names).take(order))
        arrays = [*keys.take(codes), pa.array(panes), *self.partials.merge(columns, ranges)]
        merged = pa.table(arrays, names=[*self.query.keys, PIECE, *names])
        if ROWS not in pieces.column_names:
            return [merged]
        rows = np.add.reduceat(np.asarray(pieces[ROWS].to_numpy())[order], lo)
        return [merged.append_column(ROWS, pa.array(rows))]

    def state(self) -> State:
        state = super().state()
        return replace(state, scalars={**state.scalars, _REDUCED: True})

    def restore(self, state: State) -> None:
        super().restore(state)
        if _REDUCED not in state.scalars:
            older = self.older()
            older.restore(state)
            self.waiting += reduced(older, self.query, self.geometry)
