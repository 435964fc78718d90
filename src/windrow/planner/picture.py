"""A decision as a picture for notebooks: the throughput that each plan is predicted to have."""

from __future__ import annotations

from html import escape

from windrow.planner.decision import Decision
from windrow.planner.predict import Prediction

_MOST_PLANS = 8
_WIDTH, _BAR, _STEP = 640, 14, 36
_CHOSEN, _REJECTED = "#2a7de1", "#b8c4d0"


def as_html(decision: Decision) -> str:
    """What will run and why as text, and the plans that were weighed as bars."""
    return f"<pre>{escape(decision.explain())}</pre>{as_svg(decision.predictions())}"


def as_svg(predictions: list[Prediction]) -> str:
    """One bar per plan, the chosen one first and in colour; what limits a plan is its tooltip."""
    shown = predictions[:_MOST_PLANS]
    most = max(p.rows_per_second for p in shown)
    height = _STEP * len(shown)
    bars = "".join(_bar(number, p, most) for number, p in enumerate(shown))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
        f'font-family="sans-serif" font-size="12">{bars}</svg>'
    )


def _bar(number: int, prediction: Prediction, most: float) -> str:
    top = number * _STEP
    width = max(1, round(_WIDTH * prediction.rows_per_second / most))
    label = f"{prediction.plan.describe()}: {prediction.rows_per_second / 1e6:.3g} M rows/s"
    return (
        f"<g><title>{escape(prediction.limit)}</title>"
        f'<text x="0" y="{top + 12}" fill="currentColor">{escape(label)}</text>'
        f'<rect x="0" y="{top + 16}" width="{width}" height="{_BAR}" '
        f'fill="{_REJECTED if number else _CHOSEN}"/></g>'
    )
