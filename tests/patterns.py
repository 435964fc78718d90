"""Random pattern trees that a window model and a function allow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from hypothesis import strategies as st

import windrow as wr
from windrow.core import Context, WindowModel
from windrow.patterns import Pattern
from windrow.patterns.setting import Place

degrees = st.integers(1, 4)
levels = st.sampled_from([0, 1, 2])
PLACES = st.sampled_from(get_args(Place))


@st.composite
def patterns(
    draw: st.DrawFn,
    model: WindowModel,
    is_decomposable: bool,
    keys: Sequence[object] = (None, "a", "b", "e"),
) -> Pattern:
    """Every legal tree up to depth 2, with wide panes and chains; ``keys`` may be split as hot."""
    inner: list[st.SearchStrategy[Pattern]] = [st.just(wr.WinSeq())]
    if is_decomposable:
        inner.append(st.builds(wr.WinMapReduce, degrees, degrees, level=levels))
        if model.pane_length is not None:
            kinds = st.sampled_from(["active", "agnostic"])
            inner.append(st.builds(wr.PaneFarm, degrees, degrees, level=levels, workers=kinds))
    body, batch = st.one_of(inner), st.integers(1, 3)
    whole = body.filter(lambda pattern: not isinstance(pattern, wr.PaneFarm))
    farms: list[st.SearchStrategy[Pattern]] = [
        st.builds(wr.KeyFarm, degrees, body, level=levels),
        st.builds(wr.WinFarm, degrees, whole, st.just("agnostic"), batch=batch, level=levels),
    ]
    hot_keys = st.lists(st.sampled_from(keys), min_size=1, unique=True)
    executors = st.builds(wr.WinFarm, degrees, whole, st.just("agnostic"), batch=batch)
    hot = executors | body.filter(lambda pattern: not isinstance(pattern, wr.WinSeq))
    n = draw(degrees)
    if model.context is Context.CF:
        farms.append(st.builds(wr.WinFarm, degrees, body, batch=batch, level=levels))
        hot |= st.builds(wr.WinFarm, st.just(n), batch=batch)
    farms.append(st.builds(wr.KeyFarm, st.just(n), level=levels, hot_keys=hot_keys, hot=hot))
    found: Pattern = draw(st.one_of(body, *farms))
    return found
