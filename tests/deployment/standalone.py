"""A standalone cluster of Spark on loopback: a master and workers, each a process."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import IO

import pyspark

LOOPBACK = "127.0.0.1"
_PACKAGE = "org.apache.spark.deploy"
_SMALL = {
    "SPARK_DAEMON_MEMORY": "256m",
    "SPARK_DAEMON_JAVA_OPTS": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
}

PATIENT = {"spark.python.authenticate.socketTimeout": "240s"}
"""Python workers of a machine that has other work need longer than 15 s to connect."""


class Daemon:
    """A process of Spark's that is up as soon as it says so."""

    def __init__(self, log: Path, is_up: str, *command: str, **environment: str) -> None:
        self.log = log
        self.process = subprocess.Popen(
            [str(spark_home() / "bin" / "spark-class"), *command],
            cwd=log.parent,
            env={**clean_environment(), **_SMALL, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self.process.stdout is not None
        with log.open("w") as file:
            for line in self.process.stdout:
                file.write(line)
                if is_up in line:
                    break
            else:
                raise RuntimeError(f"{command[0]} did not start: {log.read_text()[-4000:]}")
        Thread(target=_drain, args=(self.process.stdout, log), daemon=True).start()

    def kill(self) -> None:
        """As a power cut does."""
        self.process.kill()
        self.process.wait()


class Cluster:
    """A master and two workers, of one core each."""

    def __init__(self, folder: Path, workers: int = 2) -> None:
        with socket.create_server((LOOPBACK, 0)) as free:
            port = free.getsockname()[1]
        self.folder, self.url = folder, f"spark://{LOOPBACK}:{port}"
        here = ["--host", LOOPBACK, "--webui-port", "0"]
        self.daemons = [
            Daemon(
                folder / "master.txt",
                "New state: ALIVE",
                f"{_PACKAGE}.master.Master",
                *here,
                "--port",
                str(port),
            )
        ]
        for i in range(workers):
            size = ["--cores", "1", "--memory", "1g", "--work-dir", str(folder / f"work-{i}")]
            self.daemons.append(
                Daemon(
                    folder / f"worker-{i}.txt",
                    "Successfully registered with master",
                    f"{_PACKAGE}.worker.Worker",
                    *here,
                    *size,
                    self.url,
                    SPARK_LOCAL_DIRS=str(folder / f"local-{i}"),
                )
            )

    def serve_connect(self, archive: Path) -> str:
        """Start a server of Spark Connect whose executors are here; where it listens.

        Streams run the Python of the archive: beside the server, in whose folder it is unpacked,
        and on the executors.
        """
        with socket.create_server((LOOPBACK, 0)) as free:
            port = free.getsockname()[1]
        settings = {
            "spark.connect.grpc.binding.address": LOOPBACK,
            "spark.connect.grpc.binding.port": port,
            "spark.driver.host": LOOPBACK,
            "spark.driver.bindAddress": LOOPBACK,
            "spark.ui.enabled": "false",
            "spark.executor.memory": "700m",
            "spark.archives": f"{archive}#environment",
            "spark.executorEnv.NUMBA_CACHE_DIR": "./kernels",
            **PATIENT,
        }
        conf = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
        server = "org.apache.spark.sql.connect.service.SparkConnectServer"
        self.daemons.append(
            Daemon(
                self.folder / "connect.txt",
                "Spark Connect server started",
                f"{_PACKAGE}.SparkSubmit",
                *("--class", server, "--master", self.url, *conf, "spark-internal"),
                SPARK_DAEMON_MEMORY="1g",
                PYSPARK_PYTHON="./environment/bin/python",
            )
        )
        return f"sc://{LOOPBACK}:{port}"

    @property
    def workers(self) -> list[Daemon]:
        """The workers: an executor ends with its worker."""
        return self.daemons[1:3]

    def stop(self) -> None:
        """Stop all of it."""
        for daemon in reversed(self.daemons):
            daemon.kill()


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """A cluster whose processes end with the block."""
    folder.mkdir(parents=True, exist_ok=True)
    started = Cluster(folder)
    try:
        yield started
    finally:
        started.stop()


def spark_home() -> Path:
    """The Spark that comes with the installed PySpark."""
    return Path(pyspark.__file__).parent


def clean_environment() -> Mapping[str, str]:
    """The environment of this process without what would lead Spark to this clone's Python."""
    mine = ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON", "PYTHONPATH", "VIRTUAL_ENV", "SPARK_REMOTE")
    kept = {name: value for name, value in os.environ.items() if name not in mine}
    return {**kept, "SPARK_HOME": str(spark_home())}


def _drain(output: IO[str], log: Path) -> None:
    """Keep what a process says until its end."""
    with log.open("a") as file:
        for line in output:
            file.write(line)
