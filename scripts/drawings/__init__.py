"""Pictures of the documentation, drawn from what the code does."""

from __future__ import annotations


def pictures() -> dict[str, str]:
    """All pictures by file name."""
    from scripts.drawings.stages import diagrams
    from scripts.drawings.timelines import timelines

    return {**timelines(), **diagrams()}
