"""Files of a stream that are looked at before they are read, as Spark's reader would read them.

The files of a stream are not there when its query is built. So the footers of each batch's files
are looked at in the batch. A file that Spark's reader could read otherwise stops the stream before
any of its rows is read, and the stream can go on from its checkpoint with Spark's reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from windrow.core.errors import WindrowError
from windrow.engine.datasets.footers import Wanted, int96_of_certain
from windrow.engine.datasets.pieces import FilePiece
from windrow.engine.datasets.scan import Scan
from windrow.spark.settings import COLUMNAR_STREAMS

_PLAIN_VALUE = re.compile(r"[^%]*(%[0-7][0-9A-Fa-f][^%]*)*")
"""Values of folders that PyArrow decodes as Spark does."""


@dataclass(frozen=True)
class CertainFiles:
    """Admits the files that are certainly read as Spark's reader would."""

    wanted: Wanted

    def scan(self, scan: Scan, pieces: Sequence[FilePiece], names: Iterable[str]) -> Scan:
        """The scan of these pieces of a batch's files.

        All files of the batch have these names in the folder of the stream.
        """
        for name in names:
            self._check_folders(name)
        int96 = int96_of_certain(pieces, self.wanted)
        if isinstance(int96, str):
            raise _uncertain(int96)
        return scan.with_int96(int96)

    def _check_folders(self, name: str) -> None:
        """Raise an error unless the folders of a file tell their columns, plainly encoded."""
        told = dict(part.partition("=")[::2] for part in name.split("/")[:-1])
        for column in self.wanted.of_folders:
            if column not in told:
                raise _uncertain(f"no folder of {name} tells column {column!r}")
            if not _PLAIN_VALUE.fullmatch(told[column]):
                raise _uncertain(f"column {column!r} in the folders of {name} is encoded")


def _uncertain(why: str) -> WindrowError:
    return WindrowError(
        "tasks read only files of a stream that Spark's reader certainly reads in the same way",
        why,
        f"set {COLUMNAR_STREAMS} to false and start the stream again: it goes on from its "
        "checkpoint with Spark's reader.",
    )
