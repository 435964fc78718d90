"""Win_Seq over panes: both levels of the pane query in one worker, for the hot path."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from windrow.core.models import CountWindow, LandmarkWindow, TimeWindow
from windrow.engine.columns import Int64s
from windrow.engine.control import AXIS, TIME
from windrow.engine.evaluators import WindowsOfPieces
from windrow.engine.placing import Placed, Placing
from windrow.engine.spec import WindowQuery
from windrow.engine.storage import ColumnStorage, Stored
from windrow.engine.windower import Share
from windrow.engine.workers.paned import WindowLevelWorker
from windrow.engine.workers.win_seq import Geometry
from windrow.engine.workers.worker import Message
from windrow.kernels.pane_reduce import PanePartials, Wanted, reduce_panes
from windrow.kernels.panes import rank_tuples


class PanedWinSeq(WindowLevelWorker):
    """Reduces each batch to partials of panes in one pass and keeps those in place of tuples.

    For counts, sums and extremes of numbers, which do not mind the order of tuples: in time and
    landmark windows a tuple counts at once, wherever in the batch it stands. Several partials of
    one pane, from batches that share it, stand side by side.

    Time a batch: O(its tuples + windows fired); space O(panes of open windows).
    """

    def __init__(
        self,
        query: WindowQuery,
        geometry: Geometry,
        axis: str | None,
        columns: dict[str, pa.DataType],
        share: Share,
    ) -> None:
        evaluator = WindowsOfPieces(query)
        super().__init__(query, geometry, evaluator, columns, share, share)
        self.axis, self.partials = axis, evaluator.partials
        is_timed = isinstance(query.model, CountWindow) and query.time is not None and axis is None
        self.placing = Placing(is_timed, query.order_by if axis is None else ())

    def take(self, placed: Placed) -> list[Message]:
        if placed.late is not None:
            self.dropped += len(placed.late)
        tuples = placed.tuples
        if tuples is None or len(tuples) == 0:
            return []
        if isinstance(self.query.model, TimeWindow | LandmarkWindow):
            tuples = self._in_time(tuples, placed.previous)
        codes = self.codes(tuples)
        if self.axis is not None:
            axis = np.asarray(tuples[self.axis].to_numpy())
        else:
            tuples, codes = self._in_order(tuples, codes)
            axis = rank_tuples(codes, self.windower.count)
        keys, panes, columns = self._reduce(tuples, codes, axis)
        self._append(keys, {AXIS: Stored(panes), **columns})
        return []

    def _in_time(self, tuples: pa.Table, previous: int) -> pa.Table:
        """The tuples that still find a window."""
        times = np.asarray(tuples[TIME].to_numpy())
        if len(times) == 0 or int(times.min()) >= previous:
            return tuples
        is_late = pa.array(times < previous)
        kept = self._not_too_late(tuples.filter(is_late), previous)
        return pa.concat_tables([tuples.filter(pa.array(times >= previous)), kept])

    def _in_order(self, tuples: pa.Table, codes: Int64s) -> tuple[pa.Table, Int64s]:
        """By time and ``order_by``: within a key that is the order of ranks."""
        if not self.placing.is_in_order(tuples):
            order = self.placing.order(tuples, np.zeros(len(tuples), np.int64))
            return tuples.take(order), codes[order]
        return tuples, codes

    def _reduce(
        self, tuples: pa.Table, codes: Int64s, axis: Int64s
    ) -> tuple[Int64s, Int64s, dict[str, Stored]]:
        """One pass for each value column; the partials of (key, pane), in order."""
        wanted: dict[str | None, set[Wanted]] = {None: set()}
        for function in self.partials.functions.values():
            for reduction in function.reductions:  # type: ignore[attr-defined]
                column = None if reduction.column is None else function.columns[reduction.column]
                names = wanted.setdefault(column, set())
                if reduction.op != "count":
                    names.add(reduction.op)
        if len(wanted) > 1:
            del wanted[None]
        geometry = {"length": self.geometry.pane, "origin": self.geometry.origin}
        reduced: dict[str | None, PanePartials] = {}
        for column, names in wanted.items():
            values, valid = self._kernel_values(tuples, column)
            reduced[column] = reduce_panes(
                codes,
                axis,
                values,
                n_keys=len(self.keys),
                valid=valid,
                wanted=names,
                **geometry,
            )
        some = next(iter(reduced.values()))
        columns: dict[str, Stored] = {}
        for name, function in self.partials.functions.items():
            for i, reduction in enumerate(function.reductions):  # type: ignore[attr-defined]
                column = None if reduction.column is None else function.columns[reduction.column]
                found = some if column is None else reduced[column]
                columns[f"{name}#{i}"] = Stored(_array(found, reduction.op, column is None))
        return some.keys, some.panes, columns

    def _kernel_values(self, tuples: pa.Table, column: str | None) -> tuple[Any, Any]:
        if column is None:
            return None, None
        storage: ColumnStorage = self.partials.storages[column]
        values, _ = storage.to_kernel(storage.store(tuples[column]))
        return values.values, values.valid


def _array(partials: PanePartials, op: str, are_rows: bool) -> Any:
    if op == "count":
        return partials.rows if are_rows else partials.counts
    return {"sum": partials.sums, "min": partials.minima, "max": partials.maxima}[op]
