"""A worker's state, and the log it is stored in: what has changed is written, what lacks is read.

A store holds, for one worker, a header and named blobs:

* ``record 7``: the keys that were new in a batch, and the numbers of keys that changed in it;
* ``chunk 3-3``, ``pending 5``: immutable chunks of tuples.

A batch writes the header, one record and its new chunks, and removes chunks that have expired.
Now and then, when the records have more entries than there are keys, all numbers of all keys are
written as one record, and those before are removed.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.core.errors import WindrowError
from windrow.engine.columns.key_table import KeyTable
from windrow.engine.stages.messages import pack, unpack

FORMAT = 1
"""The version of the format below: to be counted up with every change of it."""
_MOST_RECORDS = 256
_LEAST_ENTRIES = 4096
_REMEMBERED = 32
"""States of which a copy can catch up by reading only what it lacks."""


class Store(Protocol):
    """Where the state of one worker is kept."""

    def header(self) -> bytes | None:
        """The header, if there is any state."""

    def set_header(self, header: bytes) -> None: ...

    def get(self, name: str) -> bytes: ...

    def put(self, name: str, blob: bytes) -> None: ...

    def remove(self, name: str) -> None: ...


@dataclass(frozen=True)
class State:
    """The state of a worker: a few numbers, its keys, numbers by key, and chunks of tuples."""

    scalars: dict[str, Any]
    keys: KeyTable | None = None
    by_key: dict[str, NDArray[Any]] = field(default_factory=dict)
    chunks: Mapping[str, Any] = field(default_factory=dict)
    new_keys: pa.Table | None = None
    """When it is restored: the keys that the worker does not have yet."""

    def chunks_of(self, kind: str) -> Mapping[str, Any]:
        """The chunks of one kind by the rest of their name."""
        names = [name.removeprefix(kind) for name in self.chunks if name.startswith(kind)]
        return _Lazy(names, lambda name: self.chunks[kind + name])

    def numbered(self, kind: str, held: Mapping[int, Any]) -> dict[int, Any]:
        """The chunks of one kind by number, the rest of their name; read are those not held."""
        stored = self.chunks_of(kind)
        return {n: held[n] if n in held else stored[str(n)] for n in sorted(map(int, stored))}


class _Lazy(Mapping[str, Any]):
    """Chunks that are read when they are asked for."""

    def __init__(self, names: list[str], read: Callable[[str], Any]) -> None:
        self._names, self._read = dict.fromkeys(names), read

    def __getitem__(self, name: str) -> Any:
        return self._read(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class Stateful(Protocol):
    """What can be stored."""

    def state(self) -> State: ...

    def restore(self, state: State) -> None: ...


class NotAnAncestor(Exception):
    """The stored state did not come from this copy's: the copy is of no use."""


class StateLog:
    """Writes a worker's state to a store and brings a copy up to date from it.

    It knows the state of its worker as it is stored. ``query`` says in words what is computed: of
    another query's state none is read.
    """

    def __init__(self, query: str) -> None:
        self.query = query
        self.token = ""
        """Which of all states that ever were it is."""
        self.number = -1
        """The last record."""
        self.base = 0
        """The first record that is needed."""
        self.entries = 0
        self.n_keys = 0
        self.by_key: dict[str, NDArray[Any]] = {}
        self.chunks: set[str] = set()
        self.tokens: list[tuple[str, int]] = []
        self.forgotten = 0
        """How many times the worker has forgotten keys, and numbered the others anew."""
        self.extra: dict[str, Any] = {}
        """What else is to be remembered of the worker, from batch to batch."""

    def load(self, worker: Stateful, store: Store) -> None:
        """Bring the worker to the stored state. Time O(what it lacks)."""
        packed = store.header()
        if packed is None:
            if self.token:
                raise NotAnAncestor
            return
        header = self._checked(unpack(packed))
        if header["token"] == self.token:
            return
        if self.token and (self.token, self.number) not in header["tokens"]:
            raise NotAnAncestor
        first = max(self.number + 1, header["base"])
        if self.token and self.number < header["base"] <= header["number"]:
            raise NotAnAncestor
        known, self.n_keys = self.n_keys, header["n_keys"]
        new_keys = [self._read_record(store, n) for n in range(first, header["number"] + 1)]
        keys = [k for k in new_keys if k is not None]
        self.token, self.number, self.base = header["token"], header["number"], header["base"]
        self.entries, self.chunks = header["entries"], set(header["chunks"])
        self.tokens, self.extra = header["tokens"], header["extra"]
        self.forgotten = header["scalars"].get("forgotten", 0)
        lacking = pa.concat_tables(keys) if keys else None
        assert (0 if lacking is None else len(lacking)) == self.n_keys - known
        chunks = _Lazy(header["chunks"], lambda name: unpack(store.get(name)))
        worker.restore(State(header["scalars"], None, self.by_key, chunks, lacking))

    def _checked(self, header: dict[str, Any]) -> dict[str, Any]:
        if header["format"] > FORMAT:
            raise WindrowError(
                "the checkpoint holds state of a newer version of Windrow",
                f"state format {header['format']}; this version reads {FORMAT}",
                "go on with the version that wrote it.",
            )
        if header["query"] != self.query:
            raise WindrowError(
                "the checkpoint holds the state of another query or of another parallelism",
                f"it was written by\n  {header['query']}\nand this is\n  {self.query}",
                "start with a new checkpoint location, or restore the query and its pattern.",
            )
        return header

    def _read_record(self, store: Store, number: int) -> pa.Table | None:
        """Take up a record's numbers; its keys."""
        keys, changes = unpack(store.get(f"record {number}"))
        for name, (codes, values) in changes.items():
            if codes is None:
                self.by_key[name] = values
                continue
            held = self.by_key[name]
            grown = np.zeros(max(len(held), int(codes.max()) + 1), held.dtype)
            grown[: len(held)] = held
            kind = np.promote_types(held.dtype, values.dtype)
            self.by_key[name] = grown.astype(kind, copy=False)
            self.by_key[name][codes] = values
        return None if keys is None else unpack(keys)

    def save(self, worker: Stateful, store: Store) -> None:
        """Store what has changed since it was last stored. Time O(that), and O(keys) to compare."""
        state = worker.state()
        self._write_record(state, store)
        for name in self.chunks - set(state.chunks):
            store.remove(name)
        for name, chunk in state.chunks.items():
            if name not in self.chunks:
                store.put(name, pack(chunk))
        self.chunks = set(state.chunks)
        self.token = uuid.uuid4().hex
        self.tokens = [*self.tokens[1 - _REMEMBERED :], (self.token, self.number)]
        header = {
            "format": FORMAT,
            "query": self.query,
            "token": self.token,
            "tokens": self.tokens,
            "number": self.number,
            "base": self.base,
            "entries": self.entries,
            "n_keys": self.n_keys,
            "chunks": list(state.chunks),
            "scalars": state.scalars,
            "extra": self.extra,
        }
        store.set_header(pack(header))

    def _write_record(self, state: State, store: Store) -> None:
        if state.keys is None:
            return
        n_keys = len(state.keys)
        forgotten, self.forgotten = self.forgotten, state.scalars.get("forgotten", 0)
        is_whole = (
            not self.by_key
            or self.forgotten > forgotten
            or self.entries > max(_LEAST_ENTRIES, 2 * n_keys)
            or self.number - self.base >= _MOST_RECORDS
        )
        changes = {
            name: (None, values.copy()) if is_whole else self._changed(name, values)
            for name, values in state.by_key.items()
        }
        if is_whole:
            self.by_key = {name: values for name, (_, values) in changes.items()}
        else:
            changes = {name: found for name, found in changes.items() if len(found[1])}
        keys = state.keys.after(0 if is_whole else self.n_keys)
        self.n_keys = n_keys
        if not changes and keys is None:
            return
        self.number += 1
        packed = None if keys is None else pack(keys)
        store.put(f"record {self.number}", pack((packed, changes)))
        self.entries += sum(len(values) for _, values in changes.values())
        if is_whole:
            for number in range(self.base, self.number):
                store.remove(f"record {number}")
            self.base, self.entries = self.number, 0

    def _changed(self, name: str, values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """The codes of the keys whose number has changed, and the numbers."""
        held = self.by_key[name]
        if held.dtype != values.dtype or len(held) < len(values):
            grown = np.zeros(len(values), values.dtype)
            grown[: len(held)] = held
            is_changed = values != grown
            is_changed[len(held) :] = True
            self.by_key[name] = held = grown
        else:
            is_changed = values != held
        codes = np.flatnonzero(is_changed)
        held[codes] = values[codes]
        return codes, values[codes]


class MemoryStore:
    """A store in memory."""

    def __init__(self, blobs: Mapping[str, bytes] | None = None) -> None:
        self.blobs = dict(blobs or {})

    def header(self) -> bytes | None:
        return self.blobs.get("")

    def set_header(self, header: bytes) -> None:
        self.blobs[""] = header

    def get(self, name: str) -> bytes:
        return self.blobs[name]

    def put(self, name: str, blob: bytes) -> None:
        self.blobs[name] = blob

    def remove(self, name: str) -> None:
        del self.blobs[name]
