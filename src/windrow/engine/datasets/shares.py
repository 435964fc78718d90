"""Shares: what each of some tasks reads of the same files, found without asking the others.

Every task is told all files and their sizes. Laid end to end, in their order, the files are cut
into as many stretches of bytes as there are tasks. A task reads the files and the row groups whose
middle lies in its own stretch, so it opens only files that reach into that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyarrow import fs

from windrow.core.errors import WindrowError
from windrow.engine.datasets.folder import Folder
from windrow.engine.datasets.pieces import FilePiece, Stamp
from windrow.engine.datasets.scan import Scan
from windrow.engine.datasets.splits import bytes_per_task, cut

_MILLISECOND = 1_000_000


@dataclass(frozen=True)
class ToldFile:
    """A file of a folder as it was when it was found."""

    name: str
    size: int
    changed: int
    """When it was last changed, in milliseconds."""

    def as_told(self, piece: FilePiece | None, folder: Folder) -> FilePiece:
        """The file, if it looks the same now: otherwise tasks would cut it in different ways."""
        stamp = Stamp(0, None) if piece is None else piece.stamp
        # Other clients than the one that found it may round times otherwise.
        is_timed = isinstance(folder.filesystem, fs.LocalFileSystem) and stamp.changed is not None
        is_same_time = not is_timed or (stamp.changed or 0) // _MILLISECOND == self.changed
        if piece is None or stamp.size != self.size or not is_same_time:
            raise WindrowError(
                "a file of a stream has changed since Spark found it",
                f"{folder.path}/{self.name} with {stamp.size} bytes, {self.size} before",
                "files must appear complete, for example by a rename, and stay as they are.",
            )
        return piece


def share_of(
    scan: Scan, folder: Folder, files: Sequence[ToldFile], number: int, tasks: int
) -> list[FilePiece]:
    """The pieces of files, in this order, that the task of this number reads."""
    # Empty files have no rows, whatever their format is.
    files = [file for file in files if file.size]
    stretch = bytes_per_task(sum(file.size for file in files), tasks)
    low, high = number * stretch, (number + 1) * stretch
    if number == tasks - 1:
        high = float("inf")
    near = []
    first = 0
    for file in files:
        if first < high and first + file.size > low:
            near.append((first, file))
        first += file.size
    found = {piece.path: piece for piece in folder.pieces(file.name for _, file in near)}
    pieces = [
        (first, file.as_told(found.get(f"{folder.path}/{file.name}"), folder))
        for first, file in near
    ]
    parts = (_part_within(scan, piece, first, stretch, low, high) for first, piece in pieces)
    return [part for part in parts if part is not None]


def _part_within(
    scan: Scan, piece: FilePiece, first: int, stretch: float, low: float, high: float
) -> FilePiece | None:
    """What of a file has its middle between these places; the file begins at the first of them."""
    place, groups = float(first), list[int]()
    is_own = False
    for part, size in cut(scan, [piece], stretch):
        if low <= place + size / 2 < high:
            is_own = True
            groups += getattr(part, "row_groups", None) or ()
        place += size
    if not is_own:
        return None
    return replace(piece, row_groups=tuple(groups)) if groups else piece
