"""M and E are inverse to each other: w is in M(t) if and only if t is in E(w)."""

from __future__ import annotations

import numpy as np
from hypothesis import given

import windrow as wr
from tests.streams import mapped_windows, times
from windrow.core import MappedWindow


@given(mapped_windows, times())
def test_tuple_is_in_exactly_the_windows_it_maps_to(model: MappedWindow, stream: list[int]) -> None:
    axis = np.array(stream, np.int64)
    position = np.arange(len(axis)) if isinstance(model, wr.CountWindow) else axis
    first, last = model.mapping(position)
    extents = model.extents(axis)

    by_mapping = {
        (int(w), i) for i in range(len(axis)) for w in range(int(first[i]), int(last[i]) + 1)
    }
    by_extent = {
        (int(w), i)
        for w, lo, hi in zip(extents.ids, extents.lo, extents.hi, strict=True)
        for i in range(lo, hi)
    }
    assert by_mapping == by_extent
