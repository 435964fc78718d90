"""Statistics of a dataset from a few of its rows.

The first rows of a few pieces are read, key columns and times alone, and only if the dataset is not
small. The aim is to take less than 3 % of the query's time.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np
import pyarrow as pa

from windrow.core.errors import WindrowError
from windrow.core.statistics import UNKNOWN, Statistics
from windrow.engine.columns.arrays import to_microseconds
from windrow.engine.datasets.frequent_keys import frequent_keys
from windrow.engine.datasets.pieces import FilePiece, Piece
from windrow.engine.datasets.scan import Scan
from windrow.engine.window_query import WindowQuery

LEAST_BYTES = 64 << 20
"""The size from which a sample is worth its time: a query over less takes a second or two."""
_PIECES = 8
_ROWS = 65_536
"""The rows of a piece that are looked at."""
_SECONDS = 2.0
"""How long reading may take; pieces that take longer are left out."""


def sampled(
    query: WindowQuery, scan: Scan, pieces: Sequence[Piece], names: dict[str, str]
) -> Statistics:
    """Keys, skew and rate of the pieces; ``names`` are the scan's columns of those of the query.

    Nothing is known of small datasets, of filtered ones, whose first rows may be far away, and of
    files that cannot be read: that is left to the tasks to say.
    """
    if scan.filter is not None or sum(map(_bytes_of, pieces)) < LEAST_BYTES:
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
    if not found:
        return UNKNOWN
    rows = round(
        sum(n for _, n, _ in found)
        / sum(size for _, _, size in found)
        * sum(map(_bytes_of, pieces))
    )
    table = pa.concat_tables(t for t, _, _ in found)
    keys, skew = _keys_of(table, [names[k] for k in query.keys], rows)
    rate = _rate_of(query, table[names[query.time]], rows) if query.time else None
    hot = frequent_keys(query, table.select([names[k] for k in query.keys]))
    return Statistics(keys=keys, skew=skew, rate=rate, rows=rows, hot_keys=hot)


def _first_rows(scan: Scan, piece: Piece) -> tuple[pa.Table, int, float]:
    """The first rows of a piece, how many it has, and its size."""
    batch = next(scan.batches(piece, use_threads=False), None)
    if batch is None:
        raise WindrowError("the piece has no rows")
    return pa.Table.from_batches([batch[:_ROWS]]), _rows_of(piece), _bytes_of(piece)


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


def _rate_of(query: WindowQuery, times: pa.ChunkedArray, rows: int) -> float | None:
    """Rows per second of event time, if the sample's times are not all the same."""
    found = to_microseconds(times.drop_null(), query.unit)
    span = int(found.max() - found.min()) if len(found) else 0
    return None if span <= 0 else rows / (span / 1e6)
