"""The nodes of a query (emitters, workers, collectors) and their grouping into stages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from windrow.engine.stages.routes import Route
from windrow.engine.workers.worker import Worker


@dataclass(frozen=True)
class Emitter:
    """One emitter per instance. It routes messages to the ``route.n`` workers of its instance.

    Worker ``index`` before it sends to emitter ``index // fan_in``. The fan-in is greater than 1 if
    the collector in between was removed.
    """

    route: Route
    fan_in: int = 1

    def describe(self) -> str:
        return f"emit {self.route.describe()}"


@dataclass(frozen=True)
class Workers:
    """A group of ``n`` workers. ``make(index)`` creates one of them."""

    name: str
    make: Callable[[int], Worker]
    n: int
    prepares: bool = False
    """Whether they only prepare tuples for the next workers, by ranking them or forming windows."""
    holds_state: bool = True
    """Whether they keep anything between two calls of ``advance``."""
    links: tuple[Workers, ...] = ()
    """The nodes in a chain that runs as one."""

    def describe(self) -> str:
        return f"{self.name} x {self.n}"


@dataclass(frozen=True)
class Collector:
    """One collector per ``fan_in`` workers. It puts their output in order."""

    fan_in: int

    def describe(self) -> str:
        return f"collect from {self.fan_in} in order"


Node: TypeAlias = Emitter | Workers | Collector


@dataclass(frozen=True)
class Stages:
    """Groups of nodes. The nodes of a group run together; groups exchange data."""

    groups: tuple[tuple[Node, ...], ...]
    numbers_tuples: bool = True
    """Whether tuples must be numbered.

    A Win_Seq with all of a key gets them in order anyway, and partials of panes need no order.
    """

    @property
    def nodes(self) -> list[Node]:
        return [node for group in self.groups for node in group]

    @property
    def chained_states(self) -> list[str]:
        """The names of the nodes whose states are stored together."""
        chains = (n.links for n in self.nodes if isinstance(n, Workers))
        holding = ([node.name for node in links if node.holds_state] for links in chains)
        return [", ".join(names) for names in holding if len(names) > 1]

    def describe(self) -> str:
        """One line per group."""
        return "\n".join(
            f"{i}. " + " | ".join(node.describe() for node in group)
            for i, group in enumerate(self.groups)
        )
