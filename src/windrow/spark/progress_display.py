"""Bars for the stages that run: with Rich in a terminal, as HTML in a notebook."""

from __future__ import annotations

from typing import Any

from windrow.spark.progress import Stages


class TerminalBars:
    """One line for each stage, on the standard error; they vanish at the end."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self.bars = Progress(
            TextColumn("stage {task.description}"),
            BarColumn(),
            TextColumn("{task.completed:.0f} of {task.total:.0f} tasks"),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self.tasks: dict[int, Any] = {}

    def __enter__(self) -> TerminalBars:
        self.bars.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.bars.stop()

    def show(self, stages: Stages) -> None:
        """Show the stages that run now, and no others."""
        for stage in self.tasks.keys() - stages.keys():
            self.bars.remove_task(self.tasks.pop(stage))
        for stage, (completed, total) in stages.items():
            if stage not in self.tasks:
                self.tasks[stage] = self.bars.add_task(str(stage), total=total)
            self.bars.update(self.tasks[stage], completed=completed)


class NotebookBars:
    """One line for each stage, below the cell."""

    def __enter__(self) -> NotebookBars:
        from IPython.display import HTML, display

        self.html = HTML
        self.shown = display(HTML(""), display_id=True)
        return self

    def __exit__(self, *error: object) -> None:
        self.show({})

    def show(self, stages: Stages) -> None:
        """Show the stages that run now, and no others."""
        lines = (
            f"<div>stage {stage} <progress value={done} max={total}></progress> "
            f"{done} of {total} tasks</div>"
            for stage, (done, total) in stages.items()
        )
        self.shown.update(self.html("".join(lines)))
