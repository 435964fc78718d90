"""Records: the keys of a worker and the numbers kept per key, stored as changes per batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.engine.columns.control import CODE
from windrow.engine.columns.packed import pack_tables, unpack_tables
from windrow.engine.state.store import Store
from windrow.engine.state.worker_state import State

_MOST_RECORDS = 256
_LEAST_ENTRIES = 4096


class Records:
    """The numbers per key as they are stored, and the records that hold them.

    A record has the keys that were new in a batch, and the numbers of the keys that changed in it.
    One record with all keys and numbers replaces the others when they have more than twice as many
    entries as there are keys, when they are too many, when the worker has forgotten keys, or when
    they lack a number because an older version wrote them.
    """

    def __init__(self) -> None:
        self.number = -1
        """The number of the last record."""
        self.base = 0
        """The number of the first record that is still needed."""
        self.entries = 0
        self.n_keys = 0
        self.by_key: dict[str, NDArray[Any]] = {}
        self.forgotten = 0
        """How many times the worker has forgotten keys and renumbered the others."""

    @property
    def names(self) -> list[str]:
        """The names of the records that are stored."""
        return [f"record {number}" for number in range(self.base, self.number + 1)]

    def header(self) -> dict[str, int]:
        """The fields that a copy needs to read the records."""
        names = ("number", "base", "entries", "n_keys")
        return {name: getattr(self, name) for name in names}

    def can_catch_up(self, header: Mapping[str, Any]) -> bool:
        """Whether all records that are missing here are still stored."""
        return not self.number < header["base"] <= header["number"]

    def load(self, store: Store, header: Mapping[str, Any]) -> pa.Table | None:
        """Read the records that are missing here and return the new keys."""
        known, first = self.n_keys, max(self.number + 1, header["base"])
        for name in self.header():
            setattr(self, name, header[name])
        self.forgotten = header["scalars"].get("forgotten", 0)
        keys = [self._read(store, number) for number in range(first, self.number + 1)]
        found = [k for k in keys if k is not None]
        assert sum(map(len, found)) == self.n_keys - known
        return pa.concat_tables(found) if found else None

    def _read(self, store: Store, number: int) -> pa.Table | None:
        """Apply the numbers of a record and return its keys."""
        tables, _ = unpack_tables(store.get(f"record {number}"))
        stored = tables["numbers"]
        numbers = {c: stored[c].to_numpy().copy() for c in stored.column_names}
        codes = numbers.pop(CODE, None)
        for name, values in numbers.items():
            if codes is None:
                self.by_key[name] = values
                continue
            held = self.by_key[name]
            kind = np.promote_types(held.dtype, values.dtype)
            self.by_key[name] = grown = _grown(held, int(codes.max()) + 1, kind)
            grown[codes] = values
        return tables.get("keys")

    def save(self, store: Store, state: State) -> None:
        """Write a record of the changes. Time O(changes), plus O(keys) to compare."""
        if state.keys is None:
            return
        n_keys = len(state.keys)
        forgotten, self.forgotten = self.forgotten, state.scalars.get("forgotten", 0)
        is_whole = (
            self.by_key.keys() != state.by_key.keys()
            or self.forgotten > forgotten
            or self.entries > max(_LEAST_ENTRIES, 2 * n_keys)
            or self.number - self.base >= _MOST_RECORDS
        )
        if is_whole:
            numbers = self.by_key = {name: v.copy() for name, v in state.by_key.items()}
        elif len((numbers := self._changed(state.by_key))[CODE]) == 0:
            return
        keys = state.keys.after(0 if is_whole else self.n_keys)
        self.n_keys = n_keys
        self.number += 1
        tables = {"numbers": pa.table(numbers)} | ({} if keys is None else {"keys": keys})
        store.put(f"record {self.number}", pack_tables(tables))
        if is_whole:
            for number in range(self.base, self.number):
                store.remove(f"record {number}")
            self.base, self.entries = self.number, 0
        else:
            self.entries += len(numbers[CODE])

    def _changed(self, by_key: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """The codes of the keys with a changed number, and all numbers of these keys."""
        is_changed = np.zeros(len(next(iter(by_key.values()))), np.bool_)
        is_changed[self.n_keys :] = True
        for name, values in by_key.items():
            self.by_key[name] = held = _grown(self.by_key[name], len(values), values.dtype)
            is_changed |= values != held
        codes = np.flatnonzero(is_changed)
        changed = {name: values[codes] for name, values in by_key.items()}
        for name, values in changed.items():
            self.by_key[name][codes] = values
        return {CODE: codes, **changed}


def _grown(values: NDArray[Any], length: int, kind: np.dtype[Any]) -> NDArray[Any]:
    """Convert values to a type and pad them with zeros up to a length."""
    if values.dtype == kind and len(values) >= length:
        return values
    grown = np.zeros(max(length, len(values)), kind)
    grown[: len(values)] = values
    return grown
