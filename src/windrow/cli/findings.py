"""What a check has found, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text


@dataclass(frozen=True)
class Finding:
    """One finding; with a remedy it is a problem, unless it ``is_fine`` all the same."""

    what: str
    found: str
    remedy: str | None = None
    is_fine: bool = False

    @property
    def is_problem(self) -> bool:
        return self.remedy is not None and not self.is_fine


def show(findings: Iterable[Finding]) -> int:
    """Print the findings as they come; return how many are problems."""
    console = Console(highlight=False)
    problems = 0
    for finding in findings:
        problems += finding.is_problem
        mark, style = ("ok", "green") if finding.remedy is None else ("note", "yellow")
        if finding.is_problem:
            mark, style = "FAIL", "bold red"
        line = Text.assemble((f"{mark:<5}", style), f"{finding.what:<15}{finding.found}")
        console.print(line, soft_wrap=True)
        if finding.remedy is not None:
            console.print(f"{'':<20}-> {finding.remedy}", soft_wrap=True, markup=False)
    said = f"{problems} problem{'s' if problems > 1 else ''}" if problems else "No problem found"
    console.print(f"{said}.")
    return problems
