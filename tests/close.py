"""Comparison of results: floats nearly, all else exactly."""

from __future__ import annotations

import math
from typing import Any


def assert_close(got: Any, expected: Any) -> None:
    """Integers and text exactly, floats to 1e-9 relative (to the values' size near zero)."""
    if isinstance(expected, dict):
        assert got.keys() == expected.keys()
        for name in expected:
            assert_close(got[name], expected[name])
    elif isinstance(expected, list | tuple):
        assert len(got) == len(expected)
        for g, e in zip(got, expected, strict=True):
            assert_close(g, e)
    elif isinstance(expected, float) and got is not None:
        assert math.isclose(got, expected, rel_tol=1e-9, abs_tol=1e-9) or got != got != expected
    else:
        assert got == expected
