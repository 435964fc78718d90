"""The load of hot keys, and that of all other keys."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from windrow.planner.cost import key_share
from windrow.planner.load import Load


def divided(load: Load, hot_keys: Collection[Any], *, by_rank: bool) -> tuple[Load, Load]:
    """The load of these keys, and that of the others as if there were no hot ones.

    By rank, a key has windows by its rows. If time tells them, it has as many as any other key, of
    more rows each. The function takes as long as its rows, whoever has them.
    """
    named = dict(load.hot_keys)
    shares = [named.pop(key, load.skew) for key in hot_keys]
    share, n_hot = min(1.0, sum(shares)), min(float(len(shares)), load.keys)
    rest, n_rest = max(1e-9, 1.0 - share), max(1.0, load.keys - n_hot)
    greatest = max([key_share(n_rest), *(other / rest for other in named.values())])
    of_hot = share if by_rank else n_hot / load.keys
    of_rest = rest if by_rank else n_rest / load.keys
    hot = _part(load, share, of_hot, n_hot, max(shares) / max(share, 1e-9))
    return hot, _part(load, rest, of_rest, n_rest, greatest)


def _part(load: Load, of_rows: float, of_windows: float, keys: float, skew: float) -> Load:
    """A share of the rows, and a share of the windows and panes, of some keys."""
    longer, windows = of_rows / of_windows, load.windows * of_windows
    return replace(
        load,
        rows=load.rows * of_rows,
        keys=keys,
        skew=min(1.0, skew),
        windows=windows,
        windows_of_hot_key=windows / keys,
        rows_per_window=load.rows_per_window * longer,
        rows_apart=load.rows_apart * longer,
        panes=load.panes * of_windows,
        rows_per_pane=load.rows_per_pane * longer,
        per_window=load.per_window * longer,
        hot_keys=(),
    )
