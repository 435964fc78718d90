"""The band join of sorted runs against the naive one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from windrow.kernels import band_join
from windrow.kernels.band_join import Probes, Targets, band_pairs


def naive(probes: Probes, targets: Targets) -> list[tuple[int, int]]:
    found = []
    for p in range(len(probes.lo)):
        for t in range(len(targets.values)):
            is_met = probes.lo[p] <= targets.values[t] <= probes.hi[p]
            is_met &= probes.near_lo[p] <= targets.places[t] <= probes.near_hi[p]
            if probes.codes is not None and targets.codes is not None:
                is_met &= probes.codes[p] == targets.codes[t]
            if targets.more is not None and probes.more_lo is not None:
                assert probes.more_hi is not None
                is_met &= probes.more_lo[p] <= targets.more[t] <= probes.more_hi[p]
            if is_met:
                found.append((p, t))
    return found


def given(rng: np.random.Generator, n: int, size: int, kind: Any, coded: bool, more: bool) -> Any:
    def sides(length: int) -> tuple[Any, Any]:
        codes = np.sort(rng.integers(0, 4, length)) if coded else None
        values = rng.integers(-20, 20, length).astype(kind)
        keys = (values,) if codes is None else (values, codes)
        return codes, values[np.lexsort(keys)]

    codes, values = sides(n)
    places = rng.integers(0, 10, n)
    seconds = rng.integers(0, 10, n).astype(kind)
    bounds = {"more_lo": seconds - 2, "more_hi": seconds + 2} if more else {}
    probes = Probes(codes, values - 3, values + 5, places - 4, places + 2, **bounds)
    own_codes, own = sides(size)
    extra = rng.integers(0, 10, size).astype(kind) if more else None
    return probes, Targets(own_codes, own, rng.integers(0, 10, size), extra)


@pytest.mark.parametrize("more", [False, True])
@pytest.mark.parametrize("coded", [False, True])
@pytest.mark.parametrize("kind", [np.int64, np.float64])
@pytest.mark.parametrize("block", [1, 7, 1 << 18])
def test_pairs_are_the_naive_ones(
    monkeypatch: pytest.MonkeyPatch, block: int, kind: Any, coded: bool, more: bool
) -> None:
    monkeypatch.setattr(band_join, "BLOCK", block)
    rng = np.random.default_rng(block)
    for n, size in [(0, 5), (5, 0), (1, 1), (7, 30), (40, 25)]:
        probes, targets = given(rng, n, size, kind, coded, more)
        blocks = list(band_pairs(probes, targets))
        assert all(0 < len(p) == len(t) <= block for p, t in blocks)
        found = [pair for p, t in blocks for pair in zip(p.tolist(), t.tolist(), strict=True)]
        assert found == naive(probes, targets)


def test_infinite_bounds_find_all() -> None:
    near = np.zeros(1, np.int64)
    probes = Probes(None, np.array([-np.inf]), np.array([np.inf]), near, near)
    targets = Targets(None, np.array([-np.inf, 0.0, np.inf]), np.zeros(3, np.int64))
    assert [t.tolist() for _, t in band_pairs(probes, targets)] == [[0, 1, 2]]
