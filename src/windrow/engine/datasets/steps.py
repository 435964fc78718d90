"""Steps: a bounded input batch by batch, with how far time may advance after each.

No row of a bounded input is late, whatever its place. So time may advance only to the least time of
the rows that have not been read yet. Parquet files tell it in the statistics of their row groups;
otherwise the times alone are read first, which is cheap. Pieces are read in order of their least
times, so few rows wait even if the files overlap.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from windrow.core.durations import TimeUnit
from windrow.core.watermark import BEGINNING, END_OF_STREAM
from windrow.engine.columns.arrays import is_ordered_by, to_microseconds
from windrow.engine.datasets.pieces import FilePiece, Piece
from windrow.engine.datasets.scan import Scan
from windrow.engine.datasets.sizes import bytes_of_row_groups

_ROWS = 1 << 20
"""About as many rows are read between two looks at the time, and taken in at once."""
_BYTES = 64 << 20
"""Fewer rows are taken in at once if they would have more bytes."""
_BETWEEN_LOWS = 1 << 13
"""Rows of a first pass for which the least time is kept."""
_ROW_BITS = 40
"""Rows are numbered by piece, then within it."""


@dataclass(frozen=True)
class Step:
    """Rows of one side of a bounded input, and how far time may advance once they are in."""

    rows: pa.Table
    reached: int = END_OF_STREAM
    first: int = 0
    """The number of the first row in order of arrival. The others follow it."""
    is_moved: bool = False
    """Whether steps may come in another order than that of arrival."""
    side: int = 0


Unread: TypeAlias = Callable[[], Step]
"""Reads a step. Several may be read at the same time, in any thread."""


@dataclass(frozen=True)
class Side:
    """One input: what is read, and the column of its times, if they matter."""

    scan: Scan
    pieces: Sequence[Piece]
    time: str | None
    unit: TimeUnit = "us"
    use_threads: bool = True
    """Whether PyArrow may use threads of its own."""

    def batches(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        return self.scan.batches(piece, use_threads=self.use_threads)


@dataclass(frozen=True)
class _Part:
    """A piece whose place in time is known."""

    side: int
    number: int
    piece: Piece
    lows: tuple[tuple[int, int], ...]
    """After each of some numbers of rows, the least time of the piece's rows behind them."""
    is_read_at_once: bool

    @property
    def low(self) -> int:
        return self.lows[0][1]


def table_steps(
    table: pa.Table, time: str | None, unit: TimeUnit, order_by: Sequence[str]
) -> Iterator[Unread]:
    """The rows of a table in memory, which may have an order beside that of arrival."""
    if time is None and not is_ordered_by((table[name] for name in order_by), len(table)):
        yield partial(Step, table)
        return
    firsts = range(0, len(table) or 1, _ROWS)
    reached = [BEGINNING] * (len(firsts) - 1) + [END_OF_STREAM]
    if time is not None:
        reached = _behind([_earliest(table[time].slice(i, _ROWS), unit) for i in firsts])[1:]
    for first, low in zip(firsts, reached, strict=True):
        yield partial(Step, table.slice(first, _ROWS), low, first)


def timed_steps(sides: Sequence[Side]) -> Iterator[Unread]:
    """The rows of inputs with event time, in an order of pieces that lets few rows wait."""
    parts = [part for number, side in enumerate(sides) for part in _parts(number, side)]
    ordered = sorted(parts, key=lambda part: part.low)
    is_moved = ordered != parts or len(sides) > 1
    reached = BEGINNING
    for i, part in enumerate(ordered):
        following = ordered[i + 1].low if i + 1 < len(ordered) else END_OF_STREAM
        side = sides[part.side]
        if part.is_read_at_once:
            reached = following
            yield partial(_at_once, side.scan, part, reached, is_moved)
            continue
        seen = 0
        for rows in _tables(side, part.piece):
            first = part.number << _ROW_BITS | seen
            seen += len(rows)
            own = part.lows[bisect_right(part.lows, seen, key=itemgetter(0)) - 1][1]
            reached = min(own, following)
            yield partial(Step, rows, reached, first, is_moved, part.side)
    if reached < END_OF_STREAM:
        # A file has fewer rows than in the first pass, or there are no rows at all.
        yield partial(Step, sides[0].scan.schema.empty_table())


def _at_once(scan: Scan, part: _Part, reached: int, is_moved: bool) -> Step:
    """All rows of a part. Parts are read in parallel, the columns of each one after the other."""
    batches = list(scan.batches(part.piece, use_threads=False, at_once=True))
    rows = pa.Table.from_batches(batches, scan.schema)
    return Step(rows, reached, part.number << _ROW_BITS, is_moved, part.side)


def window_steps(side: Side, order_by: Sequence[str]) -> Iterator[Unread]:
    """The rows of the input of a window query, which may have an order beside that of arrival."""
    if side.time is not None:
        yield from timed_steps([side])
    elif order_by and not _is_in_order(side, order_by):
        yield partial(Step, _whole(side))
    else:
        seen = 0
        for piece in side.pieces:
            for rows in _tables(side, piece):
                yield partial(Step, rows, BEGINNING, seen)
                seen += len(rows)


def join_steps(left: Side, right: Side) -> Iterator[list[Step]]:
    """The rows of the inputs of a join, in steps that are taken together."""
    if left.time is not None:
        for read in timed_steps([left, right]):
            yield [read()]
    else:
        yield [Step(_whole(left)), Step(_whole(right), side=1)]


def _is_in_order(side: Side, order_by: Sequence[str]) -> bool:
    """Whether rows come in an order of their own, so that they can be taken batch by batch.

    Their columns are read alone, up to the first row that is out of order.
    """
    scan = side.scan.only(*order_by)
    last = scan.schema.empty_table()
    for piece in side.pieces:
        for batch in scan.batches(piece, use_threads=side.use_threads):
            rows = pa.concat_tables([last, pa.Table.from_batches([batch])])
            if not is_ordered_by((rows[name] for name in order_by), len(rows)):
                return False
            last = rows.slice(max(0, len(rows) - 1))
    return True


def _whole(side: Side) -> pa.Table:
    """All rows at once, as they are put in an order of their own."""
    batches = [batch for piece in side.pieces for batch in side.batches(piece)]
    return pa.Table.from_batches(batches, side.scan.schema)


def _tables(side: Side, piece: Piece) -> Iterator[pa.Table]:
    """The rows of a piece, in tables that are worth a step. They are small, as several wait."""
    waiting: list[pa.RecordBatch] = []
    for batch in side.batches(piece):
        waiting.append(batch)
        is_large = sum(batch.nbytes for batch in waiting) >= _BYTES // 4
        if is_large or sum(map(len, waiting)) >= _ROWS // 4:
            yield pa.Table.from_batches(waiting)
            waiting = []
    if waiting:
        yield pa.Table.from_batches(waiting)


def _parts(number: int, side: Side) -> list[_Part]:
    pieces = [part for piece in side.pieces for part in _by_row_groups(side, piece)]
    return [
        _Part(number, i, piece, tuple(_first_pass(side, piece)), is_read_at_once=False)
        if low is None
        else _Part(number, i, piece, ((0, low),), is_read_at_once=True)
        for i, (piece, low) in enumerate(pieces)
    ]


def _by_row_groups(side: Side, piece: Piece) -> Iterable[tuple[Piece, int | None]]:
    """The row groups of a Parquet file, small ones together, with their least times.

    The whole piece, without a time, if statistics do not tell it or a row group is large.
    """
    if not isinstance(piece, FilePiece) or not piece.is_parquet:
        return [(piece, None)]
    piece.check()
    piece.check_columns()
    with piece.naming():
        fragment = piece.fragment
        if side.scan.filter is not None:
            fragment = fragment.subset(filter=side.scan.filter, schema=side.scan.declared)
        groups = [g.id for g in fragment.row_groups]
        lows = [_least(side, fragment, group) for group in groups]
        lengths = [fragment.metadata.row_group(g).num_rows for g in groups]
        sizes = bytes_of_row_groups(fragment.metadata, groups, side.scan.looked_at)
    if None in lows or max(lengths, default=0) > 2 * _ROWS or max(sizes, default=0) > _BYTES:
        return [(piece, None)]
    found: list[tuple[Piece, int | None]] = []
    for first, last in _grouped(lengths, sizes):
        own = FilePiece(piece.fragment, piece.stamp, tuple(groups[first:last]))
        found.append((own, min(low for low in lows[first:last] if low is not None)))
    return found


def _grouped(lengths: Sequence[int], sizes: Sequence[float]) -> Iterator[tuple[int, int]]:
    """Which row groups make a step: it is full with so many rows, or before so many bytes."""
    first, rows, taken = 0, 0, 0.0
    for i, (length, size) in enumerate(zip(lengths, sizes, strict=True)):
        if i > first and (rows >= _ROWS or taken + size > _BYTES):
            yield first, i
            first, rows, taken = i, 0, 0.0
        rows, taken = rows + length, taken + size
    if lengths:
        yield first, len(lengths)


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
        for first in range(0, len(batch), _BETWEEN_LOWS):
            times = batch.column(0).slice(first, _BETWEEN_LOWS)
            ends.append(ends[-1] + len(times))
            lows.append(_earliest(pa.chunked_array([times]), side.unit))
    yield from zip(ends, _behind(lows), strict=True)


def _earliest(times: pa.ChunkedArray, unit: TimeUnit) -> int:
    """The least time, in microseconds; that of no time is never reached."""
    return int(to_microseconds(times.drop_null(), unit).min(initial=END_OF_STREAM))


def _behind(lows: list[int]) -> list[int]:
    """Given the least time of each part, that of all parts from each on, and of none."""
    least = np.minimum.accumulate(np.array([END_OF_STREAM, *reversed(lows)]))[::-1]
    behind: list[int] = least.tolist()
    return behind
