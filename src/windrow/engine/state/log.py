"""The log that stores a worker's state: it writes what changed and reads what is missing.

The store of one worker holds a JSON header and named blobs of Arrow tables:

* ``record 7``: the keys that were new in a batch, and the numbers of the keys that changed in it;
* ``chunk 3-3``, ``pending 5``: immutable chunks of tuples.

A batch writes the header, one record and its new chunks, and removes expired chunks.
"""

from __future__ import annotations

import json
import uuid
from functools import partial
from typing import Any

import pyarrow as pa

from windrow.core.errors import WindrowError
from windrow.core.version import VERSION
from windrow.engine.columns.packed import pack_tables, unpack_tables
from windrow.engine.state.mismatch import refuse_mismatch
from windrow.engine.state.records import Records
from windrow.engine.state.store import MeasuredStore, Store
from windrow.engine.state.worker_state import State, Stateful

FORMAT = 4
"""The version of the stored header and blobs, including the workers' own scalars and tables.

Two changes need no new version: a parameter of a model or pattern that is added with a default, and
a scalar that ``restore`` reads with a default. For any other change, also if the description tells
it (``mismatch.DEFAULTS``), increase the version and add golden state (``tests/golden_state.py``).
To keep reading the previous version, convert its header and blobs here, where they are read.
"""
OLDEST = 2
"""The oldest version that can be read.

In version 3, the workers of panes and parts of counts, sums and extremes over time held tuples. The
workers read such state themselves: ``engine/workers/reduced.py``.

In version 2, window farms ranked the rows of keyed count windows in one worker, panes of farms in a
window farm were not enlarged, and partials were pickled. Its descriptions do not name what has
changed since then. Such state is refused.
"""
_REMEMBERED = 32
"""How many states a copy may be behind and still catch up by reading only what is missing."""


class NotAnAncestor(Exception):
    """The stored state does not descend from this copy, so the copy is useless."""


class StateLog:
    """Writes a worker's state to a store and brings a copy up to date from it.

    It remembers which state of its worker is stored. ``identity`` describes the query as data, and
    ``stage`` is the number of the stage among those with state. The state of another query or
    stage is refused.
    """

    def __init__(self, identity: dict[str, Any], stage: int = 0) -> None:
        # Through JSON, to compare equal to what is read back: tuples become lists, for example.
        self.identity, self.stage = json.loads(json.dumps(identity)), stage
        self.token = ""
        """A unique name of the stored state."""
        self.records = Records()
        self.chunks: set[str] = set()
        self.tokens: list[list[Any]] = []
        self.extra: dict[str, Any] = {}
        """Other data to store with the worker."""
        self.sizes: dict[str, int] = {}
        """The bytes of the stored blobs; a copy that was behind may have some that are gone."""

    @property
    def n_bytes(self) -> int:
        """How many bytes the records and chunks have that are stored now."""
        return sum(self.sizes.get(name, 0) for name in [*self.chunks, *self.records.names])

    def load(self, worker: Stateful, store: Store) -> None:
        """Bring the worker up to the stored state. Time O(missing data)."""
        stored = store.header()
        if stored is None:
            if self.token:
                raise NotAnAncestor
            return
        header = read_header(stored)
        refuse_other_query(header, self.identity, self.stage)
        if header["token"] == self.token:
            return
        if self.token:
            is_ancestor = [self.token, self.records.number] in header["tokens"]
            if not is_ancestor or not self.records.can_catch_up(header):
                raise NotAnAncestor
        store = MeasuredStore(store, self.sizes)
        new_keys = self.records.load(store, header)
        self.token, self.tokens, self.extra = header["token"], header["tokens"], header["extra"]
        self.chunks = set(header["chunks"])
        chunks = {name: partial(_read_chunk, store, name) for name in header["chunks"]}
        worker.restore(State(header["scalars"], None, self.records.by_key, chunks, new_keys))

    def save(self, worker: Stateful, store: Store) -> None:
        """Store what changed since the last save. Time O(changes), plus O(keys) to compare."""
        store = MeasuredStore(store, self.sizes)
        state = worker.state()
        self.records.save(store, state)
        for name in self.chunks - set(state.chunks):
            store.remove(name)
        for name, chunk in state.chunks.items():
            if name not in self.chunks:
                store.put(name, pack_tables({"": chunk()}))
        self.chunks = set(state.chunks)
        self.token = uuid.uuid4().hex
        self.tokens = [*self.tokens[1 - _REMEMBERED :], [self.token, self.records.number]]
        header = {
            "version": FORMAT,
            "windrow": VERSION,
            "query": self.identity,
            "stage": self.stage,
            "token": self.token,
            "tokens": self.tokens,
            **self.records.header(),
            "chunks": list(state.chunks),
            "scalars": state.scalars,
            "extra": self.extra,
        }
        store.set_header(json.dumps(header, separators=(",", ":")).encode())


def _read_chunk(store: Store, name: str) -> pa.Table:
    tables, _ = unpack_tables(store.get(name))
    return tables[""]


def read_header(stored: bytes) -> dict[str, Any]:
    """The header of stored state; raises unless this version of Windrow can read the state."""
    header = _parsed(stored)
    if header is None:
        raise WindrowError(
            "the checkpoint holds state that Windrow did not write",
            f"a header that begins with {stored[:24]!r}",
            "start with a new checkpoint location.",
        )
    version = header["version"]
    if not OLDEST <= version <= FORMAT:
        kind = "a newer" if version > FORMAT else "an older"
        raise WindrowError(
            f"the checkpoint holds state of {kind} version of Windrow",
            f"{_written(header)}; Windrow {VERSION} reads {OLDEST} to {FORMAT}",
            "continue with the version that wrote it, or start with a new checkpoint location.",
        )
    return header


def _written(header: dict[str, Any]) -> str:
    """The format of stored state and who wrote it."""
    writer = f", written by Windrow {header['windrow']}" if header["windrow"] else ""
    return f"state format {header['version']}{writer}"


def _parsed(stored: bytes) -> dict[str, Any] | None:
    """The header, or None if it is none of ours. The first format was a pickle behind an O."""
    if stored[:2] == b"O\x80":
        return {"version": 1, "windrow": None}
    try:
        header = json.loads(stored)
    except ValueError:
        return None
    is_ours = isinstance(header, dict) and isinstance(header.get("version"), int)
    return header if is_ours and "windrow" in header else None


def refuse_other_query(
    header: dict[str, Any], identity: dict[str, Any], stage: int | None = None
) -> None:
    """Raise unless the state is of the query with this identity and, if it is told, of this stage.

    ``identity`` is as JSON gives it back.
    """
    was, now = header["query"], identity
    if stage is not None:
        was, now = {**was, "stage": header["stage"]}, {**now, "stage": stage}
    is_older = header["version"] < FORMAT
    older = f"{_written(header)}; Windrow {VERSION} writes {FORMAT}" if is_older else None
    refuse_mismatch(was, now, older)
