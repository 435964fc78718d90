"""Compiled kernels are found wherever they and their sources are moved."""

from __future__ import annotations

import ast
import compileall
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from py_compile import PycInvalidationMode

import windrow
from windrow.kernels import kernel_cache

PACKAGE = Path(windrow.__file__).parent
PROGRAM = """
import numpy as np
from windrow.kernels.hashing import number_integers
from windrow.kernels.kernel_cache import counts, digest

print(number_integers(np.array([1, 2]), 1).tolist(), counts["compiled"], counts["loaded"], digest())
"""


def zipped(path: Path, added: str = "") -> Path:
    """The package as a zip, with something added to one of its kernels."""
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w") as archive:
        for file in PACKAGE.rglob("*.py"):
            text = file.read_text() + (added if file.name == "search.py" else "")
            archive.writestr(str(file.relative_to(PACKAGE.parent)), text)
    return path


def run(package: Path, folder: Path, before: str = "") -> tuple[int, int, str]:
    """How many kernels a process has compiled and loaded, and the digest of their sources."""
    places = {"PYTHONPATH": str(package), "NUMBA_CACHE_DIR": str(folder)}
    environment = {**os.environ, **places, "XDG_CACHE_HOME": "/dev/null"}
    said = subprocess.run(
        [sys.executable, "-c", before + PROGRAM],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    result, compiled, loaded, digest = said.stdout.rsplit(maxsplit=3)
    assert result == "[0, 0]"
    return int(compiled), int(loaded), digest


def test_kernels_of_a_zip_are_loaded_after_both_were_moved(tmp_path: Path) -> None:
    package, folder = zipped(tmp_path / "here" / "windrow.zip"), tmp_path / "kernels"
    compiled, loaded, _ = run(package, folder)
    assert compiled > 0 and loaded == 0
    moved = package.rename(tmp_path / "windrow.zip")
    compiled, loaded, _ = run(moved, folder.rename(tmp_path / "elsewhere"))
    assert compiled == 0 and loaded > 0


def test_kernels_are_found_from_bytecode_in_a_zip(tmp_path: Path) -> None:
    folder, built = tmp_path / "kernels", tmp_path / "built"
    run(zipped(tmp_path / "here" / "windrow.zip"), folder)
    with zipfile.ZipFile(tmp_path / "here" / "windrow.zip") as archive:
        archive.extractall(built)
    kernels = built / "windrow" / "kernels"
    assert compileall.compile_dir(
        kernels, legacy=True, quiet=2, invalidation_mode=PycInvalidationMode.UNCHECKED_HASH
    )
    with zipfile.ZipFile(tmp_path / "windrow.zip", "w") as archive:
        for file in built.rglob("*.py*"):
            archive.write(file, str(file.relative_to(built)))
    shutil.rmtree(built)
    compiled, loaded, _ = run(tmp_path / "windrow.zip", folder)
    assert compiled == 0 and loaded > 0


def test_kernels_found_elsewhere_are_gathered(tmp_path: Path) -> None:
    package, folder = zipped(tmp_path / "here" / "windrow.zip"), tmp_path / "kernels"
    gathered = tmp_path / "gathered"
    run(package, folder)
    gather = f"""
from pathlib import Path
from windrow.kernels import kernel_cache
kernel_cache.gather_in(kernel_cache.folder_in(Path({str(gathered)!r})))
"""
    assert run(package, folder, gather)[0] == 0
    compiled, loaded, _ = run(package, gathered)
    assert compiled == 0 and loaded > 0


def test_kernels_are_compiled_if_no_folder_can_be_written(tmp_path: Path) -> None:
    compiled, loaded, _ = run(zipped(tmp_path / "here" / "windrow.zip"), Path("/dev/null"))
    assert compiled > 0 and loaded == 0


def test_a_change_of_one_kernel_makes_all_kernels_others(tmp_path: Path) -> None:
    folder = tmp_path / "kernels"
    same = zipped(tmp_path / "same" / "windrow.zip")
    changed = zipped(tmp_path / "changed" / "windrow.zip", "# another\n")
    runs = [run(package, folder) for package in (same, changed)]
    assert [loaded for _, loaded, _ in runs] == [0, 0]
    assert runs[0][2] == kernel_cache.digest() != runs[1][2]


def test_the_digest_covers_what_kernels_import() -> None:
    used = set()
    for file in (PACKAGE / "kernels").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                used |= {f"{node.module}.{alias.name}" for alias in node.names}
    modules = {name.removeprefix("windrow.") for name in used if name.startswith("windrow.")}
    others = {name for name in modules if not name.startswith("kernels.")}
    covered = {name.removesuffix(".py").replace("/", ".") for name in kernel_cache._OTHER_SOURCES}
    assert {name for name in others if name.rpartition(".")[0] not in covered} <= covered
    assert others


def test_the_named_folder_comes_first_and_the_user_s_last(tmp_path: Path) -> None:
    places = {"NUMBA_CACHE_DIR": str(tmp_path / "named"), "XDG_CACHE_HOME": str(tmp_path / "user")}
    program = "from windrow.kernels.kernel_cache import folders; print(*folders(), sep='\\n')"
    said = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **places},
        capture_output=True,
        text=True,
        check=True,
    )
    named, own, user = map(Path, said.stdout.split())
    assert (named.parent, user.parent) == (tmp_path / "named", tmp_path / "user")
    assert named.name == user.name == f"windrow-kernels-{kernel_cache.digest()[:16]}"
    assert own == PACKAGE / "kernels" / "__pycache__"
