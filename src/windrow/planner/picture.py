"""A decision as a picture for notebooks: the tree of plans, each with a bar for its throughput."""

from __future__ import annotations

from html import escape

from windrow.planner.alternatives import Alternative, families
from windrow.planner.decision import Decision

_MOST_PLANS = 12
_WIDTH, _BAR, _STEP = 720, 6, 30
_INDENT, _TEXT = 16, 40
_CHOSEN, _REJECTED, _LINE = "#2a7de1", "#b8c4d0", "#888888"


def as_html(decision: Decision) -> str:
    """What will run and why as text, and the plans that were weighed as a tree."""
    return f"<pre>{escape(decision.explain())}</pre>{as_svg(decision)}"


def as_svg(decision: Decision) -> str:
    """The tree: patterns, then their plans; the chosen one in colour, each sentence a tooltip."""
    predictions = decision.predictions()[:_MOST_PLANS]
    most = max(p.rows_per_second for p in predictions)
    parts: list[str] = []
    row, trunk = 0, 0
    for name, plans in families(predictions, decision.choice.why).items():
        trunk = row
        parts += [_branch(0, row, 0), _words(_INDENT + 4, row, name, is_bold=True)]
        first, row = row, row + 1
        for plan in plans:
            parts.append(_branch(_INDENT, row, first))
            parts.append(_plan(plan, row, most))
            row += 1
    parts.append(_path(f"M 4 0 V {_middle(trunk) - 4}"))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_STEP * row}" '
        f'font-family="sans-serif" font-size="12">{"".join(parts)}</svg>'
    )


def _plan(plan: Alternative, row: int, most: float) -> str:
    p = plan.prediction
    width = max(1, round((_WIDTH - _TEXT) * p.rows_per_second / most))
    label = f"{p.plan.describe()}: {plan.describe()}"
    return (
        f"<g><title>{escape(plan.sentence)}</title>"
        f"{_words(_TEXT, row, label, is_bold=plan.is_chosen)}"
        f'<rect x="{_TEXT}" y="{row * _STEP + 18}" width="{width}" height="{_BAR}" '
        f'fill="{_CHOSEN if plan.is_chosen else _REJECTED}"/></g>'
    )


def _words(x: int, row: int, text: str, *, is_bold: bool) -> str:
    weight = ' font-weight="bold"' if is_bold else ""
    return f'<text x="{x}" y="{_middle(row)}"{weight} fill="currentColor">{escape(text)}</text>'


def _branch(x: int, row: int, first: int) -> str:
    """A line from the trunk at x to a node, and the trunk from the node above it."""
    middle = _middle(row) - 4
    start = f"M {x + 4} {_middle(first) + 4 if x else middle} V {middle}"
    return _path(f"{start} H {x + 14}")


def _middle(row: int) -> int:
    return row * _STEP + 13


def _path(line: str) -> str:
    return f'<path d="{line}" fill="none" stroke="{_LINE}"/>'
