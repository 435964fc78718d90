"""Filters of datasets, applied to batches: which columns they look at, and the rows they keep."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.dataset as ds
from pyarrow import acero

_BY_NUMBER = "FieldPath("


def columns_of(condition: ds.Expression, schema: pa.Schema) -> tuple[str, ...]:
    """The columns that a filter looks at; none if it names them by number.

    >>> import pyarrow.compute as pc
    >>> columns_of(pc.field("max") > 3, pa.schema([("x", "int64"), ("max", "int64")]))
    ('max',)
    """
    text = str(condition)
    if _BY_NUMBER in text:
        return ()
    # PyArrow does not tell a filter's columns, but it refuses one whose columns are not there.
    named = [name for name in schema.names if name in text]
    types = {name: schema.field(name).type for name in named}
    return tuple(
        n for n in named if not _is_known(condition, {m: types[m] for m in named if m != n})
    )


def kept(condition: ds.Expression, columns: dict[str, pa.Array]) -> pa.Array:
    """Whether each row of these columns meets the filter."""
    table = pa.table(columns)
    steps = [
        acero.Declaration("table_source", acero.TableSourceNodeOptions(table)),
        acero.Declaration("project", acero.ProjectNodeOptions([condition], ["kept"])),
    ]
    found = acero.Declaration.from_sequence(steps).to_table(use_threads=False)
    return found["kept"].combine_chunks()


def _is_known(condition: ds.Expression, types: dict[str, pa.DataType]) -> bool:
    """Whether columns of these types are all that the filter looks at."""
    try:
        kept(condition, {name: pa.array([], kind) for name, kind in types.items()})
    except pa.ArrowInvalid:
        return False
    return True
