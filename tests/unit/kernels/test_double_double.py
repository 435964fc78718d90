from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction

import pytest

from windrow.kernels.double_double import add, as_pairs, divide, multiply

RANDOM = random.Random(5)
PAIRS = [
    (high, high * RANDOM.uniform(-1, 1) * 2.0**-54)
    for high in (RANDOM.uniform(-1, 1) * 10.0 ** RANDOM.randint(-20, 20) for _ in range(60))
]


@pytest.mark.parametrize(
    ("operation", "exact"),
    [
        (add, lambda a, b: a + b),
        (multiply, lambda a, b: a * b),
        (divide, lambda a, b: a / b),
    ],
)
def test_operations_are_exact_to_31_digits(
    operation: Callable[..., tuple[float, float]], exact: Callable[[Fraction, Fraction], Fraction]
) -> None:
    for a in PAIRS:
        for b in PAIRS:
            high, low = operation(*a, *b)
            expected = exact(sum(map(Fraction, a)), sum(map(Fraction, b)))  # type: ignore[arg-type]
            assert high == high + low
            assert abs(Fraction(high) + Fraction(low) - expected) <= abs(expected) * 10**-30


def test_integers_become_pairs_without_loss() -> None:
    integers = [0, 1, -1, 2**53 + 1, 2**62 + 3, 2**63 - 1, -(2**63), -(2**63) + 1]
    high, low = as_pairs(integers)
    pairs = zip(high.tolist(), low.tolist(), strict=True)
    assert [int(a) + int(b) for a, b in pairs] == integers
