"""A Kafka broker and a PostgreSQL server for the tests, on loopback, in folders of their own."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path
from threading import Thread
from typing import IO

ROOT = Path(__file__).parents[2]
JARS = ROOT / ".pipeline" / "jars"
LOOPBACK = "127.0.0.1"


def free_ports(n: int) -> list[int]:
    """Ports that nothing listens at."""
    sockets = [socket.create_server((LOOPBACK, 0)) for _ in range(n)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Kafka:
    """One broker that is its own controller (KRaft)."""

    def __init__(self, folder: Path) -> None:
        broker, controller = free_ports(2)
        self.address = f"{LOOPBACK}:{broker}"
        self.log = folder / "kafka.txt"
        self.properties = folder / "kafka.properties"
        settings = {
            "process.roles": "broker,controller",
            "node.id": 1,
            "controller.quorum.voters": f"1@{LOOPBACK}:{controller}",
            "listeners": f"PLAINTEXT://{self.address},CONTROLLER://{LOOPBACK}:{controller}",
            "controller.listener.names": "CONTROLLER",
            "log.dirs": folder / "kafka",
            "offsets.topic.replication.factor": 1,
            "num.partitions": 2,
        }
        self.properties.write_text("".join(f"{k}={v}\n" for k, v in settings.items()))
        cluster = "4L6g3nShT-eMCtK--X86sw"
        formatted = ["kafka.tools.StorageTool", "format", "-t", cluster, "-c"]
        subprocess.run(self._java(*formatted, str(self.properties)), check=True, stdout=-3)
        self.start()

    def start(self) -> None:
        """Return when it takes requests."""
        self.process = subprocess.Popen(
            self._java("kafka.Kafka", str(self.properties)), stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        with self.log.open("a") as log:
            for line in self.process.stdout:
                log.write(line)
                if "Kafka Server started" in line:
                    Thread(target=drain, args=(self.process.stdout, self.log), daemon=True).start()
                    return
        raise RuntimeError(f"Kafka did not start: {self.log.read_text()[-4000:]}")

    def kill(self) -> None:
        """As a power cut does."""
        self.process.kill()
        self.process.wait()

    @staticmethod
    def _java(*arguments: str) -> list[str]:
        java = str(Path(os.environ["JAVA_HOME"], "bin", "java"))
        logger = "-Dorg.slf4j.simpleLogger"
        logging = [f"{logger}.logFile=System.out", f"{logger}.defaultLogLevel=info"]
        small = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        return [java, *small, *logging, "-cp", str(JARS / "kafka" / "*"), *arguments]


def drain(output: IO[str], log: Path) -> None:
    """Keep what a server says until its end."""
    with log.open("a") as file:
        for line in output:
            file.write(line)


class Postgres:
    """A cluster in a folder of its own, by a user that is not root."""

    def __init__(self) -> None:
        # Not below pytest's folder, which only its owner may enter.
        self.folder = Path(tempfile.mkdtemp(prefix="windrow-postgres-"))
        self.user: str | None = None
        if os.getuid() == 0:
            names = {entry.pw_name for entry in pwd.getpwall()}
            self.user = "postgres" if "postgres" in names else "nobody"
            shutil.chown(self.folder, self.user)
        self.port = free_ports(1)[0]
        self.url = f"jdbc:postgresql://{LOOPBACK}:{self.port}/postgres"
        self.properties = {"user": "windrow"}
        self.run("initdb", "-U", "windrow", "-A", "trust", "-E", "UTF8", "--no-sync")
        self.start()

    def start(self) -> None:
        """Return when it takes connections."""
        options = f"-p {self.port} -c listen_addresses={LOOPBACK} -c unix_socket_directories=''"
        log = str(self.folder / "log.txt")
        self.run("pg_ctl", "start", "--wait", "--log", log, "-o", options)

    def stop(self, mode: str = "fast") -> None:
        """Stop it; ``immediate`` is a crash, after which it recovers."""
        self.run("pg_ctl", "stop", "--wait", "--mode", mode)

    def remove(self) -> None:
        """Stop it and remove its folder."""
        try:
            self.stop("immediate")
        finally:
            shutil.rmtree(self.folder)

    def run(self, program: str, *arguments: str) -> None:
        command = [str(Path(os.environ["POSTGRES_BIN"], program)), "-D", str(self.folder / "data")]
        said = self.folder / f"{program}.txt"
        with said.open("w") as output:
            # A server that pg_ctl starts keeps the output open, so it must not be a pipe.
            done = subprocess.run(
                [*command, *arguments],
                stdout=output,
                stderr=subprocess.STDOUT,
                user=self.user,
                cwd=self.folder,
            )
        assert done.returncode == 0, said.read_text()


def exit_in_order() -> None:
    """Make a polite request to end one that stops the servers, as Ctrl-C is."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
