from __future__ import annotations

import pytest

from windrow.kernels.panes import as_keys, assign_panes


#   time   -20      -10        0        10
#   pane    |   -2   |   -1    |    0    |
def test_pane_of_a_negative_time_starts_before_it() -> None:
    assert assign_panes([-20, -11, -10, -1, 0, 9, 10], length=10).tolist() == [
        -2,
        -2,
        -1,
        -1,
        0,
        0,
        1,
    ]


def test_origin_moves_the_panes() -> None:
    assert assign_panes([2, 3, 12, 13], length=10, origin=3).tolist() == [-1, 0, 0, 1]


@pytest.mark.parametrize("length", [0, -5])
def test_length_must_be_positive(length: int) -> None:
    with pytest.raises(ValueError, match=f"must be positive; got length={length}"):
        assign_panes([1], length=length)


def test_times_must_be_whole_numbers() -> None:
    with pytest.raises(TypeError, match="whole numbers; got dtype=float64"):
        assign_panes([0.5], length=1)


@pytest.mark.parametrize("keys", [[0, 3], [-1, 0]])
def test_keys_outside_the_table_are_refused(keys: list[int]) -> None:
    with pytest.raises(ValueError, match=r"must be in \[0, 3\)"):
        as_keys(keys, n_keys=3)
