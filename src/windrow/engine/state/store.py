"""The store of one worker's state: a header and named blobs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class Store(Protocol):
    """The operations that a worker needs of a state store, such as Spark's."""

    def header(self) -> bytes | None:
        """The header, or None if there is no state."""

    def set_header(self, header: bytes) -> None: ...

    def get(self, name: str) -> bytes: ...

    def put(self, name: str, blob: bytes) -> None: ...

    def remove(self, name: str) -> None: ...


class MemoryStore:
    """A store in memory. The header is the blob with the empty name."""

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


class MeasuredStore:
    """A store that notes how large the blobs are that pass through it."""

    def __init__(self, store: Store, sizes: dict[str, int]) -> None:
        self.store, self.sizes = store, sizes

    def header(self) -> bytes | None:
        return self.store.header()

    def set_header(self, header: bytes) -> None:
        self.store.set_header(header)

    def get(self, name: str) -> bytes:
        blob = self.store.get(name)
        self.sizes[name] = len(blob)
        return blob

    def put(self, name: str, blob: bytes) -> None:
        self.store.put(name, blob)
        self.sizes[name] = len(blob)

    def remove(self, name: str) -> None:
        self.store.remove(name)
        self.sizes.pop(name, None)


class LinkStore:
    """The part of a chain's store that belongs to one of its links, numbered from 1 on.

    Link 0 has the rest. All links are stored together.
    """

    def __init__(self, chain: Store, link: int) -> None:
        self.chain, self.link = chain, link

    def header(self) -> bytes | None:
        return None if self.chain.header() is None else self.get("header")

    def set_header(self, header: bytes) -> None:
        self.put("header", header)

    def get(self, name: str) -> bytes:
        return self.chain.get(self._named(name))

    def put(self, name: str, blob: bytes) -> None:
        self.chain.put(self._named(name), blob)

    def remove(self, name: str) -> None:
        self.chain.remove(self._named(name))

    def _named(self, name: str) -> str:
        return f"link {self.link} {name}"
