"""The transformation levels: which nodes of a pattern run together in one stage.

They follow Mencagli 2019, Figures 11 to 13, but not every configuration of Figure 12 has a form of
its own. Level 0 keeps each emitter and collector as a separate stage. Level 1 merges neighbouring
ones. Level 2 removes the collectors between stages, so that workers send their results directly to
the workers of the next stage.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from windrow.engine.stages.nodes import Collector, Emitter, Node, Stages, Workers
from windrow.patterns.tree import KeyFarm, PaneFarm, Pattern, WinFarm, WinMapReduce

_Is: TypeAlias = Callable[[Node], bool]


def group(pattern: Pattern, nodes: list[Node]) -> Stages:
    """The nodes as stages, after the inner pattern's level and then the pattern's own."""
    inner = pattern.inner if isinstance(pattern, KeyFarm | WinFarm) else pattern
    is_farm = inner is not pattern
    groups: list[tuple[Node, ...]] = [(node,) for node in nodes]
    if isinstance(inner, PaneFarm | WinMapReduce):
        if inner.level >= 1:
            groups = _merge_emitters(groups, _is_collector)
        if inner.level == 2:
            groups = _remove_collectors_between(groups)
    if is_farm and pattern.level >= 1:  # type: ignore[attr-defined]
        groups = _merge_last_collectors(groups)
        groups = _merge_emitters(groups, _prepares)
    if is_farm and pattern.level == 2:  # type: ignore[attr-defined]
        groups = _merge_emitters(groups, _is_emitter)
    return Stages(tuple(groups))


def _merge_emitters(groups: list[tuple[Node, ...]], with_last: _Is) -> list[tuple[Node, ...]]:
    """Merge a group that starts with an emitter into the one before if ``with_last`` accepts it.

    ``with_last`` is asked about the last node of the group before.
    """
    merged: list[tuple[Node, ...]] = []
    for own in groups:
        if merged and with_last(merged[-1][-1]) and _is_emitter(own[0]):
            merged[-1] = (*merged[-1], *own)
        else:
            merged.append(own)
    return merged


def _is_emitter(node: Node) -> bool:
    return isinstance(node, Emitter)


def _is_collector(node: Node) -> bool:
    return isinstance(node, Collector)


def _prepares(node: Node) -> bool:
    return isinstance(node, Workers) and node.prepares


def _remove_collectors_between(groups: list[tuple[Node, ...]]) -> list[tuple[Node, ...]]:
    """W | C E | W becomes W E | W: each worker of the first stage gets an emitter."""
    rewritten: list[tuple[Node, ...]] = []
    for own in groups:
        if len(own) == 2 and isinstance(own[0], Collector) and isinstance(own[1], Emitter):
            rewritten[-1] = (*rewritten[-1], Emitter(own[1].route, own[0].fan_in))
        else:
            rewritten.append(own)
    return rewritten


def _merge_last_collectors(groups: list[tuple[Node, ...]]) -> list[tuple[Node, ...]]:
    """Merge the inner pattern's last collector into the farm's, which orders all results."""
    (last,) = groups[-1]
    (before,) = groups[-2] if len(groups[-2]) == 1 else (None,)
    if isinstance(last, Collector) and isinstance(before, Collector):
        return [*groups[:-2], (Collector(last.fan_in * before.fan_in),)]
    return groups
