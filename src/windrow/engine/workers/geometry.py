"""The geometry of a worker: the windows that it computes, and their axis."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from windrow.core.models import Axis, WindowModel, mapped
from windrow.core.watermark import BEGINNING, END_OF_STREAM
from windrow.engine.columns.control import PIECE, RANK, TIME
from windrow.engine.evaluate.kept_rows import order_columns
from windrow.engine.window_query import WindowQuery
from windrow.engine.windows.farm_panes import FarmPanes
from windrow.engine.windows.placing import Placing
from windrow.engine.windows.windower import Windower, windower_class


@dataclass(frozen=True)
class Geometry:
    """The windows that a worker computes, their windower, and the column of their axis.

    ``axis`` is TIME, RANK, PIECE, the name of an attribute, or None if the worker counts the ranks
    itself. On the axis PIECE, the watermark is counted in panes of length ``pane`` from ``origin``
    on. The windowers are looked up when the geometry is made, on the driver.
    """

    model: WindowModel
    windower: type[Windower]
    judge: type[Windower]
    """The windower of the query's own windows, which decides which late tuples are kept."""
    axis: str | None
    pane: int = 1
    origin: int = 0
    span: int = 1
    """How many panes a piece stands for."""

    @staticmethod
    def of(model: WindowModel, axis: str | None) -> Geometry:
        """The query's own windows over tuples."""
        windower = windower_class(model)
        return Geometry(model, windower, windower, axis)

    @staticmethod
    def of_panes(panes: FarmPanes, axis: str | None) -> Geometry:
        """The panes of the query's windows, as windows over tuples."""
        model = panes.windows()
        return Geometry(model, windower_class(model), windower_class(panes.model), axis)

    @staticmethod
    def over_panes(model: WindowModel, span: int = 1) -> Geometry:
        """The query's windows over panes. Each piece is ``span`` panes and has the first number."""
        windows, pane = mapped(model).in_panes(), model.pane_length
        assert pane is not None
        origin, judge = mapped(model).panes_begin(), windower_class(model)
        return Geometry(windows, windower_class(windows), judge, PIECE, pane, origin, span)

    @property
    def is_placed(self) -> bool:
        """Whether an earlier worker has already placed the tuples."""
        return self.axis in (RANK, PIECE)

    def placing(self, query: WindowQuery, columns: Collection[str]) -> Placing:
        """How this worker places tuples with these columns."""
        if self.is_placed:
            assert self.axis is not None
            return Placing(False, [self.axis, *self.ties(query, columns)])
        if query.rank is not None:
            return Placing(False, [RANK])
        return Placing(query.time is not None, query.order_by)

    def ties(self, query: WindowQuery, columns: Collection[str]) -> list[str]:
        """Those of a worker's columns that order tuples with the same position on the axis."""
        if self.axis == PIECE:
            return order_columns(columns)
        return [name for name in query.order_by if name in columns]

    def reached(self, watermark: int) -> int:
        """Convert the watermark to the units of the axis."""
        if self.axis != PIECE or watermark in (BEGINNING, END_OF_STREAM):
            return watermark
        return (watermark - self.origin) // self.pane


def own_axis(model: WindowModel) -> str | None:
    """The axis for a worker that sees all tuples of its keys; None if it counts ranks."""
    if model.axis is Axis.RANK:
        return None
    return TIME if model.axis is Axis.TIME else model.columns[0]
