"""The CPU time of some work, of this process and all that it has started, and of the machine."""

from __future__ import annotations

import math
import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from time import process_time

_TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds() -> float:
    """User and system time so far, of processes that have ended, too."""
    children, own = defaultdict(list), {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            fields = (process / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # It has ended.
        pid = int(process.name)
        children[int(fields[1])].append(pid)
        own[pid] = sum(map(int, fields[11:15])) / _TICKS
    waiting, total = [os.getpid()], 0.0
    while waiting:
        pid = waiting.pop()
        total += own.get(pid, 0.0)
        waiting += children[pid]
    return total


def work_of(runs: Sequence[Callable[[], object]], times: int) -> list[float]:
    """The CPU time of this process in the best of several runs of each, in turn, in seconds."""
    found = [math.inf] * len(runs)
    for _ in range(times):
        for i, run in enumerate(runs):
            start = process_time()
            run()
            found[i] = min(found[i], process_time() - start)
    return found


def busy_seconds() -> float:
    """The CPU time of all processes of the machine so far."""
    user, nice, system, _, _, *interrupts = (
        Path("/proc/stat").read_text().split("\n")[0].split()[1:]
    )
    return sum(map(int, (user, nice, system, *interrupts[:2]))) / _TICKS
