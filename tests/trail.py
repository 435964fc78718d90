"""A custom aggregate whose result depends on the order of tuples."""

from __future__ import annotations

import windrow as wr


class Trail(wr.Aggregate[str, str, str]):
    """The values one after the other."""

    returns = "string"

    def lift(self, value: str) -> str:
        return value

    def combine(self, a: str, b: str) -> str:
        return a + b

    def lower(self, partial: str) -> str:
        return partial
