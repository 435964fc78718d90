from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from windrow.kernels.segmented_scan import Partials, combine_across, scan_segments


def join(a: Partials, b: Partials) -> Partials:
    """Concatenation of strings: associative, and any other order shows."""
    return (a[0] + b[0],)


def letters(text: str) -> Partials:
    return (np.array(list(text), dtype=object),)


#   opens    |     |  |           |
#   letters  a  b  c  d  e  f  g  h
@pytest.mark.parametrize(
    ("text", "opens", "expected"),
    [
        ("abcdefgh", "10110001", ["a", "ab", "c", "d", "de", "def", "defg", "h"]),
        ("abc", "100", ["a", "ab", "abc"]),
        ("abc", "111", ["a", "b", "c"]),
        ("a", "1", ["a"]),
        ("", "", []),
    ],
)
def test_each_segment_is_scanned_from_left_to_right(
    text: str, opens: str, expected: list[str]
) -> None:
    flags = np.array([f == "1" for f in opens], dtype=np.bool_)
    assert scan_segments(letters(text), flags, join)[0].tolist() == expected


def test_the_first_segment_needs_no_mark() -> None:
    opens = np.array([False, False, True])
    assert scan_segments(letters("abc"), opens, join)[0].tolist() == ["a", "ab", "c"]


def test_range_is_combined_across_its_anchor_in_order() -> None:
    #   a b c d e f      anchors at 2 and 5
    #     [---)
    #       [-----)      anchored where it starts
    #         [-----)
    opens = np.array([False, False, True, False, False, True])
    lo, hi, anchor = np.array([1, 2, 3]), np.array([3, 5, 6]), np.array([2, 2, 5])
    results = combine_across(letters("abcdef"), lo, hi, anchor, opens, join)
    assert results[0].tolist() == ["bc", "cde", "def"]


def test_scan_spends_linear_work_in_logarithmic_calls() -> None:
    calls: list[int] = []

    def add(a: Partials, b: Partials) -> Partials:
        calls.append(len(a[0]))
        return (a[0] + b[0],)

    opens = np.zeros(1 << 12, dtype=np.bool_)
    values: Any = np.arange(1 << 12)
    assert (scan_segments((values,), opens, add)[0] == np.cumsum(values)).all()
    assert len(calls) == 2 * 12
    assert sum(calls) < 2 << 12
