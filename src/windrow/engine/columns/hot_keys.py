"""Hot keys: the keys whose windows are shared by several workers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.core.errors import WindrowError
from windrow.engine.columns.held import as_held
from windrow.engine.columns.key_table import hash_keys
from windrow.kernels.hashing import Hashes


@dataclass(frozen=True)
class HotKeys:
    """Keys that are told apart from others by their hashes.

    Emitters and workers agree on which keys are hot, and results do not depend on it. So a key that
    happens to have the hash of a hot one may be taken for it.
    """

    hashes: tuple[int, ...]

    @staticmethod
    def of(keys: Iterable[tuple[Any, ...]], types: dict[str, pa.DataType]) -> HotKeys:
        """The keys with these values of the key columns, which have these types.

        Without key columns there is one key, and none to be told apart from it.

        >>> HotKeys.of([("a",)], {"k": pa.string()}).among(
        ...     hash_keys([pa.chunked_array([["b", "a"]])], 2)
        ... )
        array([False,  True])
        """
        if not types:
            return HotKeys(())
        rows = list(keys)
        for key in rows:
            _check_length(key, list(types))
        columns = [
            _column(n, t, [key[i] for key in rows]) for i, (n, t) in enumerate(types.items())
        ]
        held = as_held(pa.table(columns, names=list(types)))
        return HotKeys(tuple(hash_keys(held.columns, len(held)).tolist()))

    def describe(self) -> str:
        return f"{len(self.hashes)} hot key{'s' * (len(self.hashes) != 1)}"

    def among(self, hashes: Hashes) -> NDArray[np.bool_]:
        """Which of the keys with these hashes are hot."""
        return np.isin(hashes, np.array(self.hashes, np.uint64))


def _check_length(key: tuple[Any, ...], columns: list[str]) -> None:
    if len(key) != len(columns):
        raise WindrowError(
            f"a hot key has one value per key column; the key columns are {columns}",
            repr(key),
            "write a key of several columns as a tuple.",
        )


def _column(name: str, kind: pa.DataType, values: list[Any]) -> pa.Array:
    try:
        column = pa.array(values, kind)
        # Arrow cuts off fractions, and takes structs with other fields.
        if not _is_cut(kind) or column.to_pylist() == values:
            return column
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        pass
    rule = f"hot keys must be values of the key columns; {name!r} is of type {kind}"
    raise WindrowError(rule, ", ".join(map(repr, values)))


def _is_cut(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_struct(kind))
