"""Splits: the pieces that one task reads. Together they are the dataset, in its order."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa

from windrow.core.errors import WindrowError
from windrow.engine.datasets.pieces import NOT_PICKLED, FilePiece, Piece, TablePiece
from windrow.engine.datasets.scan import Scan

_LEAST = 4 << 20
"""Bytes that are worth a task."""
_PER_CORE = 3
"""Tasks per core: enough that none waits long for the last of another."""
_MOST_PARTS = 4
"""Parts of a row group: their tasks read it two and a half times."""
_FOOTERS_AT_ONCE = 16


@dataclass(frozen=True)
class Split:
    """What one task reads: pieces, one after the other."""

    scan: Scan
    pieces: tuple[Piece, ...]

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows, read by one thread: as many tasks run as there are cores."""
        for piece in self.pieces:
            yield from self.scan.batches(piece, use_threads=False)

    def pack(self) -> bytes:
        """The split as bytes; the same few names and options compress well."""
        try:
            return zlib.compress(pickle.dumps(self))
        except NOT_PICKLED as e:
            raise WindrowError(
                "Spark's tasks must be able to open the dataset's files by themselves",
                str(e),
                "build the dataset on a file system of pyarrow.fs.",
            ) from None

    @staticmethod
    def unpack(packed: bytes) -> Split:
        split: Split = pickle.loads(zlib.decompress(packed))
        return split


def splits_of(scan: Scan, pieces: Sequence[Piece], cores: int) -> list[Split]:
    """At most ``most_splits`` splits of equal size: large files are cut at their row groups."""
    target = bytes_per_task(sum(map(_size, pieces)), most_splits(cores))
    smaller = cut(scan, pieces, target, _MOST_PARTS)
    sizes = [size for _, size in smaller]
    # A piece belongs to the split in which its middle lies, so that order is kept.
    ends = np.cumsum(sizes)
    numbers = ((ends - np.array(sizes) / 2) // target).astype(int).tolist()
    edges = [i for i, n in enumerate(numbers) if i == 0 or n != numbers[i - 1]]
    return [
        Split(scan, tuple(piece for piece, _ in smaller[first:last]))
        for first, last in pairwise([*edges, len(smaller)])
    ]


def most_splits(cores: int) -> int:
    """As many splits as it takes to keep cores busy."""
    return _PER_CORE * cores


def bytes_per_task(size: float, tasks: int) -> float:
    """How much each of at most so many tasks should read of files of this size."""
    return max(_LEAST, size / tasks)


def cut(
    scan: Scan, pieces: Sequence[Piece], target: float, most_of_group: int = 1
) -> list[tuple[Piece, float]]:
    """The pieces with their sizes, large ones in parts, and their row groups in at most so many."""
    large = [p for p in pieces if _is_cut(p) and _size(p) > target]
    with ThreadPoolExecutor(_FOOTERS_AT_ONCE) as pool:
        cut_up = pool.map(lambda piece: _parts(scan, piece, target, most_of_group), large)
        parts = iter(list(cut_up))
    found: list[tuple[Piece, float]] = []
    for piece in pieces:
        is_large = _is_cut(piece) and _size(piece) > target
        found += next(parts) if is_large else [(piece, _size(piece))]
    return found


def _is_cut(piece: Piece) -> bool:
    return isinstance(piece, TablePiece) or piece.is_parquet


def _parts(
    scan: Scan, piece: Piece, target: float, most_of_group: int
) -> list[tuple[Piece, float]]:
    if isinstance(piece, TablePiece):
        n = -(-piece.table.nbytes // int(target))
        rows = -(-len(piece.table) // n)
        tables = [piece.table.slice(i, rows) for i in range(0, len(piece.table), rows)]
        return [(TablePiece(t.combine_chunks()), _size(piece) / len(tables)) for t in tables]
    piece.check_columns()
    with piece.naming():
        fragment = piece.fragment
        whole = sum(g.total_byte_size for g in fragment.row_groups)
        if scan.filter is not None:
            fragment = fragment.subset(filter=scan.filter, schema=scan.declared)
        groups = [(g.id, g.total_byte_size) for g in fragment.row_groups]
    # The sizes in a footer are those without compression.
    shrunk = piece.stamp.size / max(1, whole)
    return [
        (FilePiece(piece.fragment, piece.stamp, (i,), (number, n)), size * shrunk / n)
        for i, size in groups
        for n in [min(most_of_group, _parts_of_group(scan, size * shrunk, target))]
        for number in range(n)
    ]


def _parts_of_group(scan: Scan, size: float, target: float) -> int:
    """Into how many parts a row group is cut, so that each core has one.

    A task reads the rows before its own as well. That costs less than what is done with its own,
    but not so little that there should be more parts.
    """
    return max(1, round(size / target / _PER_CORE)) if scan.reads_pages else 1


def _size(piece: Piece) -> float:
    return float(piece.table.nbytes if isinstance(piece, TablePiece) else piece.stamp.size)
