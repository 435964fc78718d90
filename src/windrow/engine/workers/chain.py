"""Chains of workers that run as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

from windrow.engine.stages.nodes import Emitter, Workers
from windrow.engine.stages.traffic import emit_traffic
from windrow.engine.workers.worker import Message, Worker


class Chain(Worker):
    """Workers in a row. What one gives, an emitter sends to the next, at the same watermark."""

    def __init__(
        self,
        links: Sequence[Worker],
        emitters: Sequence[Emitter],
        hold_state: Sequence[bool],
        index: int,
    ) -> None:
        self.links, self.emitters, self.index = links, emitters, index
        self.hold_state = hold_state

    @property
    def dropped(self) -> int:  # type: ignore[override]  # the sum is never set
        return sum(link.dropped for link in self.links)

    @property
    def fired(self) -> int:  # type: ignore[override]  # the sum is never set
        return sum(link.fired for link in self.links)

    def push(self, message: Message) -> None:
        self.links[0].push(message)

    def advance(self, watermark: int) -> list[Message]:
        given = self.links[0].advance(watermark)
        for emitter, link in zip(self.emitters, self.links[1:], strict=True):
            for message in emit_traffic(emitter, {self.index: given}).get(self.index, []):
                link.push(message)
            given = link.advance(watermark)
        return given

    def reached_by(self, low: int) -> int | None:
        return self.links[0].reached_by(low)

    @property
    def n_waiting(self) -> int:
        return self.links[0].n_waiting

    @property
    def n_held(self) -> int:
        return sum(link.n_held for link in self.links)

    @property
    def n_keys(self) -> int:
        return max(link.n_keys for link in self.links)

    def edges(self, size: int) -> list[int]:
        return self.links[0].edges(size)

    @property
    def stored(self) -> tuple[Worker, ...]:
        held = compress(self.links, self.hold_state)
        return tuple(stored for link in held for stored in link.stored)


@dataclass(frozen=True)
class Chained:
    """A factory of chains: the nodes of their links, and the emitters between these."""

    links: tuple[Workers, ...]
    emitters: tuple[Emitter, ...]

    def __call__(self, index: int) -> Worker:
        stored = [node.holds_state for node in self.links]
        return Chain([node.make(index) for node in self.links], self.emitters, stored, index)

    def node(self) -> Workers:
        """All chains as one node."""
        name = " + ".join(node.name for node in self.links)
        holds_state = any(node.holds_state for node in self.links)
        last = self.links[-1]
        return Workers(name, self, last.n, last.prepares, holds_state, self.links)
