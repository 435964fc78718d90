from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from windrow.kernels.integer_index import IntegerIndex

int64s = st.integers(-3, 3) | st.integers(-(2**63), 2**63 - 1)


@given(st.lists(st.lists(int64s, max_size=30), max_size=5))
def test_codes_count_keys_in_order_of_appearance(batches: list[list[int]]) -> None:
    index = IntegerIndex()
    codes: dict[int, int] = {}
    for batch in batches:
        expected = [codes.setdefault(key, len(codes)) for key in batch]
        assert index.codes(np.array(batch, np.int64)).tolist() == expected
    assert index.keys.tolist() == list(codes)
    assert len(index) == len(codes)


def test_it_grows_within_a_batch_and_between_batches() -> None:
    index = IntegerIndex()
    keys = np.arange(5000) * 1_000_003 - 7
    assert index.codes(keys[:3000]).tolist() == list(range(3000))
    assert index.codes(keys[::-1]).tolist() == [
        *range(3000, 5000),
        *range(2999, -1, -1),
    ]
    np.testing.assert_array_equal(index.keys[:3000], keys[:3000])
    np.testing.assert_array_equal(index.keys[3000:], keys[:2999:-1])
