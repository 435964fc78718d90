"""Results as the rows of a DataFrame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from windrow.engine.columns.held import as_schema
from windrow.engine.stages.messages import unpack
from windrow.engine.stages.traffic import in_order
from windrow.engine.window_query import WindowQuery

_ROWS = 65_536


@dataclass(frozen=True)
class Results:
    """Gives results their declared types; columns that are not declared stay as they came."""

    fields: pa.Schema

    def batches(self, tables: Iterable[pa.Table]) -> Iterator[pa.RecordBatch]:
        """The rows of tables of results."""
        for table in tables:
            declared = pa.schema(
                [
                    self.fields.field(f.name) if f.name in self.fields.names else f
                    for f in table.schema
                ]
            )
            yield from as_schema(table, declared).to_batches(max_chunksize=_ROWS)


@dataclass(frozen=True)
class UnpackResults:
    """Unpacks the results of a stream; in order, if asked for, of all that are in its partition."""

    results: Results
    order: WindowQuery | None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        packed = (m for batch in batches for m in batch["message"].to_pylist() if m is not None)
        tables: Iterable[pa.Table] = map(unpack, packed)
        if self.order is not None:
            found = list(tables)
            tables = [in_order(self.order, found)] if found else []
        yield from self.results.batches(tables)
