"""A scan: which columns and rows of a dataset's pieces are read, and how."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from windrow.core.errors import WindrowError
from windrow.engine.columns.held import cast
from windrow.engine.datasets.filters import columns_of, kept
from windrow.engine.datasets.pieces import FilePiece, Piece, TablePiece
from windrow.engine.datasets.sizes import bytes_of_row_groups
from windrow.engine.datasets.types import converted, fits, spark_type

ROWS_AT_ONCE = 131_072
"""Rows that are read at once."""
_BYTES = 16 << 20
"""Fewer rows are read at once if they would have more bytes."""
_FEWEST_ROWS = 64
_INSTANT = pa.timestamp("us", "UTC")
_CODES = pa.dictionary(pa.int32(), pa.string())
_BUFFER = 1 << 20
"""Bytes of a column that are held while its file is read."""
_READ_AHEAD = 2
"""Batches that are read before they are asked for."""
REBASED = (b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96")
"""Metadata of files with days of the Julian calendar, which Spark's reader converts."""


@dataclass(frozen=True)
class Scan:
    """Reads columns of the rows that meet a filter, with the types that Spark's reader gives."""

    declared: pa.Schema
    """All columns of the dataset, as it has them."""
    columns: tuple[str, ...]
    filter: ds.Expression | None = None
    int96: frozenset[str] = frozenset()
    """Columns of Parquet's old timestamps, instants whose time zone the file does not tell."""
    encoded: frozenset[str] = frozenset()
    """Columns of strings that are given as codes of a dictionary, as most Parquet files have them.

    Reading them so takes half the time, and the codes are numbers of keys.
    """

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns that are read, as they are given."""
        return pa.schema([(name, self.type_of(name)) for name in self.columns])

    @cached_property
    def given(self) -> pa.Schema:
        """The columns of batches: the schema, but for columns that are encoded."""
        return pa.schema(
            [f.with_type(_CODES) if f.name in self.encoded else f for f in self.schema]
        )

    def type_of(self, name: str) -> pa.DataType | None:
        """The type that Spark's reader gives the column; None if it gives none."""
        return _INSTANT if name in self.int96 else spark_type(self.declared.field(name).type)

    def only(self, *columns: str) -> Scan:
        """A scan of these columns, or of the narrowest if there are none: rows must be counted."""
        return Scan(self.declared, columns or (self._narrowest(),), self.filter, self.int96)

    def encoding(self, columns: Iterable[str]) -> Scan:
        """The same scan, with those of these columns encoded that hold strings."""
        types = {f.name: f.type for f in self.schema}
        return replace(self, encoded=frozenset(n for n in columns if types[n] == pa.string()))

    def with_int96(self, names: frozenset[str]) -> Scan:
        """The scan of files that have these columns as Parquet's old timestamps."""
        declared = self.declared
        for name in names:
            i = declared.get_field_index(name)
            declared = declared.set(i, pa.field(name, pa.timestamp("us")))
        return replace(self, declared=declared, int96=names)

    def _narrowest(self) -> str:
        readable = [f for f in self.declared if spark_type(f.type) is not None]
        name: str = min(readable, key=_width).name
        return name

    def describe(self, pieces: Sequence[Piece]) -> str:
        """What is read, in words."""
        files = len({piece.path for piece in pieces if isinstance(piece, FilePiece)})
        kinds = [f"{files} file{'s' * (files != 1)}"] if files else []
        if n := sum(isinstance(piece, TablePiece) for piece in pieces):
            kinds.append(f"{n} table{'s' * (n != 1)} in memory")
        return f"{' and '.join(kinds) or 'no file'}: {self.describe_columns()}"

    def describe_columns(self) -> str:
        """Which columns of which rows are read, in words."""
        where = "" if self.filter is None else f" where {self.filter}"
        return f"columns {', '.join(self.columns)} of {len(self.declared)}{where}"

    def batches(
        self, piece: Piece, *, use_threads: bool = True, at_once: bool = False
    ) -> Iterator[pa.RecordBatch]:
        """The rows of a piece. They are read as they are taken, a few at a time.

        Row groups that fit into memory can be read ``at_once``, which is faster.
        """
        if not isinstance(piece, FilePiece):
            for batch in self._scanned(ds.dataset(piece.table), use_threads):
                yield self._converted(batch)
            return
        piece.check()
        with piece.naming():
            for batch in self._opened(piece, use_threads, at_once):
                yield self._converted(batch)

    @cached_property
    def _filters(self) -> tuple[str, ...] | None:
        """The columns that the filter looks at; None if only PyArrow's scanner can tell."""
        if self.filter is None:
            return ()
        return columns_of(self.filter, self._scanned_schema()) or None

    @property
    def reads_pages(self) -> bool:
        """Whether Parquet files are read page by page, and not by PyArrow's scanner."""
        return self._filters is not None

    @property
    def looked_at(self) -> dict[str, None]:
        """The columns that are read: those that are given and those of the filter."""
        return dict.fromkeys((*self.columns, *(self._filters or ())))

    def _converted(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The columns in their order, with their types."""
        columns = [
            _encoded(batch[f.name]) if f.name in self.encoded else converted(batch[f.name], f.type)
            for f in self.schema
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self.given)

    def _opened(
        self, piece: FilePiece, use_threads: bool, at_once: bool
    ) -> Iterator[pa.RecordBatch]:
        fragment = piece.fragment
        if piece.is_parquet:
            if self.reads_pages:
                return self._streamed(piece, use_threads, at_once)
            piece.check_columns()
            if self.int96:
                fragment = _with_microseconds(fragment)
            if piece.row_groups is not None:
                fragment = fragment.subset(row_group_ids=list(piece.row_groups))
        if not isinstance(fragment.format, ds.CsvFileFormat | ds.JsonFileFormat):
            self._check(piece, fragment.physical_schema)
        if piece.is_parquet:
            _check_calendar(piece, fragment.metadata, self.schema)
        return self._scanned(fragment, use_threads)

    def _scanned(
        self, fragment: ds.Fragment | ds.Dataset, use_threads: bool
    ) -> Iterator[pa.RecordBatch]:
        """The rows of a fragment or of a table, by PyArrow's own scanner."""
        options: dict[str, Any] = {}
        if isinstance(fragment, ds.Fragment):
            options["schema"] = self._scanned_schema()
        if isinstance(fragment, ds.ParquetFileFragment):
            options["fragment_scan_options"] = ds.ParquetFragmentScanOptions(
                use_buffered_stream=True, buffer_size=_BUFFER, pre_buffer=False
            )
        scanner = fragment.scanner(
            columns=list(self.columns),
            filter=self.filter,
            batch_size=ROWS_AT_ONCE,
            batch_readahead=_READ_AHEAD,
            fragment_readahead=1,
            use_threads=use_threads,
            **options,
        )
        yield from scanner.to_batches()

    def _scanned_schema(self) -> pa.Schema:
        """The dataset's columns; old timestamps fit no nanoseconds."""
        schema = self.declared
        for name in self.int96:
            i = schema.get_field_index(name)
            schema = schema.set(i, pa.field(name, pa.timestamp("us")))
        return schema

    def _streamed(
        self, piece: FilePiece, use_threads: bool, at_once: bool
    ) -> Iterator[pa.RecordBatch]:
        """The rows of a Parquet file, page by page: a row group may be larger than memory."""
        fragment = piece.fragment
        known = ds.get_partition_keys(fragment.partition_expression)
        # PyArrow does not open a file that lacks a column whose codes are asked for.
        metadata = fragment.metadata if self.encoded else None
        encoded = [] if metadata is None else sorted(self.encoded & _paths_of(metadata))
        with (
            fragment.filesystem.open_input_file(piece.path) as source,
            pq.ParquetFile(
                source,
                buffer_size=_BUFFER,
                pre_buffer=False,
                coerce_int96_timestamp_unit="us",
                metadata=metadata,
                read_dictionary=encoded,
            ) as file,
        ):
            piece.check_columns(source)
            self._check(piece, file.schema_arrow)
            _check_calendar(piece, file.metadata, self.schema)
            names = [n for n in self.looked_at if n in file.schema_arrow.names and n not in known]
            groups = self._row_groups(piece)
            read: Iterator[pa.RecordBatch | int]
            if not names:
                read = _counted(file.metadata, groups)
            elif at_once:
                found = file.read_row_groups(groups, names, use_threads=use_threads)
                read = iter(found.to_batches())
            else:
                most = self._rows_at_once(file.metadata, groups)
                read = file.iter_batches(most, groups, names, use_threads=use_threads)
            rows = sum(file.metadata.row_group(group).num_rows for group in groups)
            for batch in _within(read, *piece.rows_of(rows)):
                yield self._filtered(batch, known)

    def _row_groups(self, piece: FilePiece) -> list[int]:
        """The row groups of a piece, without those that the filter rules out."""
        fragment = piece.fragment
        if piece.row_groups is not None:
            fragment = fragment.subset(row_group_ids=list(piece.row_groups))
        if self.filter is not None:
            fragment = fragment.subset(filter=self.filter, schema=self.declared)
        return [group.id for group in fragment.row_groups]

    def _rows_at_once(self, metadata: pq.FileMetaData, groups: Sequence[int]) -> int:
        """How many rows are read at once, given the row group with the widest rows."""
        columns = self.looked_at.keys() - self.encoded
        sizes = bytes_of_row_groups(metadata, groups, columns)
        rows = (metadata.row_group(group).num_rows for group in groups)
        width = max((size / n for size, n in zip(sizes, rows, strict=True) if n), default=0)
        return max(min(_FEWEST_ROWS, ROWS_AT_ONCE), min(ROWS_AT_ONCE, int(_BYTES / max(1, width))))

    def _filtered(self, batch: pa.RecordBatch | int, known: dict[str, Any]) -> pa.RecordBatch:
        """The columns of the rows that meet the filter, of a batch or a number of rows."""
        found: dict[str, pa.Array] = {}
        if isinstance(batch, pa.RecordBatch):
            found = dict(zip(batch.schema.names, batch.columns, strict=True))
        n = batch if isinstance(batch, int) else len(batch)

        def column(name: str, kind: pa.DataType) -> pa.Array:
            # A file may lack a column: its folder's name tells it, or it is null.
            if name in found:
                return found[name]
            value = known.get(name)
            return pa.nulls(n, kind) if value is None else pa.repeat(pa.scalar(value, kind), n)

        columns = [column(f.name, f.type) for f in self.schema]
        rows = pa.RecordBatch.from_arrays(columns, names=list(self.columns))
        if self.filter is None:
            return rows
        declared = self._scanned_schema()
        compared = {}
        for name in self._filters or ():
            kind = declared.field(name).type
            kind = kind.value_type if pa.types.is_dictionary(kind) else kind
            compared[name] = cast(column(name, kind), kind)
        mask = kept(self.filter, compared)
        # Arrow filters no views, so columns have their final types before.
        return rows if mask.true_count == n else self._converted(rows).filter(mask)

    def _check(self, piece: FilePiece, found: pa.Schema) -> None:
        """Raise an error if the file has a column of another type."""
        for name in self.columns:
            if found.get_field_index(name) < 0:
                continue
            own, declared = found.field(name).type, self._scanned_schema().field(name).type
            if not fits(own, declared):
                raise WindrowError(
                    f"a file of the dataset has another type in column {name!r}",
                    f"{own} in {piece.path}, {declared} in the dataset",
                    "write the file again, or give the dataset a schema that fits all files.",
                )


def _paths_of(metadata: pq.FileMetaData) -> set[str]:
    """The columns of a file; those inside of others have longer names."""
    return {metadata.schema.column(i).path for i in range(metadata.num_columns)}


def _encoded(column: pa.Array) -> pa.DictionaryArray:
    if column.type == _CODES:
        return column
    return converted(column, pa.string()).dictionary_encode()


def int96_columns(pieces: Sequence[Piece], declared: pa.Schema) -> frozenset[str]:
    """The columns of Parquet's old timestamps, which Spark writes by default.

    PyArrow gives them as nanoseconds without a time zone, Spark's reader as instants.
    """
    first = next((p for p in pieces if isinstance(p, FilePiece) and p.is_parquet), None)
    suspects = {f.name for f in declared if f.type == pa.timestamp("ns")}
    if first is None or not suspects:
        return frozenset()
    with first.naming():
        schema = first.fragment.metadata.schema
        columns = (schema.column(i) for i in range(len(schema)))
        return frozenset(
            c.path for c in columns if c.physical_type == "INT96" and c.path in suspects
        )


def _with_microseconds(fragment: ds.ParquetFileFragment) -> ds.ParquetFileFragment:
    """The fragment, its old timestamps read as microseconds."""
    options = ds.ParquetReadOptions(coerce_int96_timestamp_unit="us")
    return ds.ParquetFileFormat(read_options=options).make_fragment(
        fragment.path,
        fragment.filesystem,
        fragment.partition_expression,
        [g.id for g in fragment.row_groups],
    )


def _within(
    batches: Iterator[pa.RecordBatch | int], first: int, last: int
) -> Iterator[pa.RecordBatch | int]:
    """The rows from the first to the one before the last; those before must be read, too."""
    seen = 0
    for batch in batches:
        n = batch if isinstance(batch, int) else len(batch)
        low, high = max(first - seen, 0), min(last - seen, n)
        if low < high:
            yield high - low if isinstance(batch, int) else batch.slice(low, high - low)
        seen += n
        if seen >= last:
            return


def _counted(metadata: pq.FileMetaData, groups: Sequence[int]) -> Iterator[int]:
    """The rows of row groups, as numbers of a few at a time."""
    left = sum(metadata.row_group(g).num_rows for g in groups)
    while left > 0:
        yield min(left, ROWS_AT_ONCE)
        left -= ROWS_AT_ONCE


def _check_calendar(piece: FilePiece, metadata: pq.FileMetaData, schema: pa.Schema) -> None:
    kept = metadata.metadata or {}
    if any(key in kept for key in REBASED) and any(map(pa.types.is_temporal, schema.types)):
        raise WindrowError(
            "dates and times of the Julian calendar are left to Spark's reader",
            piece.path,
            "stream spark.read.parquet(...) instead, or write the file again with Spark.",
        )


def _width(field: pa.Field) -> int:
    try:
        width: int = field.type.bit_width
    except ValueError:
        return 1 << 10
    return width
