"""The vectorised extents of every model give the oracle's windows."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.streams import models, times
from windrow.core import WindowModel, oracle


@given(models, times())
def test_extents_are_the_oracles_windows(model: WindowModel, stream: list[int]) -> None:
    rows = [{"t": t, "d": t, "i": i} for i, t in enumerate(stream)]
    expected = [
        (w.id, w.start, w.end, [r["i"] for r in w.rows])
        for w in oracle.windows(model, rows, time="t")
    ]
    extents = model.extents(np.array(stream, np.int64))
    columns: Any = (extents.ids, extents.start, extents.end, extents.lo, extents.hi)
    got = [
        (w, start, end, list(range(lo, hi))) for w, start, end, lo, hi in zip(*columns, strict=True)
    ]
    assert got == expected


@given(
    st.lists(st.floats(-50, 50), max_size=30).map(sorted), st.floats(0.01, 9), st.floats(0.01, 9)
)
def test_delta_windows_over_floats(deltas: list[float], length: float, slide: float) -> None:
    model = wr.DeltaWindow("d", length, slide)
    rows = [{"d": d} for d in deltas]
    expected = [(w.id, w.start, len(w.rows)) for w in oracle.windows(model, rows)]
    extents = model.extents(np.array(deltas))
    sizes = extents.hi - extents.lo
    assert list(zip(extents.ids, extents.start, sizes, strict=True)) == expected
