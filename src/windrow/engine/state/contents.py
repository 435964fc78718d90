"""What stored state holds: how many keys, rows and bytes, and which keys have the most rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.core.watermark import BEGINNING
from windrow.engine.columns.arrays import Int64s
from windrow.engine.columns.control import CODE
from windrow.engine.columns.key_table import KeyTable
from windrow.engine.columns.packed import unpack_tables
from windrow.engine.state.log import read_header


class Contents:
    """The state of all workers of a stage.

    ``headers`` are those of the workers, by number. ``blobs`` are their other blobs, in any order,
    each with the worker's number and its name. They are read one after the other, since together
    they may be larger than memory.
    """

    def __init__(
        self, headers: Mapping[int, bytes], blobs: Iterable[tuple[int, str, bytes]]
    ) -> None:
        read = [read_header(stored) for stored in headers.values()]
        self.header: dict[str, Any] = read[0]
        """The header of one worker: all describe the same query."""
        self.workers = len(read)
        self.dropped = sum(header["scalars"].get("dropped", 0) for header in read)
        latest = max(header["scalars"].get("watermark", BEGINNING) for header in read)
        self.watermark: int | None = latest if latest > BEGINNING else None
        """The latest of all workers, in microseconds; None if there is none yet."""
        self.rows = 0
        """Rows and partial results as they are stored, including some that are not needed."""
        self.bytes = 0
        columns = [column["column"] for column in self.header["query"].get("keys", [])]
        self._keys = KeyTable(columns)
        self._rows_of = np.zeros(0, np.int64)
        """How many rows each key has, by its code among the keys of all workers."""
        workers = {number: _WorkersKeys() for number in headers}
        for number, name, blob in blobs:
            self.bytes += len(blob)
            tables = unpack_tables(blob)[0]
            if record := re.fullmatch(r"record (\d+)", name):
                workers[number].keys[int(record[1])] = tables.get("keys")
            else:
                self.rows += sum(map(len, tables.values()))
                for table in tables.values():
                    self._count(table, workers[number], columns)
        for worker in workers.values():
            if columns and (keys := worker.table()) is not None:
                self._add(self._keys.codes(keys), worker.rows_of(len(keys)))

    @property
    def keys(self) -> int:
        """How many keys there are; none if the query has no keys."""
        return len(self._rows_of)

    def biggest(self, most: int) -> list[tuple[Any, int]]:
        """The keys with the most rows, and how many they have."""
        order = np.argsort(-self._rows_of, kind="stable")[:most]
        return [(self._keys.value(code), int(self._rows_of[code])) for code in order.tolist()]

    @property
    def greatest_share(self) -> float:
        """The share of the stored rows that the biggest key has; 0 if there are none."""
        return float(self._rows_of.max(initial=0) / max(1, self._rows_of.sum()))

    def _count(self, table: pa.Table, worker: _WorkersKeys, columns: list[str]) -> None:
        """Count the rows of each key: a table has codes or, if its rows wait, the keys."""
        if CODE in table.column_names:
            worker.add(table[CODE].to_numpy())
        elif columns and len(table) and set(columns) <= set(table.column_names):
            self._add(self._keys.codes(table), 1)

    def _add(self, codes: Int64s, rows: Int64s | int) -> None:
        grown = np.zeros(len(self._keys), np.int64)
        grown[: len(self._rows_of)] = self._rows_of
        np.add.at(grown, codes, rows)
        self._rows_of = grown


class _WorkersKeys:
    """The keys that a worker has numbered, and how many rows it holds of each."""

    def __init__(self) -> None:
        self.keys: dict[int, pa.Table | None] = {}
        """The new keys of each record; in the order of records they have the codes 0, 1, 2, ..."""
        self.by_code = np.zeros(0, np.int64)

    def add(self, codes: Int64s) -> None:
        counts = np.bincount(codes, minlength=len(self.by_code))
        counts[: len(self.by_code)] += self.by_code
        self.by_code = counts

    def table(self) -> pa.Table | None:
        found = [keys for _, keys in sorted(self.keys.items()) if keys is not None]
        return pa.concat_tables(found) if found else None

    def rows_of(self, n: int) -> Int64s:
        """The rows of each of the worker's keys."""
        rows = np.zeros(n, np.int64)
        rows[: len(self.by_code)] = self.by_code
        return rows
