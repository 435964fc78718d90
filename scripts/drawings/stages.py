"""The stages of every pattern: emitters, workers and collectors, as the engine runs them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import windrow as wr
from scripts.drawings.svg import BLUE, GREEN, GREY, ORANGE, PALE, box, line, svg, text
from windrow import functions as wf
from windrow.engine.stages.nodes import Collector, Emitter, Node, Stages, Workers
from windrow.engine.workers.past_results import FirstThenOthers
from windrow.patterns.windows import window_stages

PATTERNS: dict[str, wr.Pattern] = {
    "win_seq": wr.WinSeq(),
    "key_farm": wr.KeyFarm(3, level=0),
    "win_farm": wr.WinFarm(3, level=0),
    "win_farm_agnostic": wr.WinFarm(3, workers="agnostic", level=0),
    "key_farm_with_panes_of_hot_keys": wr.KeyFarm(2, hot_keys=[0], hot=wr.PaneFarm(3, 1, level=0)),
    "pane_farm": wr.PaneFarm(3, 2, level=0),
    "pane_farm_agnostic": wr.PaneFarm(3, 2, level=1, workers="agnostic"),
    "win_map_reduce": wr.WinMapReduce(3, 2, level=0),
    "win_farm_of_pane_farms": wr.WinFarm(2, wr.PaneFarm(2, 1), level=0),
    "win_farm_of_pane_farms_level_2": wr.WinFarm(2, wr.PaneFarm(2, 1), level=2),
}
_BOX, _HIGH, _GAP, _ACROSS, _TOP = 92, 30, 14, 56, 40


@dataclass(frozen=True)
class _Column:
    """The boxes of a node, and where they are."""

    node: Node
    n: int
    x: int
    group: int

    def y(self, i: int, height: int) -> float:
        taken = self.n * _HIGH + (self.n - 1) * _GAP
        return _TOP + (height - taken) / 2 + i * (_HIGH + _GAP)


def diagram(pattern: wr.Pattern) -> str:
    """The picture of a pattern that computes the three greatest values of time windows."""
    rows = {"k": [0], "t": [0], "x": [0.0]}
    query = wr.stream(rows).key_by("k").event_time("t").window(wr.TimeWindow("10 s", "4 s"))
    query = query.agg(best=wf.top_k("x", 3))
    columns = _columns(window_stages(query.window_query(), pattern))
    height = max(c.n * _HIGH + (c.n - 1) * _GAP for c in columns)
    parts = [_container(columns, group, height) for group in sorted({c.group for c in columns})]
    for before, after in pairwise(columns):
        parts += _edges(before, after, height)
    for column in columns:
        parts += _boxes(column, height)
    width = columns[-1].x + _BOX + 20
    return svg(width, _TOP + height + 24, parts, f"The stages of {pattern!r}")


def _columns(stages: Stages) -> list[_Column]:
    columns, width, x = [], 1, 20
    for group, nodes in enumerate(stages.groups):
        for node in nodes:
            if isinstance(node, Emitter):
                n = width // node.fan_in
                width = n * node.route.n
            elif isinstance(node, Workers):
                n = width = node.n
            else:
                n = width = width // node.fan_in
            columns.append(_Column(node, n, x, group))
            x += _BOX + _ACROSS
    return columns


def _container(columns: list[_Column], group: int, height: int) -> str:
    inside = [c.x for c in columns if c.group == group]
    left, width = inside[0] - 10, inside[-1] - inside[0] + _BOX + 20
    frame = box(left, _TOP - 14, width, height + 28, fill="none", stroke=GREY)
    return frame + text(left + width / 2, _TOP - 22, f"stage {group}")


def _edges(before: _Column, after: _Column, height: int) -> list[str]:
    return [
        line(
            before.x + _BOX, before.y(i, height) + _HIGH / 2,
            after.x, after.y(j, height) + _HIGH / 2,
        )
        for i in range(before.n)
        for j in _reached(before, after, i)
    ]  # fmt: skip


def _reached(before: _Column, after: _Column, i: int) -> range:
    """To which boxes of the next column the i-th sends."""
    if isinstance(before.node, Emitter):
        n = before.node.route.n
        share = range(i * n, (i + 1) * n)
        if isinstance(after.node, Workers):
            return share
        fan_in = after.node.fan_in
        return range(share[0] // fan_in, share[-1] // fan_in + 1)
    fan_in = 1 if isinstance(after.node, Workers) else after.node.fan_in
    return range(i // fan_in, i // fan_in + 1)


def _boxes(column: _Column, height: int) -> list[str]:
    node = column.node
    if isinstance(node, Workers):
        fill, stroke = PALE, BLUE
    elif isinstance(node, Collector):
        fill, stroke = GREEN, GREEN
    else:
        fill, stroke = ORANGE, ORANGE
    middle = column.x + _BOX / 2
    return [
        box(column.x, column.y(i, height), _BOX, _HIGH, fill=fill, stroke=stroke)
        + text(middle, column.y(i, height) + _HIGH / 2 + 5, _name(node, i))
        for i in range(column.n)
    ]


def _name(node: Node, i: int) -> str:
    """What the i-th box of a node is called."""
    if not isinstance(node, Workers):
        return "collector" if isinstance(node, Collector) else "emitter"
    if isinstance(node.make, FirstThenOthers):
        return node.name.split(" or ")[i >= node.make.n]
    return node.name


def diagrams() -> dict[str, str]:
    """The pictures by file name."""
    return {f"stages_{name}.svg": diagram(pattern) for name, pattern in PATTERNS.items()}
