from __future__ import annotations

import random
from decimal import Context, Decimal

import numpy as np
import pytest

from windrow.kernels.columns import Column
from windrow.kernels.wide_integers import divide_wide, floats_of_wide, sum_wide_ranges

RANDOM = random.Random(1)
VALUES = [RANDOM.randrange(-(10 ** (i % 38)), 10 ** (i % 38) + 1) for i in range(200)]
VALUES += [10**38 - 1, 1 - 10**38, 0, -1, 2**64, -(2**64), 2**127 - 1, -(2**127)]


def wide(numbers: list[int], n_bytes: int = 16) -> Column:
    raw = b"".join(n.to_bytes(n_bytes, "little", signed=True) for n in numbers)
    return np.frombuffer(raw, f"V{n_bytes}")


def numbers_of(column: Column) -> list[int]:
    return [int.from_bytes(bytes(v), "little", signed=True) for v in column.tolist()]


def test_sums_are_exact_and_so_are_sums_of_sums() -> None:
    lo = np.array([RANDOM.randrange(len(VALUES)) for _ in range(100)])
    hi = np.array([RANDOM.randint(low, len(VALUES)) for low in lo])
    sums = sum_wide_ranges(wide(VALUES), lo, hi)
    exact = [sum(VALUES[low:high]) for low, high in zip(lo, hi, strict=True)]
    assert numbers_of(sums) == exact
    assert numbers_of(sum_wide_ranges(sums, [0, 7], [100, 7])) == [sum(exact), 0]


def test_nothing_has_no_sums() -> None:
    assert numbers_of(sum_wide_ranges(wide([]), [], [])) == []
    assert numbers_of(sum_wide_ranges(wide([]), [0], [0])) == [0]


def rounded(number: int, count: int, more: int, spare: int) -> int:
    """Rounded to the spare digits, then to the wanted ones, halves away from zero."""
    finest: int = (2 * abs(number) * 10 ** (more + spare) + count) // (2 * count)
    digits: int = (2 * finest + 10**spare) // (2 * 10**spare)
    return -digits if number < 0 else digits


@pytest.mark.parametrize("more", [0, 1, 4])
@pytest.mark.parametrize("spare", [1, 3, 18, 19, 39])
def test_quotients_are_rounded_twice_as_in_spark(more: int, spare: int) -> None:
    near_ties = [RANDOM.randrange(10**6) * 1001 + 500 for _ in range(30)]
    for count in (1, 2, 3, 1001, 2**33 + 1, 10**18 + 9):
        numbers = [*VALUES, *near_ties, 5, -5]
        counts = np.full(len(numbers), count)
        found = numbers_of(divide_wide(wide(numbers, 32), counts, more, spare))
        assert found == [rounded(n, count, more, spare) for n in numbers]


def test_quotient_of_nothing_is_zero() -> None:
    assert numbers_of(divide_wide(wide([7], 32), np.array([0]), 4, 19)) == [0]


@pytest.mark.parametrize("scale", [0, 1, 17, 38])
def test_floats_are_the_nearest_ones(scale: int) -> None:
    exactly = Context(prec=60)
    nearest = [float(exactly.scaleb(Decimal(n), -scale)) for n in VALUES]
    assert floats_of_wide(wide(VALUES), scale).tolist() == nearest
