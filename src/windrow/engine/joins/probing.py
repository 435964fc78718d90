"""Probing: the pairs of two runs that are near each other and meet the predicate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.core.predicates import Band
from windrow.engine.columns.arrays import Int64s
from windrow.engine.joins.attributes import Mask
from windrow.engine.joins.candidates import Candidates, call_theta
from windrow.engine.joins.runs import Run, is_exact
from windrow.kernels.band_join import Probes, Targets, band_pairs
from windrow.kernels.columns import Column

Pairs = tuple[Int64s, Int64s]
"""Positions in the left run and in the right run."""

_INT64 = np.iinfo(np.int64)
_SLACK = 2.0**-50
"""Above the rounding of a sum or a difference, relative to its terms."""


def pairs_of(probe: Run, target: Run) -> Iterator[Pairs]:
    """The pairs of two runs of different sides, in blocks.

    By time these are all pairs within the windows. By count they are those in which the probe is
    the younger, which sees the target: the others are found with the roles changed.
    """
    query = probe.query
    n, size = probe.usable, target.usable
    near_lo, near_hi = _near(probe)
    lo, hi = near_lo, near_hi
    if query.on.bands:
        lo, hi = band_bounds(query.on.bands[0], probe.side, probe.values[:n])
    codes = None if probe.codes is None else probe.codes[:n]
    found = None if target.codes is None else target.codes[:size]
    probes = Probes(codes, lo, hi, near_lo, near_hi)
    targets = Targets(found, target.values[:size], target.places[:size])
    if len(query.on.bands) > 1:
        bounds = band_bounds(query.on.bands[1], probe.side, probe.band(1)[:n])
        probes = replace(probes, more_lo=bounds[0], more_hi=bounds[1])
        targets = replace(targets, more=target.band(1)[:size])
    for p, t in band_pairs(probes, targets):
        pairs = (p, t) if probe.side == 0 else (t, p)
        runs = (probe, target) if probe.side == 0 else (target, probe)
        left, right = _verified(*runs, pairs)
        if len(left):
            yield left, right


def _near(probe: Run) -> tuple[Int64s, Int64s]:
    """The places of the other side that each tuple of a run is near to."""
    lengths, n = probe.query.lengths, probe.usable
    back, ahead = lengths[1 - probe.side], lengths[probe.side]
    if probe.query.by_count:
        seen = probe.seen[:n]
        return seen - back, seen - 1
    return probe.places[:n] - back, probe.places[:n] + ahead


def band_bounds(band: Band, side: int, values: Column) -> tuple[Column, Column]:
    """Between which values of the other side a match of each value lies.

    Exact for integers. Of floats a little wider, for ``r - l`` is rounded: they are verified.
    """
    below, above = (band.below, band.above) if side == 0 else (band.above, band.below)
    if values.dtype.kind == "i":
        return _shifted(values, -_whole(below)), _shifted(values, _whole(above))
    with np.errstate(invalid="ignore", over="ignore"):
        lo = values - below - _SLACK * (np.abs(values) + abs(below))
        hi = values + above + _SLACK * (np.abs(values) + abs(above))
    return np.where(np.isnan(lo), -np.inf, lo), np.where(np.isnan(hi), np.inf, hi)


def _whole(extent: float) -> int:
    """The greatest integer within an extent of a band of integers."""
    if np.isinf(extent):
        return 2**64 if extent > 0 else -(2**64)
    return int(np.floor(extent)) if isinstance(extent, float) else extent


def _shifted(values: Int64s, by: int) -> Int64s:
    """Integers plus a number, no further than int64 goes."""
    if by > _INT64.max or by < _INT64.min:
        return np.full(len(values), _INT64.max if by > 0 else _INT64.min)
    if by >= 0:
        return np.where(values > _INT64.max - by, _INT64.max, values + by)
    return np.where(values < _INT64.min - by, _INT64.min, values + by)


def _verified(left: Run, right: Run, pairs: Pairs) -> Pairs:
    """Of candidates those that meet every part of the predicate."""
    query = left.query
    if not is_exact(query):
        for i in range(len(query.on.equis)):
            pairs = _kept(pairs, _equal(left.equi(i), right.equi(i), pairs))
    for i, (band, kind) in enumerate(zip(query.on.bands, query.band_kinds, strict=True)):
        if i > 0 or kind == pa.float64():
            pairs = _kept(pairs, _in_band(band, left.band(i)[pairs[0]], right.band(i)[pairs[1]]))
    for theta in query.on.thetas:
        if len(pairs[0]):
            blocks = _block(left, pairs[0]), _block(right, pairs[1])
            pairs = _kept(pairs, call_theta(theta, *blocks, len(pairs[0])))
    return pairs


def _kept(pairs: Pairs, mask: Mask) -> Pairs:
    return pairs if mask.all() else (pairs[0][mask], pairs[1][mask])


def _equal(left: pa.ChunkedArray, right: pa.ChunkedArray, pairs: Pairs) -> Mask:
    a, b = left.take(pa.array(pairs[0])), right.take(pa.array(pairs[1]))
    equal = np.asarray(pc.equal(a, b))
    if pa.types.is_floating(a.type):
        equal = equal | (np.asarray(pc.is_nan(a)) & np.asarray(pc.is_nan(b)))
    return equal


def _in_band(band: Band, left: Column, right: Column) -> Mask:
    if left.dtype.kind == "i":
        lo, hi = band_bounds(band, 0, left)
        return (lo <= right) & (right <= hi)
    with np.errstate(invalid="ignore", over="ignore"):
        difference = right - left
    return (-band.below <= difference) & (difference <= band.above)


def _block(run: Run, positions: Int64s) -> Candidates:
    names = run.query.schemas[run.side].names
    return Candidates(run.side, names, lambda column: run.show(column, positions))
