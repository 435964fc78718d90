"""Tuples that come with their ranks: each takes its place once all before it have come."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from windrow.core.errors import WindrowError
from windrow.core.models import IntervalWindow, WindowModel, over_ranks
from windrow.engine.columns.arrays import Int64s, sorting_order
from windrow.engine.columns.control import RANK
from windrow.engine.columns.key_table import KeyTable
from windrow.engine.windows.windower import Share
from windrow.kernels.columns import read_only
from windrow.kernels.given_ranks import follow_each_other, next_ranks_held

_RULE = "rank_by needs ranks 0, 1, 2, ... within a key, each once"
_HINT = "use order_by, which needs no ranks, or rank the rows again."


@dataclass(frozen=True)
class GivenRanks:
    """Tells tuples whose turn it is from those that wait for tuples of lower ranks.

    A worker that gets the tuples of its ``share`` of the windows waits for no others.
    """

    model: IntervalWindow
    share: Share

    @staticmethod
    def of(model: WindowModel, share: Share) -> GivenRanks:
        """For a model over ranks."""
        intervals = over_ranks(model)
        assert intervals is not None, model
        return GivenRanks(intervals, share)

    def split(
        self,
        tuples: pa.Table,
        codes: Int64s,
        count: Int64s,
        shifts: Int64s,
        keys: KeyTable,
        is_last: bool,
    ) -> tuple[pa.Table, pa.Table]:
        """The tuples that take their place now, and those that wait; at the end, none may wait.

        ``count`` has one more than each key's last rank. A worker that gets all tuples of a key,
        even those in no window, gives NOT_SHARED for its shift.
        """
        ranks = read_only(np.asarray(tuples[RANK].to_numpy()))
        share, model = self.share, self.model
        windows = shifts, share.hosted, share.batch, model.length, model.slide
        following = next_ranks_held(count, *windows)
        passes, again = follow_each_other(codes, ranks, following.copy(), *windows)
        if not passes.all() and again < 0:
            order = sorting_order([codes, ranks])
            passes[order], at = follow_each_other(
                codes[order], read_only(ranks[order]), following, *windows
            )
            again = int(order[at]) if at >= 0 else at
        if again >= 0:
            raise _refused(f"{ranks[again]} again", keys, int(codes[again]))
        if passes.all():
            return tuples, tuples.slice(0, 0)
        waiting = np.flatnonzero(~passes)
        if is_last:
            first = waiting[np.argmin(ranks[waiting])]
            got = f"{ranks[first]}, but not {following[codes[first]]}"
            raise _refused(got, keys, int(codes[first]))
        return tuples.filter(pa.array(passes)), tuples.take(pa.array(waiting))


def _refused(got: str, keys: KeyTable, code: int) -> WindrowError:
    return WindrowError(f"{_RULE}; key {keys.value(code)!r}", got, _HINT)
