"""Tables in memory as sources of queries, which run in this process."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.api.in_threads import FEW_ROWS, InThreads
from windrow.api.missteps import warn_of_unit_of_values
from windrow.api.sources import not_a_name
from windrow.core.errors import WindrowError
from windrow.core.names import check_names
from windrow.engine.columns.ddl import type_name
from windrow.engine.columns.held import as_schema
from windrow.engine.datasets.steps import table_steps
from windrow.engine.datasets.types import taken_type
from windrow.engine.window_query import WindowQuery
from windrow.patterns import Pattern
from windrow.planner.decision import Decision

_ROWS_LOOKED_AT = 1000
"""So many of the first rows tell whether their times are in another unit."""


class TableSource:
    """A table in memory: its queries run in process."""

    is_case_sensitive = True
    is_stream = False
    session = None

    def __init__(self, table: pa.Table) -> None:
        check_names(table.schema.names, is_case_sensitive=self.is_case_sensitive)
        fields = [field.with_type(taken_type(field.type)) for field in table.schema]
        self.table = as_schema(table, pa.schema(fields, table.schema.metadata))
        self.types = {f.name: type_name(f.type) for f in self.table.schema}

    @property
    def schema(self) -> pa.Schema:
        schema: pa.Schema = self.table.schema
        return schema

    def resolve(self, column: object, step: str) -> tuple[TableSource, str]:
        """The name of a column; tables do not support expressions."""
        if not isinstance(column, str):
            raise not_a_name(column, step)
        return self, column

    def written_as(self, names: Iterable[str]) -> TableSource:
        """The source itself: in tables case matters."""
        return self

    def collect(
        self, query: WindowQuery, pattern: Pattern | None, *, ordered: bool, threads: int | None
    ) -> pa.Table:
        """The results, computed in this process."""
        self._warn_of_unit(query)
        steps = table_steps(self.table, query.time, query.unit, query.order_by)
        running = self._in_threads(query, pattern, threads)
        return running.collect(steps, self.table.schema, ordered=ordered)

    def _warn_of_unit(self, query: WindowQuery) -> None:
        """Warn if times that are taken for microseconds look like another unit."""
        if query.time is None or query.unit != "us" or query.types[query.time] != "bigint":
            return
        bounds = pc.min_max(self.table[query.time].slice(0, _ROWS_LOOKED_AT)).as_py()
        if bounds["min"] is not None:
            warn_of_unit_of_values(query.time, bounds["min"], bounds["max"])

    def _in_threads(
        self, query: WindowQuery, pattern: Pattern | None, threads: int | None
    ) -> InThreads:
        is_small = len(self.table) < FEW_ROWS
        return InThreads.of(query, pattern, threads, is_small=is_small)

    def to_df(
        self,
        query: WindowQuery,
        pattern: Pattern | None,
        spark: object,
        *,
        ordered: bool,
        observation: object,
    ) -> NoReturn:
        """Always raises: tables are not sent to Spark unasked."""
        rule = "to_df runs queries over Spark DataFrames and datasets"
        hint = "call collect() instead, or stream pyarrow.dataset.dataset(table)."
        raise WindrowError(rule, "a table", hint)

    def check_checkpoint(
        self, query: WindowQuery, pattern: Pattern | None, location: str
    ) -> NoReturn:
        """Always raises: a query over a table has no checkpoint."""
        raise WindrowError("only a streaming query has a checkpoint", "a table")

    def explain(self, query: WindowQuery, pattern: Pattern | None, *, with_spark: bool) -> None:
        """Print what will run and why."""
        if with_spark:
            hint = "call explain(), or stream a DataFrame."
            raise WindrowError('explain("spark") needs a query over a DataFrame', "a table", hint)
        print(self.decision(query, pattern).explain())

    def decision(self, query: WindowQuery, pattern: Pattern | None) -> Decision:
        """What will run and why, as it was decided."""
        return self._in_threads(query, pattern, None).decision(rows=len(self.table) or None)

    def sample(self, rows: int) -> TableSource:
        """A source over the first rows."""
        return TableSource(self.table.slice(0, rows))

    def run(self, query: WindowQuery, pattern: Pattern | None) -> None:
        """Compute all results and forget them."""
        self.collect(query, pattern, ordered=False, threads=None)

    @staticmethod
    def of(data: object) -> TableSource | None:
        """The source for a PyArrow table, a record batch or a dict of arrays; otherwise None."""
        if isinstance(data, pa.Table):
            return TableSource(_with_columns(data))
        if isinstance(data, pa.RecordBatch):
            return TableSource(_with_columns(pa.Table.from_batches([data])))
        if isinstance(data, Mapping):
            return TableSource(_with_columns(_from_arrays(data)))
        return None


def _with_columns(table: pa.Table) -> pa.Table:
    """The table; raises if it has no column."""
    if not table.schema.names:
        raise WindrowError("a stream needs a column", "none", 'for example {"price": [1.0, 2.0]}.')
    return table


def _from_arrays(data: Mapping[str, Any]) -> pa.Table:
    for name, values in data.items():
        if isinstance(values, str | bytes | Mapping) or not hasattr(values, "__len__"):
            rule = f"column {name!r} must be an array or a list of values"
            raise WindrowError(rule, repr(values))
    lengths = {str(name): len(values) for name, values in data.items()}
    if len(set(lengths.values())) > 1:
        raise WindrowError("the columns of a stream must have the same length", f"{lengths}")
    return pa.table({str(name): _to_arrow(name, values) for name, values in data.items()})


def _to_arrow(name: str, values: Any) -> pa.Array:
    if isinstance(values, np.ma.MaskedArray):
        return pa.array(values.data, mask=np.ma.getmaskarray(values))
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise WindrowError(f"column {name!r} must be one-dimensional", f"shape {values.shape}")
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as e:
        raise WindrowError(f"column {name!r} must hold values of one type", str(e)) from None
