"""A folder of files: how those that appear in it become pieces to read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
from pyarrow import fs

from windrow.core.errors import WindrowError
from windrow.engine.datasets.pieces import FilePiece, file_pieces


@dataclass(frozen=True)
class Folder:
    """Where files appear, what they contain, and whether their folders' names give columns."""

    filesystem: fs.FileSystem
    path: str
    """In the file system, without an address before it."""
    format: Any
    partitioning: ds.Partitioning | None

    @staticmethod
    def of(dataset: ds.FileSystemDataset, path: str, *, is_partitioned: bool) -> Folder:
        """The folder whose files are, and will be, those of a dataset."""
        # Only names of columns count, so a folder such as "x=1" above this one would do no harm.
        hive = ds.partitioning(dataset.schema, flavor="hive") if is_partitioned else None
        return Folder(dataset.filesystem, path.rstrip("/"), dataset.format, hive)

    def name_of(self, address: str) -> str:
        """The name of a file in the folder, of its whole address.

        Addresses of one file differ: ``s3a://bucket/folder/name`` is ``bucket/folder/name`` for
        PyArrow, ``hdfs://host/folder/name`` and ``file:/folder/name`` are ``/folder/name``.
        """
        path = address.partition(":")[2]
        if path.startswith("//"):
            place, _, rest = path[2:].partition("/")
            bucket = place.partition("@")[0]
            path = f"/{rest}" if self.path.startswith("/") else f"{bucket}/{rest}"
        if not path.startswith(f"{self.path}/"):
            raise WindrowError(f"files of a stream must be in {self.path}", address)
        return path[len(self.path) + 1 :]

    def pieces(self, names: Iterable[str]) -> list[FilePiece]:
        """The files of these names, relative to the folder, in their order.

        Empty files have no rows, as for Spark, whatever their format is.
        """
        found = file_pieces([self._fragment(name) for name in names])
        return [piece for piece in found if piece.stamp.size]

    def _fragment(self, name: str) -> ds.Fragment:
        path = f"{self.path}/{name}"
        if self.partitioning is None:
            return self.format.make_fragment(path, self.filesystem)
        try:
            known = self.partitioning.parse(f"/{name}")
        except pa.ArrowInvalid as e:
            rule = "folders named column=value must have values of the column's type"
            raise WindrowError(rule, f"{path}: {e}") from None
        return self.format.make_fragment(path, self.filesystem, known)
