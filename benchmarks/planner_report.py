"""What ``bench_planner`` has found: kept in a file, and summed up."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from math import inf
from pathlib import Path
from statistics import median

WANTED, NEVER = 1.15, 1.5
"""How many times the time of the best plan the chosen one may take: usually, and at worst."""
NOISE = 0.1
"""Seconds by which equal plans differ: a plan that is so close to the best one is as good."""


@dataclass(frozen=True)
class Tried:
    """A plan that has run."""

    plan: str
    predicted: float
    seconds: float | None
    """The best time; None if it was ended."""
    cpu: float | None
    runs: int = 1


@dataclass(frozen=True)
class Found:
    """What a query has shown."""

    name: str
    rows: int
    tried: list[Tried]
    hinted: str
    """The plan that is chosen with hints."""
    unhinted: str
    chose_in: float
    """Seconds that it took to choose without hints, with the sample."""

    @property
    def times(self) -> dict[str, float]:
        """Seconds by plan; no end of them for a plan that was ended."""
        return {t.plan: inf if t.seconds is None else t.seconds for t in self.tried}

    def ratio(self, plan: str, noise: float = NOISE) -> float:
        """How many times the best time the plan takes."""
        own, least = self.times[plan], min(self.times.values())
        return 1.0 if own - least < noise else own / least

    @property
    def errors(self) -> list[float]:
        """How far the predictions are off."""
        return [abs(t.predicted - t.seconds) / t.seconds for t in self.tried if t.seconds]

    @property
    def errors_of_chosen(self) -> list[float]:
        """How far the predictions for the chosen plans are off."""
        chosen = (self.hinted, self.unhinted)
        return [
            abs(t.predicted - t.seconds) / t.seconds
            for t in self.tried
            if t.seconds and t.plan in chosen
        ]


def show(found: Found) -> None:
    """Print the plans of a query, the fastest first."""
    ratios = [found.ratio(plan) for plan in (found.hinted, found.unhinted)]
    print(
        f"{found.name}: hinted {ratios[0]:.2f} x the best, {found.hinted}; "
        f"unhinted {ratios[1]:.2f} x, {found.unhinted}, chosen in {found.chose_in:.2f} s"
    )
    for t in sorted(found.tried, key=lambda t: t.seconds or inf):
        took = "   ended" if t.seconds is None else f"{t.seconds:6.2f} s"
        cpu = "" if t.cpu is None else f", {t.cpu:6.2f} CPU s"
        print(f"    {took}{cpu}, predicted {t.predicted:6.2f} s  {t.plan}", flush=True)


def summarise(every: Sequence[Found]) -> None:
    """Print how many choices are right, and how far predictions are off."""
    print(f"{len(every)} queries; a plan within {NOISE} s of the best one counts as the best one")
    for mode in ("hinted", "unhinted"):
        ratios = {f.name: f.ratio(getattr(f, mode)) for f in every}
        strict = [f.ratio(getattr(f, mode), noise=0.0) for f in every]
        worst = max(ratios, key=lambda name: ratios[name])
        print(
            f"{mode}: {_within(ratios.values()):.0%} within {WANTED} x the best plan (target 90 %; "
            f"{_within(strict):.0%} without regard to noise), median {median(strict):.2f} x, "
            f"at worst {ratios[worst]:.2f} x (target {NEVER} x): {worst}"
        )
    errors = [error for found in every for error in found.errors]
    chosen = [error for found in every for error in found.errors_of_chosen]
    print(
        f"predictions are off by {median(errors):.0%} (median of {len(errors)} plans), "
        f"those of chosen plans by {median(chosen):.0%}"
    )
    slowest = max(every, key=lambda found: found.chose_in)
    print(f"choosing without hints took {slowest.chose_in:.2f} s at most: {slowest.name}")


def _within(ratios: Collection[float]) -> float:
    return sum(ratio <= WANTED for ratio in ratios) / len(ratios)


def read(path: Path) -> dict[str, Found]:
    """What earlier runs have found, by query."""
    lines = path.read_text().splitlines() if path.exists() else []
    data = [json.loads(line) for line in lines]
    found = [Found(**{**d, "tried": [Tried(**tried) for tried in d["tried"]]}) for d in data]
    return {f.name: f for f in found}


def add(path: Path, found: Found) -> None:
    """Keep what a query has shown; of several lines of a query, the last counts."""
    with path.open("a") as file:
        file.write(json.dumps(asdict(found)) + "\n")
