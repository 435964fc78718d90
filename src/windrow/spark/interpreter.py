"""The Python of Spark's workers: checked on the driver, before a job dies of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache

from pyspark.sql import SparkSession

from windrow.core.errors import WindrowError
from windrow.spark.master import is_in_this_process

_PROBE = (
    "import sys; print('%d.%d' % sys.version_info[:2], flush=True); import windrow, pyarrow, pandas"
)


def check_worker_python(spark: SparkSession) -> None:
    """Raise an error if the workers' Python cannot run Windrow.

    Spark starts workers with ``PYSPARK_PYTHON``, or else with the first ``python3`` on the PATH,
    which need not be the interpreter of this program. Only workers on this machine can be
    checked: on clusters and through Spark Connect nothing is.
    """
    if is_in_this_process(spark):
        from pyspark import SparkFiles  # which clients of Spark Connect lack

        context = spark.sparkContext
        root = SparkFiles.getRootDirectory()
        shipped = [root, *(os.path.join(root, name) for name in context._python_includes or ())]
        check_interpreter(context.pythonExec, tuple(shipped))


@cache
def check_interpreter(interpreter: str, shipped: tuple[str, ...] = ()) -> None:
    """Raise an error if the interpreter lacks a package or has another version.

    Files that were shipped to the workers, with ``addPyFile``, count as packages.
    """
    path = shutil.which(interpreter)
    if path is None:
        raise _error(interpreter, "there is no such program")
    if _is_this_interpreter(path):
        return
    paths = [*shipped, os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    run = subprocess.run([path, "-c", _PROBE], capture_output=True, text=True, env=environment)
    version, own = run.stdout.strip(), "{}.{}".format(*sys.version_info[:2])
    if version and version != own:
        raise _error(path, f"it is Python {version}, and this program runs on Python {own}")
    if run.returncode != 0:
        raise _error(path, (run.stderr.strip().splitlines() or ["it does not start"])[-1])


def _is_this_interpreter(path: str) -> bool:
    """Whether it is this one under any name; a virtual environment's is not the one it links to."""
    folders = (os.path.realpath(os.path.dirname(p)) for p in (path, sys.executable))
    return len(set(folders)) == 1 and os.path.realpath(path) == os.path.realpath(sys.executable)


def _error(interpreter: str, reason: str) -> WindrowError:
    return WindrowError(
        "Spark's workers must run a Python that has Windrow, in this program's version",
        f"{interpreter}: {reason}",
        f"set PYSPARK_PYTHON={sys.executable} in the environment before the session starts, or "
        "activate the virtual environment; with spark-submit, set spark.pyspark.python.",
    )
