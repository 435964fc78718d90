from __future__ import annotations

import numpy as np

from windrow.kernels.count_tree import (
    add_to_maxima,
    add_to_sums,
    find_by_sum,
    find_maximum,
    follow,
    level_starts,
)


def test_levels_shrink_by_the_fanout() -> None:
    assert level_starts(64).tolist() == [0, 64]
    assert level_starts(65).tolist() == [0, 65, 67]
    assert level_starts(64 * 64 + 1).tolist() == [0, 4097, 4097 + 65, 4097 + 65 + 2]


def test_positions_are_found_across_three_levels() -> None:
    starts = level_starts(10_000)
    tree = np.zeros(starts[-1], dtype=np.int64)
    for rank in (9_999, 0, 4_096, 4_096, 63, 64):
        add_to_sums(tree, starts, rank, 1)
    add_to_sums(tree, starts, 63, -1)
    assert [find_by_sum(tree, starts, p) for p in range(5)] == [0, 64, 4_096, 4_096, 9_999]


def test_maximum_falls_when_its_only_holder_does() -> None:
    starts = level_starts(10_000)
    tree = np.zeros(starts[-1], dtype=np.int64)
    for rank in (5_000, 5_000, 5_000, 70, 70, 9_000, 9_000):
        add_to_maxima(tree, starts, rank, 1)
    assert find_maximum(tree, starts) == 5_000
    add_to_maxima(tree, starts, 5_000, -1)
    assert find_maximum(tree, starts) == 70
    add_to_maxima(tree, starts, 70, -1)
    assert find_maximum(tree, starts) == 5_000


def test_histogram_follows_a_range_in_every_direction() -> None:
    ranks = np.array([0, 1, 1, 2, 0, 2])
    starts = level_starts(3)
    tree = np.zeros(starts[-1], dtype=np.int64)
    low, high, present = 0, 0, 0
    for new_low, new_high in [(0, 3), (2, 5), (1, 4), (5, 6), (0, 2), (0, 6), (3, 3)]:
        present += follow(ranks, tree, starts, False, low, high, new_low, new_high)
        low, high = new_low, new_high
        assert tree.tolist() == [list(ranks[low:high]).count(rank) for rank in range(3)]
        assert present == len(set(ranks[low:high].tolist()))
