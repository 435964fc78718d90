"""Streams that have read rows but fire no window, for their watermark stands still."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from windrow.monitoring.batch import Batch

_STILL = 3
"""So many batches with rows, and none of them moved the watermark."""
_WATCHED = 100
"""A stream of so many batches is in order, however long its windows are."""


@dataclass
class _Stream:
    """What the first batches of a stream have brought."""

    batches: int = 0
    rows: int = 0
    watermark: float | None = None
    still: int = 0
    """Batches with rows since the watermark has moved."""


class Standstill:
    """Watches streams until they fire a window, and says once if they will not."""

    def __init__(self) -> None:
        self.watched: dict[str, _Stream] = {}

    def began(self, run: str) -> None:
        """Watch a stream."""
        self.watched[run] = _Stream()

    def progressed(self, run: str, batch: Batch) -> str | None:
        """Take a batch; what is to be said of the stream, if anything."""
        stream = self.watched.get(run)
        if stream is None:
            return None
        stream.batches += 1
        if stream.batches == _WATCHED or batch.sum(lambda part: part.windows):
            self.ended(run)
            return None
        has_moved = batch.watermark != stream.watermark
        stream.rows, stream.watermark = stream.rows + batch.rows, batch.watermark
        stream.still = 0 if has_moved else stream.still + bool(batch.rows)
        return self._told(run) if stream.still == _STILL else None

    def idled(self, run: str) -> str | None:
        """The stream waits for rows; what is to be said of it, if anything."""
        stream = self.watched.get(run)
        return self._told(run) if stream is not None and stream.rows else None

    def ended(self, run: str) -> None:
        """Forget a stream."""
        self.watched.pop(run, None)

    def _told(self, run: str) -> str:
        """What is said, once."""
        stream = self.watched.pop(run)
        rule = f"a stream has read {stream.rows:,} rows, but no window has fired"
        if stream.watermark is None:
            return f"{rule}: none of them is complete yet."
        at = datetime.fromtimestamp(stream.watermark, UTC).isoformat(" ", "milliseconds")
        return (
            f"{rule}. Windows fire as the watermark passes them, and it stands still at "
            f"{at}. Only newer rows move it: send them, wait less with event_time(delay=...), or "
            "close windows of a silent source with event_time(idle_timeout=...)."
        )
