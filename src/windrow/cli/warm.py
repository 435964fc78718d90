"""`windrow warm`: compiles kernels ahead, to be shipped to other machines."""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryFile

from numba.core.registry import cpu_target
from rich.console import Console
from rich.status import Status

from windrow.core.errors import WindrowError
from windrow.kernels import kernel_cache


def show_warming(folder: Path | None) -> None:
    """Compile or copy the kernels that the folder lacks, by default the package's."""
    place = kernel_cache.in_package() if folder is None else kernel_cache.folder_in(folder)
    _check_writable(place)
    console = Console(highlight=False)
    began = time.monotonic()
    kernel_cache.gather_in(place)
    with console.status("") as status:
        _run_queries(status)
    kernels = list(place.glob("*.nbc"))
    size = sum(kernel.stat().st_size for kernel in kernels) / 1e6
    system, cpu, _ = cpu_target.target_context.codegen().magic_tuple()
    took = f"after {time.monotonic() - began:.0f} s"
    console.print(f"{kernel_cache.counts['compiled']} kernels compiled {took}")
    console.print(f"{len(kernels)}, {size:.1f} MB, are in {place}", soft_wrap=True)
    console.print(f"for {system} with a CPU like this one: {cpu}")


def _run_queries(status: Status) -> None:
    from windrow.cli.warming import warm

    for kind in warm():
        status.update(f"compiled what {kind} needs")


def _check_writable(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=folder).close()
    except OSError as error:
        raise WindrowError(
            "kernels must be kept in a folder that can be written",
            str(error),
            "name another one: windrow warm FOLDER.",
        ) from error
