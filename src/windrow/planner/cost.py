"""The papers' cost terms in closed form, one function each.

All of them are pure numbers: shares, factors, and times in the unit of what they are given.
"""

from __future__ import annotations

import math
from statistics import NormalDist


def key_farm_limit(p_max: float) -> float:
    """The speedup that key partitioning cannot exceed (De Matteis 2016, section 3.2).

    >>> key_farm_limit(0.16)
    6.25
    """
    return 1 / p_max


def largest_share(n: int, keys: float, p_max: float) -> float:
    """The share of the rows that the busiest of n workers gets if keys are hashed to them.

    It is at least what the worker of the most frequent key has, which also gets 1/n of the others.
    And the share of a worker varies by sqrt(sum of p^2 (1 - 1/n) / n); the greatest of n shares is
    about as many times that above 1/n as Blom's formula says.

    >>> largest_share(4, 1, 1.0), largest_share(1, 1000, 0.5)
    (1.0, 1.0)
    >>> round(largest_share(2, 1e9, 0.5), 3), round(largest_share(2, 500, 0.002), 3)
    (0.75, 0.513)
    """
    if n == 1 or keys <= 1:
        return 1.0
    squares = p_max**2 + (1 - p_max) ** 2 / max(1.0, keys - 1)
    deviation = math.sqrt(squares * (1 - 1 / n) / n)
    uneven = 1 / n + deviation * NormalDist().inv_cdf((n - 0.375) / (n + 0.25))
    hot = p_max + (1 - p_max) / n
    return min(1.0, max(hot, uneven, key_share(keys)))


def key_share(keys: float) -> float:
    """The least share that the most frequent of some keys can have."""
    return 1 / max(1.0, keys)


def partition_imbalance(n: int, keys: float, p_max: float) -> float:
    """How many times its fair share the busiest worker of a key farm has.

    >>> round(partition_imbalance(2, 1e9, 0.5), 3)
    1.5
    """
    return n * largest_share(n, keys, p_max)


def makespan(work: float, share: float, n: int, cores: int) -> float:
    """How long n workers take on some cores, if the busiest one has this share of the work.

    No schedule is shorter than the busiest worker, or than all work spread over all cores. Of more
    workers than cores, the busiest one begins when its turn comes: on average, when half of the
    others are done.

    >>> makespan(8.0, 0.25, 2, 2), makespan(8.0, 0.75, 2, 2), makespan(8.0, 1.0, 1, 2)
    (4.0, 6.0, 8.0)
    >>> round(makespan(8.0, 0.6, 8, 2), 2)
    5.6
    """
    if n <= cores:
        return work * max(share, 1 / n)
    rounds = math.ceil(n / cores)
    even = max(1 / cores, rounds * min(share, (1 - share) / (n - 1)))
    others = (1 - share) / cores
    if others <= 0:
        return work
    # It ends at share + turn * others; turns up to this one do not delay the last task.
    turn = min(max((even - share) / others, 0.0), 1.0)
    late = 1 - turn
    return work * (turn * even + late * share + others * (1 - turn**2) / 2)


def share_of_partition(n: int, share: float, partitions: int) -> float:
    """The share of the work of the busiest partition, if n workers are spread over fewer of them.

    ``share`` is that of the busiest worker, which has the work of its neighbours beside it.

    >>> share_of_partition(8, 0.125, 2), share_of_partition(8, 1.0, 2)
    (0.5, 1.0)
    """
    neighbours = math.ceil(n / partitions) - 1
    return share + neighbours * (1 - share) / (n - 1)


def pane_gain(panes_per_window: float, t_g: float, t_h: float) -> float:
    """How much work panes save: (r T_G + T_H) / (T_G + T_H) (De Matteis 2016, section 3.3).

    T_G is the time of a pane, T_H that of combining the r panes of a window. It approaches r as
    T_H approaches 0.

    >>> pane_gain(10, 1.0, 0.0), pane_gain(10, 0.0, 1.0)
    (10.0, 1.0)
    """
    return (panes_per_window * t_g + t_h) / (t_g + t_h)


def multicast(n: int, windows_per_row: float, batch: int = 1) -> float:
    """To how many of n workers a window farm sends a row (De Matteis 2016, section 3.1).

    A row lies in some consecutive windows, and batches of consecutive windows go to one worker.

    >>> multicast(4, 2.0), multicast(4, 100.0), multicast(4, 5.0, batch=4), multicast(4, 0.5)
    (2.0, 4.0, 2.0, 0.5)
    """
    if windows_per_row <= 1:
        return windows_per_row
    return min(float(n), (windows_per_row + batch - 1) / batch)


def windows_share(n: int, windows: float) -> float:
    """The share of the windows that the busiest of n workers gets if they are dealt in turn.

    >>> windows_share(4, 1000.0), windows_share(4, 1.0)
    (0.25, 1.0)
    """
    return min(1.0, math.ceil(windows / n) / max(1.0, windows)) if windows < 64 * n else 1 / n


def farm_share(n: int, keys: float, p_max: float, batches: float) -> float:
    """The share of the work that the busiest of n workers of a window farm gets.

    The windows of a key are dealt in turn, in batches, from the worker on that its hash names. Keys
    with one batch are hashed, as in a key farm; the more batches the most frequent key has, the
    more evenly it is spread.

    >>> farm_share(2, 1, 1.0, 1), farm_share(2, 1, 1.0, 4), farm_share(2, 1000, 0.5, 1000)
    (1.0, 0.5, 0.5)
    >>> round(farm_share(2, 1e9, 0.5, 1), 2), round(farm_share(2, 1e9, 0.5, 3), 2)
    (0.75, 0.58)
    """
    if n == 1:
        return 1.0
    hashed = largest_share(n, keys, p_max) - 1 / n
    return 1 / n + hashed * (windows_share(n, batches) - 1 / n) / (1 - 1 / n)


def rows_sent_per_window(rows: float, rows_apart: float, batch: float = 1) -> float:
    """How many rows a windower sends per window, if batches of windows share theirs.

    >>> rows_sent_per_window(100, 10), rows_sent_per_window(100, 10, batch=10)
    (100.0, 19.0)
    """
    return (rows + (batch - 1) * min(rows, rows_apart)) / batch


def share_of_filled(rows: float) -> float:
    """The share of windows or panes with at least one row, if they have this many on average.

    Rows are taken to come independently of each other.

    >>> round(share_of_filled(0.1), 3), round(share_of_filled(10), 3)
    (0.095, 1.0)
    """
    return -math.expm1(-rows)


def joined_pairs(
    rates: tuple[float, float], windows: tuple[float, float], seconds: float, hits: float
) -> float:
    """The pairs that a join finds in some seconds (DP-Join, equation 3).

    ``windows`` are the rows in both windows, ``hits`` is the share of pairs that match: p.

    >>> joined_pairs((10, 20), (100, 200), 2, 0.5)
    4000.0
    """
    (x, y), (w_x, w_y) = rates, windows
    return (x * seconds * w_y + y * seconds * w_x) * hits


def greatest_bandwidth(
    rates: tuple[float, float], windows: tuple[float, float], hits: float
) -> float:
    """The pairs per second that a join gives if it keeps up (DP-Join, equation 4).

    >>> greatest_bandwidth((10, 20), (100, 200), 0.5)
    2000.0
    """
    return joined_pairs(rates, windows, 1, hits)


def join_scalability(bandwidth: float, of_one: float) -> float:
    """How many times the bandwidth of one worker some workers have (DP-Join, equation 5).

    >>> join_scalability(12.0, 4.0)
    3.0
    """
    return bandwidth / of_one


def offered_bandwidth(workers: int, t_on: float, hits: float) -> float:
    """The pairs per second that m x n workers can give (DP-Join, equation 6).

    ``t_on`` is the time that the predicate takes per pair, in seconds.

    >>> offered_bandwidth(4, 0.5, 0.25)
    2.0
    """
    return workers / t_on * hits


def optimal_degree(rates: tuple[float, float], windows: tuple[float, float], t_on: float) -> int:
    """N_opt: the fewest workers that reach the greatest bandwidth (DP-Join, section 3.3.3).

    >>> optimal_degree((10, 20), (100, 200), 0.001)
    4
    """
    hits = 1.0
    greatest, of_one = greatest_bandwidth(rates, windows, hits), offered_bandwidth(1, t_on, hits)
    return max(1, math.ceil(join_scalability(greatest, of_one)))


def latency_of_side(other_window: float, parts: int, t_on: float) -> float:
    """The mean latency of a side's rows, if the other window is in some parts (equation 7).

    >>> latency_of_side(100, 4, 0.5)
    6.25
    """
    return other_window * t_on / (2 * parts)


def join_latency(
    layout: tuple[int, int],
    rates: tuple[float, float],
    windows: tuple[float, float],
    t_on: float,
) -> float:
    """The mean latency of an m x n layout (DP-Join, equations 8 and 9).

    A left row meets 1/n of the right window, a right row 1/m of the left one.

    >>> join_latency((2, 2), (1, 1), (100, 100), 0.5)
    12.5
    """
    (m, n), (x, y), (w_x, w_y) = layout, rates, windows
    left = latency_of_side(w_y, n, t_on)
    right = latency_of_side(w_x, m, t_on)
    return (x * left + y * right) / (x + y)
