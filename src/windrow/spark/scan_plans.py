"""The plans of scans: a projection of files, maybe with filters, as Spark's optimiser leaves it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from windrow.spark.made_columns import Made, operation_of
from windrow.spark.plain_filters import NotPlain, children, items, kind_of

RELATIONS = frozenset(["LogicalRelation", "StreamingRelation"])
"""What files are in a plan: bounded ones, and those of a stream."""
_WATERMARK = "EventTimeWatermark"
_ANALYSED = RELATIONS | {"Project", "Filter", "SubqueryAlias", "View", _WATERMARK}


def check_chain(node: Any) -> None:
    """A quick look at a plan that is most often something else."""
    while True:
        if kind_of(node) not in _ANALYSED:
            raise NotPlain(f"the DataFrame is not a plain scan but has {_words(node)}")
        inner = children(node)
        if not inner:
            return
        node = inner[0]


@dataclass
class ScanPlan:
    """A relation, the attributes of its files that are given, and conditions on them."""

    relation: Any
    names: dict[int, str]
    """The column in the files of each attribute, by its number."""
    given: list[Made] = field(default_factory=list)
    """The columns that the plan gives, in order."""
    made: dict[int, Made] = field(default_factory=dict)
    """The attributes that are made of columns of the files."""
    conditions: list[Any] = field(default_factory=list)
    has_watermark: bool = False

    @staticmethod
    def of(node: Any) -> ScanPlan:
        kind, inner = kind_of(node), children(node)
        if kind in RELATIONS:
            attributes = items(node.output())
            names = {a.exprId().id(): a.name() for a in attributes}
            return ScanPlan(node, names, [Made(name) for name in names.values()])
        if kind not in ("Project", "Filter", _WATERMARK):
            raise NotPlain(f"the DataFrame is not a plain scan but has {_words(node)}")
        plan = ScanPlan.of(inner[0])
        if kind == _WATERMARK:
            plan.has_watermark = True
            return plan
        if kind == "Filter":
            if plan.has_watermark:
                # Rows that it leaves out have moved the watermark before.
                raise NotPlain("a filter of the event time comes behind the watermark")
            plan.conditions.append(node.condition())
            return plan
        plan.given = [plan._column(expression) for expression in items(node.projectList())]
        return plan

    def _column(self, expression: Any) -> Made:
        """A column of the files, maybe under another name, or one that is made of it."""
        is_renamed = kind_of(expression) == "Alias"
        found = self._made(children(expression)[0] if is_renamed else expression)
        number: int = expression.exprId().id()
        if found.operations:
            self.made[number] = found
        else:
            self.names[number] = found.source
        return found

    def _made(self, expression: Any) -> Made:
        """What an expression makes of a column of the files."""
        if kind_of(expression) == "AttributeReference":
            number = expression.exprId().id()
            if number in self.names:
                return Made(self.names[number])
            if number in self.made:
                return self.made[number]
        operation, column = operation_of(expression)
        return self._made(column).then(operation)


def _words(node: Any) -> str:
    words: str = node.nodeName()
    return words
