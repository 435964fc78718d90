"""How many examples a property test draws."""

from __future__ import annotations

from hypothesis import settings

USUAL = 200
"""The examples of a test that does not say how many, in the profile ``ci``."""


def examples(n: int) -> settings:
    """``n`` examples in the profile ``ci``, in others fewer or more in proportion."""
    return settings(max_examples=max(1, n * settings().max_examples // USUAL))
