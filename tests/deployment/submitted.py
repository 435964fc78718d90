"""What the cluster is shipped, and the program that is submitted to it."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from tests.deployment.standalone import PATIENT, Cluster, clean_environment, spark_home
from tests.restarts import ROOT, Rows
from tests.spark.arrivals import Arrivals

SHIPPED = ROOT / ".cluster"
PROGRAM = Path(__file__).with_name("program.py")
ARROW = pa.schema([("k", pa.string()), ("t", pa.int64()), ("seq", pa.int32()), ("x", pa.int64())])
PACKED = {
    "spark.archives": f"{SHIPPED}/environment.tar.gz#environment",
    "spark.pyspark.python": "./environment/bin/python",
}
WHEEL = {
    "spark.submit.pyFiles": f"{SHIPPED}/windrow.zip",
    "spark.archives": f"{SHIPPED}/kernels.tar.gz#kernels",
    "spark.executorEnv.NUMBA_CACHE_DIR": "./kernels",
    "spark.pyspark.python": f"{SHIPPED}/plain/bin/python",
}

ENVIRONMENT = ("--environment", f"{SHIPPED}/environment.tar.gz")
"""What a session of Spark Connect sends to the executors."""
WHEEL_AND_KERNELS = (
    "--wheel",
    f"{SHIPPED}/windrow.zip",
    f"{SHIPPED}/kernels.tar.gz",
    f"{SHIPPED}/plain/bin/python",
)
"""The same for executors that have Windrow's dependencies."""
CLIENT = SHIPPED / "client" / "bin" / "python"
"""A Python that has a client of Spark Connect, and no Spark."""


def unpack_environment(folder: Path) -> None:
    """Unpack the environment for a driver that runs in a folder."""
    with tarfile.open(SHIPPED / "environment.tar.gz") as archive:
        archive.extractall(folder / "environment", filter="fully_trusted")


def bring(came: Rows, arrivals: Arrivals, batches: int) -> None:
    """Each batch is a file."""
    length = -(-len(came) // batches)
    for i in range(0, len(came), length):
        arrivals.add(came[i : i + length])


def submit(
    at: Cluster, driver: Path, settings: Mapping[str, str], folder: Path, *arguments: str
) -> dict[str, Any]:
    """Run the program on the cluster; what it has found."""
    given = {
        "spark.pyspark.driver.python": f"{driver}/environment/bin/python",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.log.level": "ERROR",
        "spark.executor.memory": "700m",
        "spark.sql.shuffle.partitions": "2",
        **PATIENT,
        **settings,
    }
    conf = [word for name, value in given.items() for word in ("--conf", f"{name}={value}")]
    command = [str(spark_home() / "bin" / "spark-submit"), "--master", at.url, *conf]
    run = subprocess.run(
        [*command, str(PROGRAM), str(folder), *arguments],
        cwd=driver,
        env=clean_environment(),
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, (run.stdout + run.stderr)[-6000:]
    found: dict[str, Any] = json.loads((folder / f"{arguments[0]}.json").read_text())
    return found


def run_without_java(
    remote: str, folder: Path, *arguments: str, python: str | Path = sys.executable
) -> dict[str, Any]:
    """Run the program as a client of Spark Connect; what it has found."""
    hidden = {"JAVA_HOME": "/nowhere", "PATH": "/nowhere", "SPARK_REMOTE": remote}
    run = subprocess.run(
        [str(python), str(PROGRAM), str(folder), *arguments],
        env={**clean_environment(), **hidden},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, (run.stdout + run.stderr)[-6000:]
    found: dict[str, Any] = json.loads((folder / f"{arguments[0]}.json").read_text())
    return found
