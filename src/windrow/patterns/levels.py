"""The transformation levels: which nodes of a pattern run together in one stage.

They follow Mencagli 2019, Figures 11 to 13. Level 0 keeps each emitter and collector as a separate
stage. Level 1 merges neighbours:

* a collector and the emitter behind it;
* one worker and the emitter behind it: PLQ E | WLQ in a pane farm of 1 and m workers;
* one worker and the collector before it, whose order it keeps itself: PLQ E | WLQ for n and 1;
* workers that send everything to one worker each, and these: PLQ + WLQ for 1 and 1.

Level 2 removes the collectors between stages, so that workers send their results directly to the
workers of the next stage. It has the fewest exchanges, and is the default.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from windrow.engine.stages.nodes import Collector, Emitter, Node, Stages, Workers
from windrow.engine.workers.chain import Chained
from windrow.patterns.tree import (
    KeyFarm,
    PaneFarm,
    Pattern,
    WinFarm,
    WinMapReduce,
    WinSeq,
    splits_windows,
)

_Is: TypeAlias = Callable[[Node], bool]


def group(pattern: Pattern, nodes: list[Node]) -> Stages:
    """The nodes as stages, after the inner pattern's level and then the pattern's own.

    If hot keys are split into panes or parts, the stages are those of the pattern that does so.
    """
    if isinstance(pattern, KeyFarm) and pattern.hot is not None and not splits_windows(pattern.hot):
        pattern = pattern.hot
    inner = pattern.inner if isinstance(pattern, KeyFarm | WinFarm) else pattern
    is_farm = inner is not pattern
    level = inner.level if isinstance(inner, PaneFarm | WinMapReduce) else 0
    if level >= 1:
        nodes = _chain(_without_needless(nodes, is_farm))
    groups: list[tuple[Node, ...]] = [(node,) for node in nodes]
    if level >= 1:
        groups = _merge_emitters(groups, _is_collector)
        groups = _remove_collectors_between(groups, only_before_one=level == 1)
        groups = _merge_emitters(groups, _computes if is_farm else _works)
    if is_farm and pattern.level >= 1:  # type: ignore[attr-defined]
        groups = _merge_last_collectors(groups)
        groups = _merge_emitters(groups, _prepares)
    if is_farm and pattern.level == 2:  # type: ignore[attr-defined]
        groups = _merge_emitters(groups, _is_emitter)
    is_shared = isinstance(pattern, WinFarm) or (isinstance(pattern, KeyFarm) and pattern.hot)
    is_single = isinstance(inner, WinSeq) and not is_shared
    first = nodes[0]
    is_reduced = isinstance(first, Emitter) and first.route.gives_partials
    return Stages(tuple(groups), numbers_tuples=not (is_single or is_reduced))


def _without_needless(nodes: list[Node], is_farm: bool) -> list[Node]:
    """Remove the inner pattern's emitters and collectors that have only one worker.

    An emitter behind workers stays: it sends what they give to the next.
    """
    first, inner, last = (nodes[:1], nodes[1:-1], nodes[-1:]) if is_farm else ([], nodes, [])
    kept = list(first)
    for node in inner:
        is_first = not kept or isinstance(kept[-1], Emitter)
        is_single = isinstance(node, Emitter) and node.route.n == 1 and not node.route.reduces
        if is_single and is_first:
            continue
        if isinstance(node, Collector) and node.fan_in == 1:
            continue
        kept.append(node)
    return [*kept, *last]


def _chain(nodes: list[Node]) -> list[Node]:
    """Merge workers, each of which sends all to one of the next workers, to chains: W E W."""
    chained: list[Node] = []
    for node in nodes:
        if isinstance(node, Workers) and len(chained) > 1:
            first, emitter = chained[-2:]
            is_one_to_one = isinstance(emitter, Emitter) and emitter.route.n == 1
            if is_one_to_one and isinstance(first, Workers) and first.n == node.n:
                assert isinstance(emitter, Emitter)
                chained[-2:] = [_chain_of(first, emitter, node)]
                continue
        chained.append(node)
    return chained


def _chain_of(first: Workers, emitter: Emitter, last: Workers) -> Workers:
    if isinstance(first.make, Chained):
        made = first.make
        return Chained((*made.links, last), (*made.emitters, emitter)).node()
    return Chained((first, last), (emitter,)).node()


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


def _works(node: Node) -> bool:
    return isinstance(node, Workers)


def _computes(node: Node) -> bool:
    return isinstance(node, Workers) and not node.prepares


def _prepares(node: Node) -> bool:
    return isinstance(node, Workers) and node.prepares


def _remove_collectors_between(
    groups: list[tuple[Node, ...]], only_before_one: bool
) -> list[tuple[Node, ...]]:
    """W | C E | W becomes W E | W: each worker of the first stage gets an emitter.

    With ``only_before_one`` this is done only if there is one worker behind, which then puts in
    order what it gets.
    """
    rewritten: list[tuple[Node, ...]] = []
    for own in groups:
        if (
            len(own) == 2
            and isinstance(own[0], Collector)
            and isinstance(own[1], Emitter)
            and (own[1].route.n == 1 or not only_before_one)
        ):
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
