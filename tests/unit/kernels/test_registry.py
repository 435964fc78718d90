from __future__ import annotations

import numpy as np

from windrow.kernels.registry import REGISTRY, Algebra


def test_names_are_unique() -> None:
    names = [kernel.name for kernel in REGISTRY]
    assert len(names) == len(set(names))


def test_only_idempotent_functions_go_through_overlapping_runs() -> None:
    overlapping = [k for k in REGISTRY if Algebra.IDEMPOTENT in k.demands]
    assert {k.function for k in overlapping} == {"min", "max"}


def test_only_sums_are_subtracted() -> None:
    assert {k.function for k in REGISTRY if Algebra.INVERTIBLE in k.demands} == {"sum"}


def test_every_kernel_takes_what_it_says() -> None:
    for kernel in REGISTRY:
        for dtype in kernel.dtypes:
            values = np.ones(4, dtype=dtype)
            assert kernel.reduce(values, np.array([0, 1]), np.array([2, 4])).shape == (2,)
