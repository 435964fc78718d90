"""Where the state of one worker is kept: a header and named blobs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class Store(Protocol):
    """What Spark's state store offers to one worker."""

    def header(self) -> bytes | None:
        """The header, if there is any state."""

    def set_header(self, header: bytes) -> None: ...

    def get(self, name: str) -> bytes: ...

    def put(self, name: str, blob: bytes) -> None: ...

    def remove(self, name: str) -> None: ...


class MemoryStore:
    """A store in memory; the header is the blob without a name."""

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
