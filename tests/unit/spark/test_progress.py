from __future__ import annotations

import io
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import windrow as wr
from tests.unit.spark.sessions import ConnectSession, Session
from windrow.spark import progress as module
from windrow.spark.progress import Stages, display_here, running_stages
from windrow.spark.progress_display import NotebookBars, TerminalBars


class Shown:
    def __init__(self) -> None:
        self.stages: list[Stages] = []

    def __enter__(self) -> Shown:
        return self

    def __exit__(self, *error: object) -> None:
        self.stages.append({})

    def show(self, stages: Stages) -> None:
        self.stages.append(stages)


class Tracker:
    """A stage runs; another has just ended, so that nothing is known of it."""

    def getActiveStageIds(self) -> list[int]:
        return [3, 4]

    def getStageInfo(self, id: int) -> Any:
        return SimpleNamespace(numTasks=8, numCompletedTasks=5) if id == 3 else None


def named(session: Any) -> Any:
    """The session under the name of Spark's class."""
    kind = type(session)
    is_client = kind.__module__.startswith("pyspark")
    own = kind.__module__ if is_client else "pyspark.sql.session"
    return type("SparkSession", (kind,), {"__module__": own})()


def test_stages_are_those_that_run() -> None:
    assert running_stages(Tracker()) == {3: (5, 8)}


def test_nothing_is_shown_or_asked_where_nobody_would_see_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with wr.progress(named(Session())):
        pass
    assert capsys.readouterr() == ("", "")


def test_what_is_no_session_is_refused() -> None:
    with (
        pytest.raises(wr.WindrowError, match="first argument of progress is a Spark session"),
        wr.progress("spark"),  # type: ignore[arg-type]
    ):
        pass


def test_a_session_is_asked_until_the_end_of_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    shown, session = Shown(), named(Session())
    session.sparkContext.statusTracker = Tracker
    monkeypatch.setattr(module, "display_here", lambda: shown)
    monkeypatch.setattr(module, "_SECONDS", 0.001)
    with wr.progress(session):
        while not shown.stages:
            pass
    assert shown.stages[0] == {3: (5, 8)}
    assert shown.stages[-1] == {}


def test_a_stopped_session_ends_the_bars_quietly(monkeypatch: pytest.MonkeyPatch) -> None:
    session = named(Session())
    session.sparkContext.statusTracker = object
    monkeypatch.setattr(module, "display_here", Shown)
    monkeypatch.setattr(module, "_SECONDS", 0.001)
    with wr.progress(session):
        pass


def test_a_connect_server_tells_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Shown()
    handlers: list[Any] = []
    session = named(ConnectSession())
    session.registerProgressHandler = handlers.append
    session.removeProgressHandler = handlers.remove
    monkeypatch.setattr(module, "display_here", lambda: shown)
    stage = {"num_bytes_read": 0, "num_tasks": 8, "num_completed_tasks": 5}
    stages = [
        SimpleNamespace(stage_id=3, done=False, **stage),
        SimpleNamespace(stage_id=2, done=True, **stage),
    ]
    with wr.progress(session):
        (told,) = handlers
        told(stages=stages, inflight_tasks=2, operation_id="id", done=False)
        told(stages=stages, inflight_tasks=0, operation_id="id", done=True)
    assert shown.stages == [{3: (5, 8)}, {}, {}]
    assert handlers == []


def test_a_terminal_has_a_bar_for_each_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    terminal.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", terminal)
    found = display_here()
    assert isinstance(found, TerminalBars)
    with found:
        found.show({3: (5, 8), 4: (0, 2)})
        found.bars.refresh()
        found.show({4: (1, 2)})
        assert [task.description for task in found.bars.tasks] == ["4"]
    assert "stage 3" in terminal.getvalue()
    assert "5 of 8 tasks" in terminal.getvalue()


def test_a_notebook_has_its_bars_as_html(monkeypatch: pytest.MonkeyPatch) -> None:
    pages: list[str] = []
    notebook, ipython = ModuleType("IPython.display"), ModuleType("IPython")
    notebook.HTML = str  # type: ignore[attr-defined]
    handle = SimpleNamespace(update=pages.append)
    notebook.display = lambda html, display_id: handle  # type: ignore[attr-defined]
    shell = type("ZMQInteractiveShell", (), {})()
    ipython.get_ipython = lambda: shell  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", notebook)
    found = display_here()
    assert isinstance(found, NotebookBars)
    with found:
        found.show({3: (5, 8)})
    assert "<progress value=5 max=8>" in pages[0]
    assert pages[-1] == ""
