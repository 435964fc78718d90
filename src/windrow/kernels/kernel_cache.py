"""Keeps compiled kernels on disk, in folders that can be shipped to other machines.

Numba's own cache is bound to the path of the source and, before Numba 0.68, to the time at which it
was written; it does not read folders that it cannot write. A kernel that was compiled in one
environment would be compiled again in each copy of it, in an image of a container, and from a zip.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from numba.core import caching
from numba.core.caching import CompileResultCacheImpl, FunctionCache

_PACKAGE = Path(__file__).parents[1]
_OTHER_SOURCES = ("core/models/interval.py", "core/watermark.py")
"""What kernels use of other packages."""


@cache
def digest() -> str:
    """A digest of the sources of all kernels: the code of one holds that of those it calls."""
    package, found = files("windrow"), hashlib.sha256()
    kernels = [f"kernels/{file.name}" for file in package.joinpath("kernels").iterdir()]
    for name in sorted(name for name in (*kernels, *_OTHER_SOURCES) if name.endswith(".py")):
        found.update(name.encode())
        found.update(package.joinpath(*name.split("/")).read_bytes())
    return found.hexdigest()


counts: Counter[str] = Counter()
"""How many kernels this process has ``loaded`` and ``compiled``."""
_gathered_in: list[Path] = []


def gather_in(folder: Path) -> None:
    """From now on, keep in this folder all kernels that are used, also those found elsewhere."""
    _gathered_in[:] = [folder]


def folders() -> Sequence[Path]:
    """Where kernels are looked for; new ones go to the first that can be written."""
    return *_gathered_in, *_usual_folders()


@cache
def _usual_folders() -> Sequence[Path]:
    """``NUMBA_CACHE_DIR``, then the package, unless it is in a zip, then the user's cache."""
    named = os.environ.get("NUMBA_CACHE_DIR")
    given = [folder_in(Path(named))] if named else []
    package = [in_package()] if _PACKAGE.is_dir() else []
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return (*given, *package, folder_in(Path(home)))


def in_package() -> Path:
    """The folder in the package."""
    return _PACKAGE / "kernels" / "__pycache__"


def folder_in(shared: Path) -> Path:
    """The folder for these sources in one that other versions and programs may use, too."""
    return shared.absolute() / f"windrow-kernels-{digest()[:16]}"


class _Source:
    """Tells Numba's cache which function of which source it is for."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._py_file, self._line = file, function.__code__.co_firstlineno

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> _Source | None:
        """None if it is not a kernel of this package.

        Bytecode in a zip names the file that it was made of, wherever that was.
        """
        named = f"{function.__module__.replace('.', '/')}.py"
        is_ours = named.startswith("windrow/") and Path(file).as_posix().endswith(f"/{named}")
        return cls(function, file) if is_ours else None

    def get_cache_path(self) -> str:
        return str(folders()[0])

    def ensure_cache_path(self) -> None:
        """Nothing: a folder is made when something is saved."""

    def get_source_stamp(self) -> str:
        return digest()

    def get_disambiguator(self) -> str:
        return str(self._line)


class _Kernel(CompileResultCacheImpl):
    _locator_classes = [_Source]  # noqa: RUF012 (Numba's own is a list)


class _Files:
    """The files of a kernel in all folders, used as one of Numba's."""

    def __init__(self, name: str) -> None:
        self.name = name

    def load(self, key: object) -> object | None:
        for folder in folders():
            with suppress(OSError):
                found: object = self._in(folder).load(key)
                if found is not None:
                    counts["loaded"] += 1
                    for other in _gathered_in:
                        if other != folder:
                            self._save_in(other, key, found)
                    return found
        return None

    def save(self, key: object, data: object) -> None:
        counts["compiled"] += 1
        for folder in folders():
            with suppress(OSError):
                self._save_in(folder, key, data)
                return

    def _save_in(self, folder: Path, key: object, data: object) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._in(folder).save(key, data)

    def _in(self, folder: Path) -> Any:
        file: Any = caching.IndexDataCacheFile  # it has no types
        return file(str(folder), self.name, digest())


class KernelCache(FunctionCache):
    """Numba's cache of a kernel, with the folders above."""

    _impl_class = _Kernel

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._cache_file: Any = _Files(self._impl.filename_base)
