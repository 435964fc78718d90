"""Steps: a bounded input batch by batch, with how far time may advance after each.

No row of a bounded input is late, whatever its place. So time may advance only to the least time of
the rows that have not been read yet. Parquet files tell it in the statistics of their row groups;
otherwise the times alone are read first, which is cheap. Pieces are read in order of their least
times, so few rows wait even if the files overlap.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.core.durations import TimeUnit
from windrow.core.watermark import BEGINNING, END_OF_STREAM
from windrow.engine.columns.arrays import to_microseconds
from windrow.engine.datasets.pieces import FilePiece, Piece
from windrow.engine.datasets.scan import Scan

_ROWS = 1 << 20
"""About as many rows are read between two looks at the time, and taken in at once."""
_ROW_BITS = 40
"""Rows are numbered by piece, then within it."""


@dataclass(frozen=True)
class Step:
    """Rows of one side of a bounded input, and how far time may advance once they are in."""

    rows: pa.Table
    reached: int = END_OF_STREAM
    first: int | None = None
    """The number of the first row in order of arrival, if the rows do not come in that order."""
    side: int = 0


@dataclass(frozen=True)
class Side:
    """One input: what is read, and the column of its times, if they matter."""

    scan: Scan
    pieces: Sequence[Piece]
    time: str | None
    unit: TimeUnit = "us"


@dataclass(frozen=True)
class _Part:
    """A piece whose place in time is known."""

    side: int
    number: int
    piece: Piece
    lows: tuple[tuple[int, int], ...]
    """After each of some numbers of rows, the least time of the piece's rows behind them."""

    @property
    def low(self) -> int:
        return self.lows[0][1]


def timed_steps(sides: Sequence[Side]) -> Iterator[Step]:
    """The rows of inputs with event time, in an order of pieces that lets few rows wait."""
    parts = [part for number, side in enumerate(sides) for part in _parts(number, side)]
    ordered = sorted(parts, key=lambda part: part.low)
    is_numbered = ordered != parts or len(sides) > 1
    reached = BEGINNING
    for i, part in enumerate(ordered):
        following = ordered[i + 1].low if i + 1 < len(ordered) else END_OF_STREAM
        seen = 0
        for rows in tables(sides[part.side].scan, part.piece):
            first = part.number << _ROW_BITS | seen if is_numbered else None
            seen += len(rows)
            own = next((low for n, low in reversed(part.lows) if n <= seen), part.low)
            reached = min(own, following)
            yield Step(rows, reached, first, part.side)
    if reached < END_OF_STREAM:
        # A filter has left out rows that statistics count, or there are no rows at all.
        yield Step(sides[0].scan.schema.empty_table())


def window_steps(side: Side, *, has_order: bool) -> Iterator[Step]:
    """The rows of the input of a window query, which may have an order beside that of arrival."""
    if side.time is not None:
        yield from timed_steps([side])
    elif has_order:
        yield Step(_whole(side))
    else:
        for piece in side.pieces:
            for rows in tables(side.scan, piece):
                yield Step(rows, BEGINNING)


def join_steps(left: Side, right: Side) -> Iterator[list[Step]]:
    """The rows of the inputs of a join, in steps that are taken together."""
    if left.time is not None:
        for step in timed_steps([left, right]):
            yield [step]
    else:
        yield [Step(_whole(left)), Step(_whole(right), side=1)]


def _whole(side: Side) -> pa.Table:
    """All rows at once, as they are put in an order of their own."""
    batches = [batch for piece in side.pieces for batch in side.scan.batches(piece)]
    return pa.Table.from_batches(batches, side.scan.schema)


def tables(scan: Scan, piece: Piece) -> Iterator[pa.Table]:
    """The rows of a piece, in tables that are worth a step."""
    waiting: list[pa.RecordBatch] = []
    for batch in scan.batches(piece):
        waiting.append(batch)
        if sum(map(len, waiting)) >= _ROWS:
            yield pa.Table.from_batches(waiting)
            waiting = []
    if waiting:
        yield pa.Table.from_batches(waiting)


def _parts(number: int, side: Side) -> list[_Part]:
    pieces = [part for piece in side.pieces for part in _by_row_groups(side, piece)]
    return [
        _Part(number, i, piece, lows if lows is not None else tuple(_first_pass(side, piece)))
        for i, (piece, lows) in enumerate(pieces)
    ]


def _by_row_groups(side: Side, piece: Piece) -> Iterable[tuple[Piece, Any]]:
    """The row groups of a Parquet file, small ones together, with their least times.

    The whole piece, without a time, if statistics do not tell it or a row group is large.
    """
    if not isinstance(piece, FilePiece) or not piece.is_parquet:
        return [(piece, None)]
    piece.check()
    with piece.naming():
        fragment = piece.fragment
        if side.scan.filter is not None:
            fragment = fragment.subset(filter=side.scan.filter, schema=side.scan.declared)
        groups = [g.id for g in fragment.row_groups]
        lows = [_least(side, fragment, group) for group in groups]
        lengths = [fragment.metadata.row_group(g).num_rows for g in groups]
    if None in lows or max(lengths, default=0) > 2 * _ROWS:
        return [(piece, None)]
    found: list[tuple[Piece, Any]] = []
    first, rows = 0, 0
    for i, length in enumerate(lengths):
        rows += length
        if rows >= _ROWS or i == len(groups) - 1:
            own = FilePiece(piece.fragment, piece.stamp, tuple(groups[first : i + 1]))
            low = min(low for low in lows[first : i + 1] if low is not None)
            found.append((own, ((0, low), (rows, END_OF_STREAM))))
            first, rows = i + 1, 0
    return found


def _least(side: Side, fragment: Any, group: int) -> int | None:
    """The least time in a row group, in microseconds; None if its statistics do not tell."""
    columns = fragment.metadata.row_group(group)
    for i in range(columns.num_columns):
        column = columns.column(i)
        if column.path_in_schema != side.time:
            continue
        found = column.statistics
        if found is None:
            return None
        if found.has_null_count and found.null_count == column.num_values:
            return END_OF_STREAM
        kind = fragment.physical_schema.field(side.time).type
        is_signed = not pa.types.is_unsigned_integer(kind)
        if not found.has_min_max or not isinstance(found.min_raw, int) or not is_signed:
            return None
        raw = pa.array([found.min_raw], pa.int32() if kind.bit_width == 32 else pa.int64())
        return int(to_microseconds(pa.chunked_array([raw.cast(kind)]), side.unit)[0])
    return None


def _first_pass(side: Side, piece: Piece) -> Iterator[tuple[int, int]]:
    """Read the times alone: after each batch, the least time behind it."""
    assert side.time is not None
    ends, lows = [0], []
    for batch in side.scan.only(side.time).batches(piece):
        ends.append(ends[-1] + len(batch))
        times = to_microseconds(pa.chunked_array([batch.column(0)]).drop_null(), side.unit)
        lows.append(int(times.min(initial=END_OF_STREAM)))
    behind = np.minimum.accumulate(np.array([END_OF_STREAM, *reversed(lows)]))[::-1]
    yield from zip(ends, behind.tolist(), strict=True)
