"""Checks an installation: every finding comes with its remedy."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec

import numpy as np

import windrow as wr
from windrow import functions as wf
from windrow.cli.findings import Finding
from windrow.cli.java import LEAST, find_java
from windrow.core.version import VERSION

_JAVA_REMEDY = (
    "install it and set JAVA_HOME to its folder (Debian, Ubuntu: apt-get install "
    "openjdk-17-jre-headless; macOS: brew install openjdk@17)"
)


def check(master: str | None) -> Iterator[Finding]:
    """Check this process, then Spark, as far as it is there."""
    yield Finding("Windrow", f"{VERSION} in {os.path.dirname(wr.__file__)}")
    yield Finding("Python", f"{sys.version.split()[0]} at {sys.executable}")
    yield Finding("packages", ", ".join(f"{n} {version(n)}" for n in ("numpy", "numba", "pyarrow")))
    yield in_process()
    spark, java = spark_package(master), java_found(is_needed=starts_spark(master))
    yield spark
    if not is_server(master):
        yield java
    if find_spec("pyspark") is None or spark.is_problem:
        return
    yield from stream_packages()
    is_driver = starts_spark(master)
    if is_driver:
        yield from environment()
    if not java.is_problem and (is_driver or is_server(master)):
        from windrow.cli.check_spark import check_spark

        yield from check_spark(master)


def version(package: str) -> str:
    """The version of an installed package."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "missing"


def is_server(master: str | None) -> bool:
    """Whether the master is a server of Spark Connect."""
    return master is not None and master.startswith("sc://")


def starts_spark(master: str | None) -> bool:
    """Whether Spark's driver is started in this process, on a Java of this machine."""
    if find_spec("pyspark") is None or is_server(master):
        return False
    from windrow.spark.release import has_spark

    return has_spark()


def in_process() -> Finding:
    """Compute windows in this process and compare them with NumPy."""
    began = time.monotonic()
    values = np.arange(100_000) % 1009
    query = wr.stream({"x": values}).window(wr.CountWindow(1000, 500), open_windows="drop")
    try:
        found = query.agg(total=wf.sum("x")).collect()["total"].to_numpy()
    except Exception as error:
        remedy = "install the packages again: pip install --force-reinstall windrow"
        return Finding("in process", f"a query fails: {error}", remedy)
    sums = np.lib.stride_tricks.sliding_window_view(values, 1000)[::500].sum(axis=1)
    took = f"after {time.monotonic() - began:.1f} s, with the time to load or compile the kernels"
    if not np.array_equal(found, sums):
        return Finding("in process", f"windows are wrong {took}", "report this as a bug")
    return Finding("in process", f"{len(found)} windows are right {took}")


def spark_package(master: str | None) -> Finding:
    """Whether PySpark is there and new enough."""
    if find_spec("pyspark") is None:
        remedy = 'queries over files and tables need none; for Spark: pip install "windrow[spark]"'
        return Finding("PySpark", "not installed", remedy, is_fine=True)
    import pyspark

    from windrow.spark.release import has_spark, is_new_enough

    found = pyspark.__version__
    home = f"{found} in {os.path.dirname(pyspark.__file__)}"
    if not is_new_enough(found):
        return Finding("PySpark", home, 'Windrow needs 4.0 or newer: pip install "pyspark>=4.0"')
    if not has_spark():
        said = f"{home}: only a client of Spark Connect"
        if is_server(master):
            return Finding("PySpark", said)
        remedy = "to try a server: windrow check --master sc://host:15002"
        return Finding("PySpark", said, remedy, is_fine=True)
    return Finding("PySpark", home)


def java_found(*, is_needed: bool) -> Finding:
    """Whether there is a Java that Spark runs on."""
    found, is_fine = find_java(), not is_needed
    if found is None:
        return Finding("Java", "none", f"Spark needs {LEAST}: {_JAVA_REMEDY}", is_fine)
    if not found.version:
        wrong = f"{found.path} does not run"
        remedy = f"correct JAVA_HOME; Spark needs Java {LEAST} or newer: {_JAVA_REMEDY}"
        return Finding("Java", wrong, remedy, is_fine)
    said = f"{found.version} at {found.path}"
    if found.version < LEAST:
        remedy = f"Spark needs {LEAST} or newer: {_JAVA_REMEDY}"
        return Finding("Java", said, remedy, is_fine)
    return Finding("Java", said)


def stream_packages() -> Iterator[Finding]:
    """What Spark's stateful operators in Python import."""
    names = {"pandas": "pandas", "protobuf": "google.protobuf"}
    missing = [name for name, module in names.items() if not _has(module)]
    if missing:
        remedy = 'streams need them: pip install "windrow[spark]"'
        yield Finding("for streams", f"{' and '.join(missing)} missing", remedy)
        return
    said = ", ".join(f"{name} {version(name)}" for name in names)
    if int(version("pandas").split(".")[0]) >= 3:
        remedy = 'PySpark does not support pandas 3 yet: pip install "pandas<3"'
        yield Finding("for streams", said, remedy, is_fine=True)
    else:
        yield Finding("for streams", said)


def _has(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def environment() -> Iterator[Finding]:
    """Variables that make Spark run something else than what was checked."""
    import pyspark

    home, own = os.environ.get("SPARK_HOME"), os.path.dirname(pyspark.__file__)
    if home and os.path.realpath(home) != os.path.realpath(own):
        remedy = f"unset SPARK_HOME, or be sure that it is Spark {pyspark.__version__}"
        yield Finding("SPARK_HOME", f"{home}, which is not the one of PySpark", remedy, True)
    if python := os.environ.get("PYSPARK_PYTHON"):
        from windrow.spark.interpreter import check_interpreter

        try:
            check_interpreter(python)
        except wr.WindrowError as error:
            yield Finding("PYSPARK_PYTHON", error.got or "", f"set it to {sys.executable}")
        else:
            yield Finding("PYSPARK_PYTHON", python)
