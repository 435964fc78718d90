"""Checks a Spark session: versions on the driver and the executors, settings, a self-test."""

from __future__ import annotations

import logging
import os
import platform
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import windrow as wr
from windrow import functions as wf
from windrow.cli.check import is_server
from windrow.cli.findings import Finding
from windrow.spark.cores import cores_of
from windrow.spark.interpreter import check_worker_python
from windrow.spark.master import is_in_this_process, master_of

_VERSIONS = "host string, python string, windrow string, pyarrow string, numpy string, numba string"
_ROWS = 1000
_SINK = "windrow_check"
_MASTER = re.compile(r"local(\[(\d+|\*)(,\d+)?\])?$|local-cluster\[.*\]$|(spark|k8s|sc)://|yarn$")
_MASTERS = "local[4], spark://host:7077, k8s://https://host:443, yarn or sc://host:15002"


def check_spark(master: str | None) -> Iterator[Finding]:
    """Start a session, look at it and run a bounded query and a stream."""
    if master is not None and not _MASTER.match(master):
        yield Finding("session", f"{master!r} is no master of Spark", f"give it as {_MASTERS}")
        return
    began = time.monotonic()
    try:
        spark = _session(master)
    except Exception as error:
        said = str(error).strip().splitlines() or [type(error).__name__]
        yield Finding("session", said[0], "check the master and Spark's log above")
        return
    where = f"Spark {spark.version} at {master_of(spark)}"
    yield Finding("session", f"{where}, started in {time.monotonic() - began:.1f} s")
    yield _cores(spark)
    yield from _settings(spark)
    try:
        check_worker_python(spark)
    except wr.WindrowError as error:
        yield Finding("workers", error.got or error.rule, error.hint)
        return
    executors = list(_executors(spark))
    yield from executors
    if any(finding.is_problem for finding in executors):
        return
    yield from _kernels(spark)
    yield _tried("bounded query", _bounded, spark)
    if is_in_this_process(spark):
        yield _tried("stream", _stream, spark)


def _session(master: str | None) -> SparkSession:
    if master is None or master.startswith("local"):
        given = {} if master is None else {"spark__master": master}
        return wr.local_spark(**given)
    if is_server(master):
        return SparkSession.builder.remote(master).getOrCreate()
    return SparkSession.builder.master(master).appName("windrow check").getOrCreate()


def _cores(spark: SparkSession) -> Finding:
    cores, memory = cores_of(spark), spark.conf.get("spark.driver.memory", "1g")
    said = f"{cores} at once; this machine has {os.cpu_count()}; driver memory {memory}"
    return Finding("tasks", said)


def _settings(spark: SparkSession) -> Iterator[Finding]:
    """What streams need and the session lacks; Windrow sets it, so it is no problem."""
    try:
        with _unlogged():
            changes = wr.configure(spark)
    except wr.WindrowError as error:
        yield Finding("settings", error.got or error.rule, error.hint)
        return
    if not changes:
        yield Finding("settings", "all that streams need")
    for name, (old, new) in changes.items():
        remedy = f"streams set it to {new}; wr.configure(spark) does so up front"
        yield Finding("settings", f"{name} is {old or 'not set'}", remedy, is_fine=True)


@contextmanager
def _unlogged() -> Iterator[None]:
    """Keep what is told as a finding out of the log."""
    log = logging.getLogger("windrow")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)


def _executors(spark: SparkSession) -> Iterator[Finding]:
    """The packages that the executors' Python has, compared with those of this process."""
    own = _own_versions()

    # Inside a function, so that it is sent as it is: workers may not have Windrow.
    def versions(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import platform
        from importlib import import_module

        import pyarrow as pa

        def of(name: str) -> str:
            try:
                return str(import_module(name).__version__)
            except ImportError as error:
                return f"missing: {error}"

        told = {name: of(name) for name in ("windrow", "pyarrow", "numpy", "numba")}
        row = {"host": platform.node(), "python": platform.python_version(), **told}
        for _ in batches:
            yield pa.RecordBatch.from_pylist([row])

    try:
        tasks = spark.range(0, _ROWS, 1, 2 * cores_of(spark))
        found = tasks.mapInArrow(versions, _VERSIONS).distinct().collect()
    except Exception as error:
        remedy = (
            "give all executors the Python and the packages of the driver: spark.pyspark.python"
        )
        yield Finding("executors", f"a Python task fails: {_last_line(error)}", remedy)
        return
    for row in found:
        host, *theirs = row
        told = dict(zip(own, theirs, strict=True))
        differ = {n: v for n, v in told.items() if v != own[n]}
        said = f"{host}: {', '.join(f'{n} {v}' for n, v in told.items())}"
        if not differ:
            yield Finding("executors", said)
            continue
        is_minor = not {"windrow", "python"} & differ.keys() and "missing" not in said
        remedy = f"install {', '.join(f'{n} {own[n]}' for n in differ)} there, as on the driver"
        yield Finding("executors", said, remedy, is_fine=is_minor)


def _kernels(spark: SparkSession) -> Iterator[Finding]:
    """Whether the executors load the kernels of a small query or must compile them."""

    def computed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from windrow.kernels.kernel_cache import counts

        began, before = time.monotonic(), counts["compiled"]
        values = wr.stream({"x": np.arange(_ROWS)}).window(wr.CountWindow(100, 10))
        values.agg(total=wf.sum("x"), middle=wf.median("x")).collect()
        took, compiled = time.monotonic() - began, counts["compiled"] - before
        row = {"host": platform.node(), "compiled": compiled, "seconds": took}
        for _ in batches:
            yield pa.RecordBatch.from_pylist([row])

    tasks = spark.range(0, _ROWS, 1, 2 * cores_of(spark))
    found = tasks.mapInArrow(computed, "host string, compiled long, seconds double")
    slowest = {row["host"]: row for row in sorted(found.collect(), key=lambda row: row["seconds"])}
    for host, row in slowest.items():
        if row["compiled"]:
            said = f"{host}: {row['compiled']} compiled in {row['seconds']:.1f} s"
            remedy = "to compile them before the first query: windrow warm"
            yield Finding("kernels", said, remedy, is_fine=True)
        else:
            yield Finding("kernels", f"{host}: loaded, not compiled")


def _own_versions() -> dict[str, str]:
    import numba
    import numpy

    modules: dict[str, Any] = {"windrow": wr, "pyarrow": pa, "numpy": numpy, "numba": numba}
    told = {name: str(module.__version__) for name, module in modules.items()}
    return {"python": platform.python_version(), **told}


def _tried(what: str, test: Callable[[SparkSession], bool], spark: SparkSession) -> Finding:
    began = time.monotonic()
    try:
        is_right = test(spark)
    except Exception as error:
        return Finding(what, f"fails: {_last_line(error)}", "Spark's log above says why")
    took = f"after {time.monotonic() - began:.1f} s"
    if not is_right:
        return Finding(what, f"windows are wrong {took}", "report this as a bug")
    return Finding(what, f"windows are right {took}")


def _last_line(error: Exception) -> str:
    """What a task says last: in Spark's messages, the line before the first of the JVM."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    python = [line for line in lines if not line.startswith(("at ", "SQLSTATE", "JVM stack"))]
    return (python or [type(error).__name__])[-1]


def _windows(rows: DataFrame | pa.Table) -> wr.Query:
    query = wr.stream(rows).key_by("k").event_time("value", unit="ms")
    return query.window(wr.CountWindow(100, 10), open_windows="drop").agg(total=wf.sum("value"))


def _rows() -> pa.Table:
    value = np.arange(_ROWS)
    return pa.table({"k": value % 3, "value": value})


def _bounded(spark: SparkSession) -> bool:
    value = F.col("id")
    rows = spark.range(_ROWS).select((value % 3).alias("k"), value.alias("value"))
    return _are_right(_windows(rows).to_df())


def _stream(spark: SparkSession) -> bool:
    with TemporaryDirectory() as folder:
        parquet.write_table(_rows(), Path(folder) / "rows.parquet")
        rows = spark.readStream.schema("k long, value long").parquet(folder)
        results = _windows(rows).using(wr.WinSeq()).to_df()
        writer = results.writeStream.format("memory").queryName(_SINK)
        writer.trigger(availableNow=True).start().awaitTermination()
        return _are_right(spark.table(_SINK))


def _are_right(found: DataFrame) -> bool:
    """Whether they are the windows of the same rows in this process."""
    rows = [row.asDict() for row in found.orderBy("k", "window_id").collect()]
    return bool(rows == _windows(_rows()).ordered().collect().to_pylist())
