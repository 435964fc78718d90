"""The state of a worker between two batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, TypeAlias, TypeVar

import pyarrow as pa
from numpy.typing import NDArray

from windrow.engine.columns.key_table import KeyTable

Part = TypeVar("Part")
Chunks: TypeAlias = Mapping[str, Callable[[], pa.Table]]
"""Immutable tables by name. Each is built or read when it is called."""


def as_is(table: pa.Table) -> pa.Table:
    """For parts that are tables already: nothing to convert."""
    return table


def chunks_of(
    kind: str, parts: Mapping[Any, Part], to_table: Callable[[Part], pa.Table]
) -> dict[str, Callable[[], pa.Table]]:
    """Chunks of the parts of one kind, named by the kind and the part's name."""
    return {f"{kind}{name}": partial(to_table, part) for name, part in parts.items()}


@dataclass(frozen=True)
class State:
    """The state of a worker: scalars, keys, numbers per key, and chunks of tuples.

    ``scalars`` must be JSON data; Python tuples come back as lists.
    """

    scalars: dict[str, Any]
    keys: KeyTable | None = None
    by_key: dict[str, NDArray[Any]] = field(default_factory=dict)
    chunks: Chunks = field(default_factory=dict)
    new_keys: pa.Table | None = None
    """When restoring: the keys that the worker does not have yet."""

    def of_kind(self, kind: str) -> Chunks:
        """The chunks of one kind, by the rest of their names."""
        own = ((name, chunk) for name, chunk in self.chunks.items() if name.startswith(kind))
        return {name.removeprefix(kind): chunk for name, chunk in own}

    def numbered(
        self, kind: str, held: Mapping[int, Part], from_table: Callable[[pa.Table], Part]
    ) -> dict[int, Part]:
        """The parts of one kind by number. Parts in ``held`` are not read again."""
        stored = {int(name): chunk for name, chunk in self.of_kind(kind).items()}
        return {n: held[n] if n in held else from_table(stored[n]()) for n in sorted(stored)}


class Stateful(Protocol):
    """An object whose state can be stored."""

    def state(self) -> State: ...

    def restore(self, state: State) -> None: ...
