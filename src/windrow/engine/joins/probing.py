"""Probing: finds the pairs of two runs that are within the windows and meet the predicate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from windrow.core.decimals import wide_decimals
from windrow.engine.columns.arrays import Int64s
from windrow.engine.joins.candidates import Candidates
from windrow.engine.joins.runs import Run
from windrow.kernels.band_join import Probes, Targets, band_pairs

Pairs = tuple[Int64s, Int64s]
"""Positions in the left run and in the right run."""


def pairs_of(probe: Run, target: Run) -> Iterator[Pairs]:
    """The pairs of two runs of different sides, in blocks.

    By time these are all pairs within the windows. By count they are the pairs whose probe is the
    younger tuple; the others are found with the roles swapped.
    """
    on = probe.query.on
    n, size = probe.usable, target.usable
    near_lo, near_hi = _near(probe)
    lo, hi = near_lo, near_hi
    if on.ranged:
        lo, hi = on.ranged[0].bounds(probe.side, probe.values[:n])
    codes = None if probe.codes is None else probe.codes[:n]
    found = None if target.codes is None else target.codes[:size]
    probes = Probes(codes, lo, hi, near_lo, near_hi)
    targets = Targets(found, target.values[:size], target.places[:size])
    if len(on.ranged) > 1:
        term = on.ranged[1]
        more_lo, more_hi = term.bounds(probe.side, probe.columns.attribute(term)[:n])
        probes = replace(probes, more_lo=more_lo, more_hi=more_hi)
        targets = replace(targets, more=target.columns.attribute(term)[:size])
    for p, t in band_pairs(probes, targets):
        pairs = (p, t) if probe.side == 0 else (t, p)
        runs = (probe, target) if probe.side == 0 else (target, probe)
        left, right = _verified(*runs, pairs)
        if len(left):
            yield left, right


def _near(probe: Run) -> tuple[Int64s, Int64s]:
    """The range of the other side's places, inclusive, that each tuple can match."""
    lengths, n = probe.query.lengths, probe.usable
    back, ahead = lengths[1 - probe.side], lengths[probe.side]
    if probe.query.by_count:
        seen = probe.seen[:n]
        return seen - back, seen - 1
    return probe.places[:n] - back, probe.places[:n] + ahead


def _verified(left: Run, right: Run, pairs: Pairs) -> Pairs:
    """The candidates that meet every term of the predicate."""
    for term in left.query.on.verified:
        if len(pairs[0]) == 0:
            break
        with wide_decimals():
            mask = term.verify(
                Candidates(left.columns, term, pairs[0]), Candidates(right.columns, term, pairs[1])
            )
        if not mask.all():
            pairs = pairs[0][mask], pairs[1][mask]
    return pairs
