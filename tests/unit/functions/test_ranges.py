from __future__ import annotations

import numpy as np
import pytest

from windrow import functions as wf
from windrow.functions.columnar import Int64s
from windrow.functions.ranges import are_ordered, combine_ranges, reduce_ranges

SLIDING = np.array([0, 1, 2]), np.array([3, 4, 4])
BACKWARD = np.array([2, 0, 1]), np.array([4, 4, 3])


def test_landmark_windows_are_ordered_though_lo_jumps() -> None:
    assert are_ordered(np.array([0, 0, 0, 3, 3]), np.array([1, 2, 3, 4, 5]))
    assert not are_ordered(*BACKWARD)
    assert are_ordered(np.array([], dtype=np.int64), np.array([], dtype=np.int64))


@pytest.mark.parametrize(("lo", "hi"), [SLIDING, BACKWARD], ids=["sliding", "backward"])
def test_ranges_in_any_order_reduce_to_the_same(lo: Int64s, hi: Int64s) -> None:
    x = np.array([4, 1, 3, 5])
    windows = [x[a:b] for a, b in zip(lo, hi, strict=True)]
    assert reduce_ranges(x, lo, hi, "sum").tolist() == [w.sum() for w in windows]
    assert reduce_ranges(x, lo, hi, "min").tolist() == [w.min() for w in windows]
    assert reduce_ranges(x, lo, hi, "max").tolist() == [w.max() for w in windows]
    (youngest,) = combine_ranges(wf.collect("x"), (x,), lo, hi, lambda older, newer: newer, (0,))
    assert youngest.tolist() == [w[-1] for w in windows]
    (union,) = combine_ranges(wf.max("x"), (x,), lo, hi, lambda a, b: (a[0] | b[0],), (0,))
    assert union.tolist() == [np.bitwise_or.reduce(w) for w in windows]


def test_infinities_do_not_warn() -> None:
    x = np.array([np.inf, -np.inf])
    (total,) = combine_ranges(
        wf.sum("x"), (x,), np.array([0]), np.array([2]), lambda a, b: (a[0] + b[0],), (0.0,)
    )
    assert np.isnan(total).all()
