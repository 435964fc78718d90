from __future__ import annotations

import numpy as np

from windrow.kernels.hashing import hash_bytes, hash_integers, mix


def zeros(n: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    return np.zeros(n, np.uint64)


def test_mix_is_splitmix64() -> None:
    # The first two numbers of the reference generator with seed 0.
    assert int(mix(np.uint64(0))) == 0xE220A8397B1DCDAF
    assert int(mix(np.uint64(0x9E3779B97F4A7C15))) == 0x6E789E6AA1B965F4


def test_a_hash_does_not_depend_on_the_other_values() -> None:
    values = np.array([5, -1, 5, 2**62], np.int64)
    hashes = hash_integers(values, zeros(4))
    assert hashes[0] == hashes[2]
    assert len(set(hashes.tolist())) == 3
    assert hash_integers(values[3:], zeros(1))[0] == hashes[3]


def test_the_seed_changes_the_hash() -> None:
    values = np.array([7, 7], np.int64)
    assert len(set(hash_integers(values, np.array([0, 1], np.uint64)).tolist())) == 2


def test_bytes_are_hashed_between_their_offsets() -> None:
    data = np.frombuffer(b"xabcab", np.uint8)
    hashes = hash_bytes(np.array([1, 3, 3, 4, 6]), data, zeros(4))  # ab, nothing, c, ab
    assert hashes[0] == hashes[3]
    assert len(set(hashes.tolist())) == 3


def test_no_values_give_no_hashes() -> None:
    assert len(hash_integers(np.zeros(0, np.int64), zeros(0))) == 0
    assert len(hash_bytes(np.zeros(1, np.int64), np.zeros(0, np.uint8), zeros(0))) == 0


def test_consecutive_keys_spread_over_workers() -> None:
    hashes = hash_integers(np.arange(4000), zeros(4000))
    for n in (2, 3, 7):
        loads = np.bincount((hashes % np.uint64(n)).astype(np.int64), minlength=n)
        assert loads.min() > 0.8 * 4000 / n
