"""Statistics of a dataset from a few of its rows.

The first rows of a few pieces are read, and only if the dataset is not small: key columns, times
and what a filter looks at. The aim is to take less than 3 % of the query's time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np
import pyarrow as pa

from windrow.core.computation import Aggregation
from windrow.core.errors import WindrowError
from windrow.core.statistics import UNKNOWN, Statistics
from windrow.engine.columns.arrays import to_microseconds
from windrow.engine.datasets.frequent_keys import frequent_keys
from windrow.engine.datasets.pieces import FilePiece, Piece
from windrow.engine.datasets.scan import ROWS_AT_ONCE, Scan
from windrow.engine.window_query import WindowQuery

LEAST_BYTES = 16 << 20
"""The size from which a sample is worth its time: a query over less takes about a second."""
OFTEN = 8
"""How much less input is worth a sample if the function is the user's: it may take any time."""
_PIECES = 8
_ROWS = 65_536
"""The rows of a piece that are looked at."""
_ORDERED = 1.2
"""Halves of rows in order of time span, together, as long as all; others up to twice as long."""
_SECONDS = 2.0
"""How long reading may take; pieces that take longer are left out."""

Making = Mapping[str, Callable[[pa.Array], pa.Array]]
"""What makes columns of a query of those of a scan, by the query's names."""


def sampled(
    query: WindowQuery,
    scan: Scan,
    pieces: Sequence[Piece],
    names: dict[str, str],
    least: float | None = None,
    making: Making | None = None,
) -> Statistics:
    """Keys, skew and rate of the pieces; ``names`` are the scan's columns of those of the query.

    Nothing is known of datasets with fewer bytes than the ``least``, of those whose filter passes
    no row that is looked at, and of files that cannot be read: that is left to the tasks to say.
    """
    least = LEAST_BYTES / worth_of(query) if least is None else least
    if sum(map(_bytes_of, pieces)) < least:
        return UNKNOWN
    if scan.filter is not None and not all(_is_read_by_pages(scan, piece) for piece in pieces):
        # The first rows that pass may be far away.
        return UNKNOWN
    # Other parts of row groups begin behind rows that would have to be read first.
    quick = [p for p in pieces if not isinstance(p, FilePiece) or p.part[0] == 0]
    chosen = [quick[i] for i in np.unique(np.linspace(0, len(quick) - 1, _PIECES).astype(int))]
    wanted = [*query.keys, *([query.time] if query.time else [])]
    narrow = scan.only(*dict.fromkeys(names[name] for name in wanted))
    pool = ThreadPoolExecutor(_PIECES)
    reading = [pool.submit(_first_rows, narrow, piece) for piece in chosen]
    done, _ = wait(reading, _SECONDS)
    pool.shutdown(wait=False, cancel_futures=True)
    found = [f.result() for f in reading if f in done and f.exception() is None]
    rows = round(
        sum(n for _, n, _ in found)
        / max(1.0, sum(size for _, _, size in found))
        * sum(map(_bytes_of, pieces))
    )
    if not rows:
        return UNKNOWN
    made = [(_made(t, dict.fromkeys(wanted), names, making or {}), n) for t, n, _ in found]
    return statistics_of_parts(query, made, rows)


def statistics_of_parts(
    query: WindowQuery, parts: Sequence[tuple[pa.Table, float]], rows: int
) -> Statistics:
    """What the first rows of some parts tell about so many rows; each part has a number of rows."""
    span = None
    if query.time:
        reaches = [_reach(query, t[query.time], n) for t, n in parts]
        span = _span_of([reach for reach in reaches if reach is not None])
    keys = pa.concat_tables(t.select(list(query.keys)) for t, _ in parts)
    return _statistics(query, keys, rows, span)


def _is_read_by_pages(scan: Scan, piece: Piece) -> bool:
    """Whether the first rows are looked at, and no more, if few of them pass the filter."""
    return isinstance(piece, FilePiece) and piece.is_parquet and scan.reads_pages


def _made(
    table: pa.Table, wanted: Iterable[str], names: dict[str, str], making: Making
) -> pa.Table:
    """The columns of the query, made of those that were read."""
    found = {}
    for name in wanted:
        column = table[names[name]].combine_chunks()
        found[name] = making[name](column) if name in making else column
    return pa.table(found) if found else table.select([])


def worth_of(query: WindowQuery) -> int:
    """How much less input than for functions of the library is worth a sample."""
    return 1 if isinstance(query.computation, Aggregation) else OFTEN


def statistics_in(query: WindowQuery, sample: pa.Table, rows: int) -> Statistics:
    """What rows at random tell about so many rows."""
    return statistics_of_parts(query, [(sample, len(sample))], rows)


def _statistics(query: WindowQuery, keys: pa.Table, rows: int, span: int | None) -> Statistics:
    n, skew = _keys_of(keys, keys.column_names, rows)
    rate = rows / (span / 1e6) if span else None
    hot = frequent_keys(query, keys)
    return Statistics(keys=n, skew=skew, rate=rate, rows=rows, hot_keys=hot)


def some_rows(scan: Scan, pieces: Sequence[Piece]) -> pa.RecordBatch | None:
    """The first rows of the piece in the middle; None if there are none.

    If it cannot be read, tasks will say why.
    """
    try:
        rows, _, _ = _first_rows(scan, pieces[len(pieces) // 2])
    except (WindrowError, pa.ArrowException, OSError, IndexError):
        return None
    return rows.combine_chunks().to_batches()[0] if len(rows) else None


def _first_rows(scan: Scan, piece: Piece) -> tuple[pa.Table, float, float]:
    """The first rows of a piece, how many it has, and its size.

    With a filter, they are those of the first rows that pass it.
    """
    batch = next(scan.batches(piece, use_threads=False), None)
    if batch is None:
        raise WindrowError("the piece has no rows")
    rows: float = _rows_of(piece)
    if scan.filter is None:
        batch = batch[:_ROWS]
    else:
        rows *= len(batch) / max(1, min(rows, ROWS_AT_ONCE))
    return pa.Table.from_batches([batch]), rows, _bytes_of(piece)


def _rows_of(piece: Piece) -> int:
    if not isinstance(piece, FilePiece):
        return len(piece.table)
    rows: int = piece.fragment.count_rows()
    if piece.row_groups is None:
        return rows
    metadata = piece.fragment.metadata
    first, last = piece.rows_of(sum(metadata.row_group(i).num_rows for i in piece.row_groups))
    return last - first


def _bytes_of(piece: Piece) -> float:
    """The size of a piece; that of some row groups is their part of the file."""
    if not isinstance(piece, FilePiece):
        return float(piece.table.nbytes)
    if piece.row_groups is None:
        return float(piece.stamp.size)
    metadata = piece.fragment.metadata
    sizes = [metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups)]
    own = sum(sizes[i] for i in piece.row_groups) / piece.part[1]
    return float(piece.stamp.size * own / max(1, sum(sizes)))


def _keys_of(table: pa.Table, columns: list[str], rows: int) -> tuple[int, float]:
    """About how many keys there are (Chao's estimate), and the share of the most frequent."""
    if not columns:
        return 1, 1.0
    counts = table.group_by(columns).aggregate([([], "count_all")])["count_all"].to_numpy()
    once, twice = int((counts == 1).sum()), int((counts == 2).sum())
    keys = len(counts) + once * once / (2 * max(1, twice))
    skew = float(counts.max() / counts.sum())
    # A key that was seen once by chance says nothing about its share.
    return min(rows, round(keys)), skew if counts.max() > 4 else 1 / max(1.0, keys)


def _reach(query: WindowQuery, times: pa.ChunkedArray, rows: float) -> tuple[int, int] | None:
    """From when to when so many rows are, by the times of the first of them.

    If these are in order, about, the others follow in the same steps. Otherwise they are as old.
    """
    found = to_microseconds(times.drop_null(), query.unit)
    if len(found) < 2:
        return None
    low, high = int(found.min()), int(found.max())
    halves = found[: len(found) // 2], found[len(found) // 2 :]
    is_ordered = sum(int(part.max() - part.min()) for part in halves) < _ORDERED * (high - low)
    return low, low + round((high - low) * rows / len(times)) if is_ordered else high


def _span_of(reaches: list[tuple[int, int]]) -> int | None:
    """How much time some pieces cover together."""
    if not reaches:
        return None
    return max(high for _, high in reaches) - min(low for low, _ in reaches)
