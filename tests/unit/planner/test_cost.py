"""The papers' cost terms, against numbers worked out by hand or printed in the papers."""

from __future__ import annotations

import random

import numpy as np
import pytest

from windrow.planner import cost
from windrow.planner.replay import makespan_of


def test_a_key_farm_scales_up_to_one_over_p_max() -> None:
    # De Matteis 2016, section 5: with p_max = 16 % the scalability is limited to 6.25.
    assert cost.key_farm_limit(0.16) == 6.25
    for n in (2, 8, 64, 1024):
        speedup = 1 / cost.largest_share(n, 10**6, 0.16)
        assert speedup <= cost.key_farm_limit(0.16)
    assert 1 / cost.largest_share(1024, 10**6, 0.16) == pytest.approx(6.25, rel=0.01)


@pytest.mark.parametrize(("n", "keys"), [(2, 10), (2, 500), (4, 100), (16, 1000)])
def test_the_imbalance_of_hashed_keys_is_that_of_balls_in_bins(n: int, keys: int) -> None:
    draw = random.Random(1)
    greatest = []
    for _ in range(400):
        bins = [0] * n
        for _ in range(keys):
            bins[draw.randrange(n)] += 1
        greatest.append(max(bins) / keys)
    mean = sum(greatest) / len(greatest)
    assert cost.largest_share(n, keys, 1 / keys) == pytest.approx(mean, rel=0.06)
    assert cost.partition_imbalance(n, keys, 1 / keys) == pytest.approx(mean * n, rel=0.06)


def test_one_key_makes_one_busy_worker() -> None:
    assert cost.largest_share(8, 1, 1.0) == 1.0
    assert cost.partition_imbalance(8, 1, 1.0) == 8.0


def test_pane_farming_gains_r_t_g_plus_t_h_over_t_g_plus_t_h() -> None:
    # De Matteis 2016, section 5: T_G is about 1500 us and T_H about 20 us.
    assert cost.pane_gain(10, 1500, 20) == pytest.approx((10 * 1500 + 20) / 1520)
    assert cost.pane_gain(1, 1500, 20) == 1.0


def test_a_window_farm_sends_a_row_to_every_worker_with_a_window_of_it() -> None:
    # De Matteis 2016, Figure 2: three workers, windows of three tuples that slide by two.
    assert cost.multicast(3, 3 / 2) == 1.5
    assert cost.multicast(3, 100) == 3
    assert cost.multicast(3, 0.1) == 0.1


def test_batches_of_windows_need_fewer_copies() -> None:
    copies = [cost.multicast(8, 10, batch) for batch in (1, 2, 10, 100)]
    assert copies == [8, 5.5, 1.9, 1.09]


def test_few_windows_cannot_keep_many_workers_busy() -> None:
    assert cost.windows_share(4, 6) == pytest.approx(2 / 6)
    assert cost.windows_share(4, 10**6) == 0.25


def test_the_busiest_worker_or_the_cores_decide_how_long_it_takes() -> None:
    assert cost.makespan(100, 1 / 8, 8, 2) == pytest.approx(50, rel=0.01)
    assert cost.makespan(100, 0.75, 2, 2) == 75
    assert cost.makespan(100, 1.0, 1, 16) == 100


@pytest.mark.parametrize(
    ("n", "share", "cores"),
    [(8, 0.125, 2), (8, 0.3, 2), (8, 0.5625, 2), (16, 0.53, 4), (3, 0.4, 2)],
)
def test_the_busiest_of_many_workers_begins_when_its_turn_comes(
    n: int, share: float, cores: int
) -> None:
    draw = random.Random(1)
    tasks = [share] + [(1 - share) / (n - 1)] * (n - 1)
    found = []
    for _ in range(1000):
        draw.shuffle(tasks)
        found.append(makespan_of(tasks, cores))
    assert cost.makespan(1, share, n, cores) == pytest.approx(sum(found) / 1000, rel=0.05)


@pytest.mark.parametrize("batches", [1, 2, 3, 5, 64])
@pytest.mark.parametrize(("n", "skew"), [(2, 0.5), (2, 0.16), (4, 0.5), (8, 0.3)])
def test_a_window_farm_deals_the_batches_of_each_key_in_turn(
    n: int, skew: float, batches: int
) -> None:
    draw = random.Random(1)
    rest = (1 - skew) / 1000
    greatest = []
    for _ in range(100):
        load = [0.0] * n
        for weight in (skew, *[rest] * 1000):
            first = draw.randrange(n)
            for i in range(batches):
                load[(first + i) % n] += weight / batches
        greatest.append(max(load))
    mean = sum(greatest) / len(greatest)
    assert cost.farm_share(n, 1001, skew, batches) == pytest.approx(mean, rel=0.08)


def test_panes_without_rows_do_not_count() -> None:
    assert cost.share_of_filled(1e-6) == pytest.approx(1e-6)
    assert cost.share_of_filled(50) == pytest.approx(1)


SYMMETRIC = (2100.0, 2100.0)
"""The rates of DP-Join, Figure 6, with windows of 300 seconds."""
WINDOWS = (2100.0 * 300, 2100.0 * 300)


def test_equation_3_counts_joined_pairs() -> None:
    assert cost.joined_pairs((2, 3), (20, 30), 5, 0.1) == pytest.approx((2 * 30 + 3 * 20) * 0.5)


def test_equation_4_is_the_greatest_bandwidth() -> None:
    x, y = SYMMETRIC
    assert cost.greatest_bandwidth(SYMMETRIC, WINDOWS, 1e-6) == pytest.approx(2 * x * y * 300e-6)


def test_equation_5_is_the_scalability() -> None:
    one, four = (cost.offered_bandwidth(n, 1e-9, 1e-6) for n in (1, 4))
    assert cost.join_scalability(four, one) == 4


def test_equation_6_is_the_offered_bandwidth_of_any_layout() -> None:
    assert cost.offered_bandwidth(6, 2e-9, 0.01) == pytest.approx(6 * 0.01 / 2e-9)


def test_n_opt_is_the_least_degree_that_reaches_the_greatest_bandwidth() -> None:
    # Figure 6: seven workers suffice. One offers about 1550 of 10,300 tuples per second.
    t_on, hits = 2.6e-9, 1e-6
    degree = cost.optimal_degree(SYMMETRIC, WINDOWS, t_on)
    assert degree == 7
    needed = cost.greatest_bandwidth(SYMMETRIC, WINDOWS, hits)
    assert cost.offered_bandwidth(degree, t_on, hits) >= needed
    assert cost.offered_bandwidth(degree - 1, t_on, hits) < needed


def test_equation_7_is_the_latency_of_a_side() -> None:
    assert cost.latency_of_side(1000, 4, 1e-3) == pytest.approx(0.125)


def test_equation_8_weighs_the_latencies_of_both_sides() -> None:
    left, right = cost.latency_of_side(30, 3, 1), cost.latency_of_side(10, 2, 1)
    expected = (1 * left + 3 * right) / 4
    assert cost.join_latency((2, 3), (1, 3), (10, 30), 1) == pytest.approx(expected)


def test_equation_9_prefers_the_square_layout_at_equal_rates() -> None:
    layouts = [(1, 16), (2, 8), (4, 4)]
    found = [cost.join_latency(at, SYMMETRIC, WINDOWS, 1e-9) for at in layouts]
    by_hand = [WINDOWS[0] * 1e-9 * (m + n) / (4 * m * n) for m, n in layouts]
    assert found == pytest.approx(by_hand)
    assert found[2] == min(found)


@pytest.mark.parametrize("keys", [1, 10, 1000])
def test_the_most_frequent_key_has_at_least_its_fair_share(keys: int) -> None:
    counts = np.bincount(np.random.default_rng(keys).integers(0, keys, 10_000), minlength=keys)
    assert cost.key_share(keys) == 1 / keys <= counts.max() / counts.sum()
    assert cost.key_share(0) == 1


@pytest.mark.parametrize(("rows", "apart", "batch"), [(100, 10, 1), (100, 10, 10), (5, 8, 4)])
def test_windows_of_a_batch_send_the_rows_they_share_once(
    rows: int, apart: int, batch: int
) -> None:
    windows = [set(range(i * apart, i * apart + rows)) for i in range(batch)]
    sent = len(set.union(*windows))
    assert cost.rows_sent_per_window(rows, apart, batch) == pytest.approx(sent / batch)


@pytest.mark.parametrize(("n", "share", "partitions"), [(8, 0.3, 4), (8, 0.125, 2), (12, 0.5, 5)])
def test_the_busiest_worker_shares_its_partition_with_its_neighbours(
    n: int, share: float, partitions: int
) -> None:
    """Other workers have equal shares of the rest, and every partition has as many of them."""
    workers = [share, *[(1 - share) / (n - 1)] * (n - 1)]
    width = -(-n // partitions)
    held = [sum(workers[at : at + width]) for at in range(0, n, width)]
    found = cost.share_of_partition(n, share, partitions)
    assert found == pytest.approx(held[0]) == pytest.approx(max(held))


def test_a_worker_with_a_partition_of_its_own_keeps_its_share() -> None:
    assert cost.share_of_partition(4, 0.4, 4) == 0.4
    assert cost.share_of_partition(2, 0.9, 8) == 0.9
