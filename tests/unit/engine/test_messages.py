"""What is unpacked is what was packed, and it is short on its way."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.engine.stages.messages import pack, unpack

LEAST, MOST = -(2**63), 2**63 - 1
longs = st.integers(LEAST, MOST) | st.integers(-300, 300) | st.sampled_from([LEAST, MOST, 2**32])


@given(st.lists(longs | st.none(), max_size=20), st.booleans())
def test_integers_of_every_size(values: list[int | None], is_ascending: bool) -> None:
    column = pa.array(values, pa.int64())
    if is_ascending:
        column = column.drop_null().sort()
    table = pa.table({"a": column, "b": ["x"] * len(column)})
    assert unpack(pack(table)).equals(table)


@pytest.mark.parametrize(
    ("values", "most"),
    [
        (np.arange(1_000_000_000, 1_000_100_000), 1),
        (np.arange(0, 30_000_000, 300), 2),
        (np.tile(np.arange(200), 500), 1),
        (np.arange(100_000)[::-1], 4),
    ],
)
def test_long_integers_are_held_as_short_as_they_fit(values: np.ndarray, most: int) -> None:
    packed = pack(pa.table({"a": values}))
    assert len(packed) <= most * len(values) + 1000
    assert np.array_equal(unpack(packed)["a"].to_numpy(), values)
