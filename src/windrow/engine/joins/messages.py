"""The messages of a join: tables whose schema metadata says what they hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np
import pyarrow as pa

from windrow.engine.columns.arrays import Int64s
from windrow.engine.columns.control import ARRIVAL, RANK, TIME

Kind = Literal["tuples", "progress", "closed", "matched", "result", "probe", "target"]
"""What a message holds.

* tuples: tuples of one side
* progress: how many tuples of each side have been ranked
* closed: tuples whose window is over
* matched: arrival numbers of tuples that have matched
* result: rows of the result
* probe, target: new tuples, and a slice of a window to match them with
"""

KIND, SIDE, JOB = b"windrow.kind", b"windrow.side", b"windrow.job"
SEEN = "windrow.seen"
"""How many tuples of the other side come before a tuple."""
HOME = "windrow.home"
"""Whether this copy represents a tuple that was sent to several partitions."""
MATCHED = "windrow.matched"
"""Whether a tuple has matched."""
PLACED = ("windrow.left_placed", "windrow.right_placed")
"""How many tuples of each side have been ranked."""

CONTROL = frozenset({ARRIVAL, TIME, RANK, SEEN, HOME, MATCHED})


def labelled(
    table: pa.Table, kind: Kind, side: int = 0, more: Mapping[bytes, bytes] | None = None
) -> pa.Table:
    """The table as a message; ``side`` is 0 for the left, 1 for the right."""
    label = {KIND: kind.encode(), SIDE: str(side).encode(), **(more or {})}
    return table.replace_schema_metadata(label)


def kind_of(message: pa.Table) -> str:
    """What a message holds; a table without a label holds results."""
    label: bytes = (message.schema.metadata or {}).get(KIND, b"result")
    return label.decode()


def side_of(message: pa.Table) -> int:
    return int(message.schema.metadata[SIDE])


def job_of(message: pa.Table) -> int:
    return int(message.schema.metadata[JOB])


def integers(table: pa.Table, column: str) -> Int64s:
    """A control column as an int64 array."""
    return np.asarray(table[column].to_numpy(), np.int64)


def data_of(table: pa.Table) -> pa.Table:
    """The columns that are not control columns."""
    return table.select([name for name in table.column_names if name not in CONTROL])


def placed(counts: tuple[int, int]) -> pa.Table:
    """The message that this many tuples of each side have been ranked."""
    columns = dict(zip(PLACED, ([n] for n in counts), strict=True))
    return labelled(pa.table(columns), "progress")


def counts_of(progress: pa.Table) -> tuple[int, int]:
    left, right = (progress[name][0].as_py() for name in PLACED)
    return left, right
