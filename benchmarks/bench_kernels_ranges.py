"""The cost of the range kernels, which does not grow with length/slide.

Run with ``python -m benchmarks.bench_kernels_ranges``. Every output is checked against naive
recomputation before anything is timed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windrow.engine.columns.storage import as_wide
from windrow.kernels.block_scan import scan_ranges, scan_ranges_with
from windrow.kernels.order_statistics import (
    count_distinct_ranges,
    mode_ranges,
    quantile_ranges,
)
from windrow.kernels.pane_reduce import PanePartials, Wanted, reduce_panes
from windrow.kernels.polynomial_fit import fit_ranges
from windrow.kernels.prefix_difference import sum_ranges
from windrow.kernels.skyline import skyline
from windrow.kernels.skyline_ranges import skyline_ranges
from windrow.kernels.sparse_table import overlapping_ranges
from windrow.kernels.wide_integers import sum_wide_ranges, words_of

NAIVE: dict[str, Callable[[NDArray[Any]], Any]] = {
    "sum": np.sum,
    "min": np.min,
    "max": np.max,
    "median": np.median,
    "quantile(0.9)": lambda window: np.quantile(window, 0.9),
    "mode": lambda window: np.unique(window)[np.argmax(np.unique_counts(window).counts)],
    "count_distinct": lambda window: len(np.unique(window)),
}


Reduce = Callable[[NDArray[Any], NDArray[np.int64], NDArray[np.int64]], NDArray[Any]]

KERNELS: dict[tuple[str, str], Reduce] = {
    ("prefix_difference", "sum"): sum_ranges,
    ("block_scan", "sum"): partial(scan_ranges, operator="add"),
    ("block_scan", "min"): partial(scan_ranges, operator="min"),
    ("block_scan", "max"): partial(scan_ranges, operator="max"),
    ("overlapping_sparse_table", "min"): partial(overlapping_ranges, operator="min"),
    ("overlapping_sparse_table", "max"): partial(overlapping_ranges, operator="max"),
    ("order_statistics", "median"): lambda x, lo, hi: quantile_ranges(x, lo, hi, [0.5])[:, 0],
    ("order_statistics", "quantile(0.9)"): lambda x, lo, hi: quantile_ranges(x, lo, hi, [0.9])[
        :, 0
    ],
    ("order_statistics", "mode"): mode_ranges,
    ("order_statistics", "count_distinct"): count_distinct_ranges,
}


def best_of(repeats: int, *runs: Callable[[], object]) -> list[float]:
    """The shortest time of each run in seconds; runs alternate after a round to warm up."""
    shortest = [math.inf] * len(runs)
    for repeat in range(repeats + 1):
        for r, run in enumerate(runs):
            start = perf_counter()
            run()
            if repeat:
                shortest[r] = min(shortest[r], perf_counter() - start)
    return shortest


def sliding(n_windows: int, length: int, slide: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The bounds of ``n_windows`` consecutive windows of this length and slide."""
    lo = np.arange(n_windows) * slide
    return lo, lo + length


def check(function: str, reduce: Reduce, values: NDArray[Any], length: int, slide: int) -> None:
    """Compare 20 windows of the kernel with naive recompute."""
    lo, hi = sliding((len(values) - length) // slide + 1, length, slide)
    results = reduce(values, lo, hi)
    for r in np.linspace(0, len(lo) - 1, 20).astype(np.int64):
        expected = NAIVE[function](values[lo[r] : hi[r]])
        np.testing.assert_allclose(results[r], expected, rtol=1e-9, err_msg=function)


def bench_ranges(n_windows: int, slide: int, rng: np.random.Generator) -> None:
    """Time equal output at length/slide = 10 and 1000."""
    print(f"{n_windows:,} windows, slide {slide}: length/slide = 10, then 1000")
    n = (n_windows + 1000) * slide
    columns = {"int64": rng.integers(0, 1000, n), "float64": rng.normal(10, 1, n).round(3)}
    for (algorithm, function), reduce in KERNELS.items():
        for dtype, values in sorted(columns.items()):
            runs = []
            for ratio in (10, 1000):
                check(function, reduce, values[: 2000 * slide], ratio * slide, slide)
                lo, hi = sliding(n_windows, ratio * slide, slide)
                runs.append(partial(reduce, values[: (n_windows + ratio) * slide], lo, hi))
            seconds = best_of(7, *runs)
            report(f"{algorithm}:{function} {dtype}", n_windows * slide, *seconds)


def report(label: str, n: int, few: float, many: float) -> None:
    """Print one line: both times, their ratio and tuples per second."""
    ratio = f"{many / few:5.2f}x"
    print(
        f"  {label:36} {few * 1e3:8.2f} ms {many * 1e3:8.2f} ms {ratio} {n / many / 1e6:8.1f} M/s"
    )


def bench_decimals(n_windows: int, slide: int, rng: np.random.Generator) -> None:
    """Time sums of decimals, in 256 bits, against sums of int64."""
    n = (n_windows + 1000) * slide
    whole = rng.integers(-(10**9), 10**9, n)
    decimals = as_wide(whole)
    lo, hi = sliding(n_windows, 10 * slide, slide)
    words = words_of(sum_wide_ranges(decimals, lo, hi)).view(np.int64)
    np.testing.assert_array_equal(words[:, 0], sum_ranges(whole, lo, hi))
    np.testing.assert_array_equal(words[:, 1:], np.repeat(words[:, :1] >> 63, 3, axis=1))
    runs = []
    for ratio in (10, 1000):
        bounds = sliding(n_windows, ratio * slide, slide)
        some = slice((n_windows + ratio) * slide)
        runs.append(partial(sum_wide_ranges, decimals[some], *bounds))
        runs.append(partial(sum_ranges, whole[some], *bounds))
    few, plain, many, plain_of_many = best_of(7, *runs)
    report("wide_integers:sum decimal", n_windows * slide, few, many)
    print(f"  {few / plain:.1f} and {many / plain_of_many:.1f} times sums of int64")


def bench_generic(n_windows: int, slide: int, rng: np.random.Generator) -> None:
    """Time the block scan of a NumPy function: mean and variance in three columns."""
    n = (n_windows + 1000) * slide
    partials = (np.ones(n), rng.normal(0, 1, n), np.zeros(n))

    def chan(a: tuple[NDArray[Any], ...], b: tuple[NDArray[Any], ...]) -> tuple[NDArray[Any], ...]:
        count, apart = a[0] + b[0], b[1] - a[1]
        part = b[0] / count
        return count, a[1] + apart * part, a[2] + b[2] + apart * apart * a[0] * part

    lo, hi = sliding(n_windows, 10 * slide, slide)
    _, mean, spread = scan_ranges_with(partials, lo, hi, chan, (0.0, 0.0, 0.0))
    window = partials[1][lo[-1] : hi[-1]]
    np.testing.assert_allclose([mean[-1], spread[-1] / len(window)], [window.mean(), window.var()])
    few, many = best_of(
        3,
        *(
            partial(scan_ranges_with, partials, lo, lo + ratio * slide, chan, (0, 0, 0))
            for ratio in (10, 1000)
        ),
    )
    report("block_scan:variance (NumPy)", n_windows * slide, few, many)


def check_panes(batch: PanePartials, code: NDArray[np.int64], values: NDArray[np.int64]) -> None:
    """Compare pane partials with NumPy's sort-based ones; code orders keys, then panes."""
    order = np.argsort(code, kind="stable")
    _, starts, counts = np.unique(code[order], return_index=True, return_counts=True)
    np.testing.assert_array_equal(batch.rows, counts)
    np.testing.assert_array_equal(batch.sums, np.add.reduceat(values[order], starts))
    np.testing.assert_array_equal(batch.maxima, np.maximum.reduceat(values[order], starts))


def bench_panes(n: int, rng: np.random.Generator) -> None:
    """Time count, sum and max of 100 keys in panes of 10 ms, with one tuple per microsecond."""
    keys = rng.integers(0, 100, n).astype(np.int32)
    times = np.sort(rng.integers(0, n, n))
    values = rng.integers(0, 1000, n)
    wanted: set[Wanted] = {"sum", "max"}
    print(f"pane_reduce, {n:,} tuples, 100 keys: count, sum, max")
    for label, instants, length in (
        ("panes of 10 ms, in order of time", times, 10_000),
        ("10 ms, disorder of 3 ms", times + rng.integers(-3_000, 3_000, n), 10_000),
        ("10 ms, shuffled", rng.permutation(times), 10_000),
        ("1 us: sparse, one cell per tuple", times, 1),
    ):
        panes = instants // length
        code = (keys * (np.ptp(panes) + 1) + panes - panes.min()).astype(np.int64)
        run = partial(reduce_panes, keys, instants, values, n_keys=100, length=length)
        check_panes(run(wanted=wanted), code, values)
        print(
            f"  {label:36} {n / best_of(3, partial(run, wanted=wanted))[0] / 1e6:8.1f} M tuples/s"
        )


def broadcast_skyline(points: NDArray[np.float64]) -> NDArray[np.int64]:
    """The skyline by comparing all pairs at once, in NumPy."""
    older, newer = points[:, None, :], points[None, :, :]
    dominates = (older <= newer).all(axis=2) & (older < newer).any(axis=2)
    return np.flatnonzero(~dominates.any(axis=0))


def bench_skyline(rng: np.random.Generator) -> None:
    """Time the skyline against NumPy, and sliding skylines against one skyline per window."""
    points = rng.random((3_000, 6))
    np.testing.assert_array_equal(skyline(points), broadcast_skyline(points))
    fast, slow = best_of(3, lambda: skyline(points), lambda: broadcast_skyline(points))
    print(f"skyline, 3,000 points of 6 dimensions: {fast * 1e3:.2f} ms, {slow / fast:.0f}x NumPy")

    lo, hi = sliding(1_000, 3_000, 10)
    stream = rng.random((13_000, 6))
    members, bounds = skyline_ranges(stream, lo, hi)
    for r in (0, 500, 999):
        expected = lo[r] + skyline(stream[lo[r] : hi[r]])
        np.testing.assert_array_equal(members[bounds[r] : bounds[r + 1]], expected)
    shared, alone = best_of(
        1,
        lambda: skyline_ranges(stream, lo, hi),
        lambda: [skyline(stream[a:b]) for a, b in zip(lo, hi, strict=True)],
    )
    print(
        f"skyline_ranges, 1,000 windows of 3,000, slide 10: {shared * 1e3:.0f} ms; "
        f"one by one {alone * 1e3:.0f} ms"
    )


def bench_fit(rng: np.random.Generator) -> None:
    """Time cubic fits of windows of 1,000 quotes against numpy.polyfit."""
    x, y = np.arange(60_000) / 1_000.0, np.cumsum(rng.normal(0, 1, 60_000))
    lo, hi = sliding(1_000, 1_000, 25)
    fitted = fit_ranges(x, y, lo, hi, 3)
    for r in (0, 500, 999):
        at = x[lo[r] : hi[r]]
        nearest = np.polynomial.Polynomial.fit(at, y[lo[r] : hi[r]], 3)
        np.testing.assert_allclose(np.polynomial.Polynomial(fitted[r])(at), nearest(at), rtol=1e-6)
    fast, slow = best_of(
        1,
        lambda: fit_ranges(x, y, lo, hi, 3),
        lambda: [np.polyfit(x[a:b], y[a:b], 3) for a, b in zip(lo, hi, strict=True)],
    )
    print(
        f"fit_ranges, 1,000 cubics over 1,000 points: {fast * 1e3:.1f} ms, {slow / fast:.1f}x NumPy"
    )


def main() -> None:
    """Check and time every kernel."""
    rng = np.random.default_rng(1)
    bench_ranges(100_000, 10, rng)
    bench_decimals(100_000, 10, rng)
    bench_generic(100_000, 10, rng)
    bench_panes(10_000_000, rng)
    bench_skyline(rng)
    bench_fit(rng)


if __name__ == "__main__":
    main()
