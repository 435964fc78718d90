"""The partials of every (key, pane), in a dense table or a sparse one, equal naive recompute."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import examples
from tests.naive_ranges import EMPTY, NAIVE, assert_same
from tests.ranges import special_floats
from windrow.kernels.pane_reduce import reduce_panes

matrix_settings = examples(80)


@pytest.mark.parametrize("n_keys", [4, 10**9, 2**50], ids=["dense", "sparse", "huge"])
@matrix_settings
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 3), st.integers(-(2**40), 2**40), special_floats, st.booleans()),
        max_size=40,
    ),
    spread=st.sampled_from([1, 2**20, 2**38]),
    length=st.integers(1, 10),
    origin=st.integers(-5, 5),
)
def test_panes_equal_naive_recompute(
    n_keys: int,
    rows: list[tuple[int, int, float, bool]],
    spread: int,
    length: int,
    origin: int,
) -> None:
    keys = np.array([row[0] for row in rows], dtype=np.int64)
    times = np.array([row[1] // spread for row in rows], dtype=np.int64)
    values = np.array([row[2] for row in rows], dtype=np.float64)
    valid = np.array([row[3] for row in rows], dtype=np.bool_)
    batch = reduce_panes(
        keys,
        times,
        values,
        n_keys=n_keys,
        length=length,
        origin=origin,
        valid=valid,
        wanted=["sum", "min", "max"],
    )
    cells: dict[tuple[int, int], list[int]] = {}
    for i, (key, time) in enumerate(zip(keys.tolist(), times.tolist(), strict=True)):
        cells.setdefault((key, (time - origin) // length), []).append(i)
    assert list(zip(batch.keys.tolist(), batch.panes.tolist(), strict=True)) == sorted(cells)
    for c, cell in enumerate(sorted(cells)):
        members = cells[cell]
        window = [float(values[i]) for i in members if valid[i]]
        assert (batch.rows[c], batch.counts[c]) == (len(members), len(window))
        results = {"sum": batch.sums, "min": batch.minima, "max": batch.maxima}
        for function, column in results.items():
            assert column is not None
            scale = 1e-12 * math.fsum(abs(v) for v in window if math.isfinite(v))
            expected = NAIVE[function](window) if window else EMPTY[function, "f"]
            assert_same(float(column[c]), expected, scale if function == "sum" else 0.0)
