"""Pieces of a dataset: files or some of their row groups, and tables in memory."""

from __future__ import annotations

import os
import pickle
import socket
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, cast

import pyarrow as pa
import pyarrow.dataset as ds
from pyarrow import fs

from windrow.core.errors import WindrowError
from windrow.engine.datasets.encryption import has_encrypted_columns

NOT_PICKLED = TypeError, AttributeError, NotImplementedError, pickle.PicklingError
"""What pickling raises for file systems and formats that live in this process only."""


@dataclass(frozen=True)
class Stamp:
    """How a file looked when it was found. A file that looks otherwise has changed since."""

    size: int
    changed: int | None
    """When it was last changed, in nanoseconds; None where the file system does not tell."""

    @staticmethod
    def of(info: fs.FileInfo) -> Stamp:
        return Stamp(info.size, info.mtime_ns)


@dataclass(frozen=True)
class FilePiece:
    """A file of a dataset, or some row groups of a Parquet file."""

    fragment: Any
    stamp: Stamp
    row_groups: tuple[int, ...] | None = None
    """None for all of them, and for other formats."""
    part: tuple[int, int] = (0, 1)
    """Which part of the rows of these row groups, and of how many parts of equal size."""

    @property
    def path(self) -> str:
        path: str = self.fragment.path
        return path

    @property
    def is_parquet(self) -> bool:
        return isinstance(self.fragment, ds.ParquetFileFragment)

    def rows_of(self, n: int) -> tuple[int, int]:
        """The first row of the part and the one behind its last, of n rows."""
        number, parts = self.part
        return n * number // parts, n * (number + 1) // parts

    def check(self) -> None:
        """Raise an error if the file is gone or has changed."""
        with self.naming():
            info = self.fragment.filesystem.get_file_info(self.path)
        if info.type == fs.FileType.NotFound:
            raise _not_found(self.path)
        if Stamp.of(info) != self.stamp:
            raise WindrowError(
                "a file of the dataset has changed since the query was planned",
                f"{self.path} with {info.size} bytes on host {socket.gethostname()}, "
                f"{self.stamp.size} before",
                "build the dataset or DataFrame again once nobody writes to its files.",
            )

    def check_columns(self, source: pa.NativeFile | None = None) -> None:
        """Raise an error if columns of a Parquet file must not be looked at.

        The ``source`` is the file if it is open.
        """
        with self.naming(), self._opened(source) as file:
            is_encrypted = has_encrypted_columns(file, self.stamp.size, self.fragment.metadata)
        if is_encrypted:
            raise WindrowError(
                "files with encrypted columns are left to Spark's reader",
                self.path,
                "stream spark.read.parquet(...) instead.",
            )

    def _opened(self, source: pa.NativeFile | None) -> AbstractContextManager[pa.NativeFile]:
        if source is not None:
            return nullcontext(source)
        return cast(
            "AbstractContextManager[pa.NativeFile]",
            self.fragment.filesystem.open_input_file(self.path),
        )

    @contextmanager
    def naming(self) -> Iterator[None]:
        """Turn errors of reading into errors that name the file."""
        try:
            yield
        except (pa.ArrowException, OSError) as e:
            raise WindrowError(
                f"a file of the dataset cannot be read on host {socket.gethostname()}",
                f"{self.path}: {e}",
                "executors must reach the file as the driver does, with credentials that PyArrow "
                "finds there.",
            ) from e


@dataclass(frozen=True)
class TablePiece:
    """Rows that are in memory."""

    table: pa.Table


Piece = FilePiece | TablePiece


def pieces_of(dataset: ds.Dataset) -> list[Piece]:
    """The files and tables of a dataset, in its order, without those that its filter rules out."""
    fragments = list(dataset._get_fragments(filter_of(dataset)))
    files = iter(file_pieces([_fresh(f) for f in fragments if _is_file(f)]))
    return [
        next(files) if _is_file(f) else TablePiece(f.to_table(schema=dataset.schema))
        for f in fragments
    ]


def file_pieces(fragments: list[Any]) -> list[FilePiece]:
    """Files as they are now, in their order."""
    return [FilePiece(f, s) for f, s in zip(fragments, _stamps(fragments), strict=True)]


def filter_of(dataset: ds.Dataset) -> ds.Expression | None:
    """The filter that ``dataset.filter`` has set."""
    # No public name tells it, and fragments do not know it.
    return dataset._scan_options.get("filter")


def _fresh(fragment: Any) -> Any:
    """The fragment as if nobody had read its file: a dataset keeps what it knows of old files.

    Its path is absolute: tasks of Spark run in folders of their own.
    """
    if isinstance(fragment.filesystem, fs.LocalFileSystem) and not os.path.isabs(fragment.path):
        groups = {}
        if isinstance(fragment, ds.ParquetFileFragment):
            groups["row_groups"] = [group.id for group in fragment.row_groups]
        return fragment.format.make_fragment(
            os.path.abspath(fragment.path),
            fragment.filesystem,
            fragment.partition_expression,
            **groups,
        )
    try:
        return pickle.loads(pickle.dumps(fragment))
    except NOT_PICKLED:
        return fragment


def _is_file(fragment: ds.Fragment) -> bool:
    return bool(getattr(fragment, "path", None))


def _stamps(fragments: list[Any]) -> list[Stamp]:
    """The stamps of files; one question per file system, as each may go over the network."""
    stamps: list[Stamp | None] = [None] * len(fragments)
    groups: list[tuple[fs.FileSystem, list[int]]] = []
    for i, fragment in enumerate(fragments):
        own = fragment.filesystem
        members = next((m for known, m in groups if known.equals(own)), None)
        if members is None:
            groups.append((own, [i]))
        else:
            members.append(i)
    for system, members in groups:
        infos = system.get_file_info([fragments[i].path for i in members])
        for i, info in zip(members, infos, strict=True):
            if info.type == fs.FileType.NotFound:
                raise _not_found(info.path)
            stamps[i] = Stamp.of(info)
    return [stamp for stamp in stamps if stamp is not None]


def _not_found(path: str) -> WindrowError:
    return WindrowError(
        f"a file of the dataset is not found on host {socket.gethostname()}",
        path,
        "it has been deleted, or this host cannot reach it: executors need a file system "
        "that all of them share, such as s3:// or hdfs://.",
    )
