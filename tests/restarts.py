"""What tests of restarts share: disordered rows, and a program that can be killed at any moment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.spark_session import environment_of_programs

ROOT = Path(__file__).parents[1]
Rows = list[dict[str, Any]]


def rows(n: int) -> Rows:
    """Disordered within the delay, with ties, gaps and a null key."""
    draw = np.random.default_rng(5)
    times = np.cumsum(draw.choice([0, 200, 500, 1000, 3000], n)) + 1_000_000
    order = np.argsort(times + draw.integers(0, 4001, n), kind="stable").tolist()
    keys = ["a", "a", "b", "c", None]
    return [
        {"k": keys[draw.integers(5)], "t": int(times[at]), "seq": i, "x": int(draw.integers(9))}
        for i, at in enumerate(order)
    ]


class KillableProgram:
    """The streaming program in a process of its own, with all that it starts."""

    def __init__(
        self,
        module: str,
        names: Sequence[str],
        folder: Path,
        *arguments: str,
        **environment: str,
    ) -> None:
        self.names = names
        self.said = folder / "stderr.txt"
        with self.said.open("w") as stderr:
            self.process = subprocess.Popen(
                [sys.executable, "-m", module, str(folder), *arguments],
                cwd=ROOT,
                env={**environment_of_programs(folder), **environment},
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
                start_new_session=True,
            )

    @property
    def lines(self) -> Iterator[str]:
        """What it prints, as it comes; of Spark's own workers nothing."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.split() and line.split()[0] in ("started", *self.names):
                yield line.strip()

    def kill(self) -> None:
        """Driver and JVM at once, as a power cut does."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def finish(self) -> None:
        """Wait for its end."""
        for _ in self.lines:
            pass
        assert self.process.wait() == 0, self.said.read_text()[-4000:]
