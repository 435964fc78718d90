"""The result rows of a join: pairs, and tuples of one side alone."""

from __future__ import annotations

import pyarrow as pa

from windrow.engine.joins.attributes import Mask
from windrow.engine.joins.join_query import JoinQuery
from windrow.engine.joins.messages import data_of


def pair_rows(query: JoinQuery, left: pa.Table, right: pa.Table) -> pa.Table:
    """Row i of the left beside row i of the right, columns prefixed by side."""
    columns = [*left.columns, *right.columns]
    names = [prefix + name for prefix, names in zip(query.prefixes, (left, right), strict=True)
             for name in names.column_names]  # fmt: skip
    return pa.table(columns, names=names).select(query.output_schema().names)


def closed_rows(query: JoinQuery, side: int, tuples: pa.Table, matched: Mask) -> pa.Table:
    """The result rows of the tuples of a side whose windows are over.

    A semi join gives the tuples that have matched. Other joins give those that have not, with
    nulls for the other side's columns if the result has them.
    """
    data = data_of(tuples.filter(pa.array(matched if query.how == "semi" else ~matched)))
    names = [query.prefixes[side] + name for name in data.column_names]
    columns = dict(zip(names, data.columns, strict=True))
    fields = query.output_schema()
    return pa.table(
        [columns.get(f.name, pa.nulls(len(data), f.type)) for f in fields], names=fields.names
    )
