"""A progress bar for the jobs of a session, in terminals and notebooks."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any, Protocol, TypeAlias

from pyspark.sql import SparkSession

from windrow.core.packages import require
from windrow.spark.given_session import checked_session
from windrow.spark.master import is_connect

Stages: TypeAlias = dict[int, tuple[int, int]]
"""The stages that run now: how many of their tasks are done, and how many there are."""
_SECONDS = 0.25
"""Between two looks at the session."""


class Display(Protocol):
    """Shows the progress of stages, from ``with`` to its end."""

    def __enter__(self) -> Display: ...

    def __exit__(self, *error: object) -> None: ...

    def show(self, stages: Stages) -> None: ...


@contextmanager
def progress(spark: SparkSession) -> Iterator[None]:
    """Show a bar for each stage that the session runs; nothing if nobody would see it."""
    session = checked_session(spark, "progress")
    display = display_here()
    if display is None:
        yield
        return
    with display:
        watching = _told_by_server if is_connect(session) else _asked
        with watching(session, display):
            yield


def display_here() -> Display | None:
    """Bars for the notebook or the terminal that this program runs in; None if it is neither."""
    if _is_notebook():
        from windrow.spark.progress_display import NotebookBars

        return NotebookBars()
    if not sys.stderr.isatty():
        return None
    require("progress in a terminal", "cli", "rich")
    from windrow.spark.progress_display import TerminalBars

    return TerminalBars()


def _is_notebook() -> bool:
    shell = sys.modules.get("IPython")
    return shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"


@contextmanager
def _asked(spark: SparkSession, display: Display) -> Iterator[None]:
    """Ask the status tracker again and again, in a thread."""
    tracker: Any = spark.sparkContext.statusTracker()
    has_ended = Event()

    def look() -> None:
        while not has_ended.wait(_SECONDS):
            try:
                display.show(running_stages(tracker))
            except Exception:  # the session has been stopped
                return

    thread = Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        has_ended.set()
        thread.join()


def running_stages(tracker: Any) -> Stages:
    """The stages that run now, of all jobs."""
    found = {id: tracker.getStageInfo(id) for id in tracker.getActiveStageIds()}
    return {id: (s.numCompletedTasks, s.numTasks) for id, s in found.items() if s is not None}


@contextmanager
def _told_by_server(spark: Any, display: Display) -> Iterator[None]:
    """A Connect server tells about each query while its results are awaited."""

    def told(stages: Iterable[Any], *, done: bool, **_: object) -> None:
        running = [] if done else [s for s in stages or () if not s.done]
        display.show({s.stage_id: (s.num_completed_tasks, s.num_tasks) for s in running})

    spark.registerProgressHandler(told)
    try:
        yield
    finally:
        spark.removeProgressHandler(told)
