"""The stage list: emitters, workers and collectors, and which of them run together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from windrow.engine.stages.routes import Route
from windrow.engine.workers.worker import Worker


@dataclass(frozen=True)
class Emitter:
    """An emitter at each instance: routes what it gets to the instance's ``route.n`` workers.

    It stands at ``index // fan_in`` of what comes before it: without a collector in between it
    gets what ``fan_in`` workers give.
    """

    route: Route
    fan_in: int = 1

    def describe(self) -> str:
        return f"emit {self.route.describe()}"


@dataclass(frozen=True)
class Workers:
    """Workers, ``make(index)`` each."""

    name: str
    make: Callable[[int], Worker]
    n: int
    prepares: bool = False
    """Whether they only prepare the work of those behind: rank tuples, or decide on windows."""
    holds_state: bool = True
    """Whether they remember anything between two calls of ``advance``."""

    def describe(self) -> str:
        return f"{self.name} x {self.n}"


@dataclass(frozen=True)
class Collector:
    """A collector for each ``fan_in`` workers: puts what they give in order."""

    fan_in: int

    def describe(self) -> str:
        return f"collect from {self.fan_in} in order"


Node: TypeAlias = Emitter | Workers | Collector


@dataclass(frozen=True)
class Stages:
    """Groups of nodes; what is in one group runs together, between groups data is exchanged."""

    groups: tuple[tuple[Node, ...], ...]

    @property
    def nodes(self) -> list[Node]:
        return [node for group in self.groups for node in group]

    def describe(self) -> str:
        """A line for each group."""
        return "\n".join(
            f"{i}. " + " | ".join(node.describe() for node in group)
            for i, group in enumerate(self.groups)
        )
