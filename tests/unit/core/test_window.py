from __future__ import annotations

import numpy as np
import pytest

import windrow as wr


def test_window_shows_columns_key_id_and_bounds() -> None:
    w = wr.Window({"x": np.arange(3)}, key=("a", 1), id=7, start=0, end=9)
    assert (len(w), w.id, w.key, w.start, w.end, w.columns) == (3, 7, ("a", 1), 0, 9, ("x",))
    assert repr(w) == "Window(id=7, key=('a', 1), [0, 9), 3 rows)"


def test_unknown_column_hints_at_near_names() -> None:
    w = wr.Window({"price": np.arange(3)}, key=None, id=0, start=0, end=3)
    with pytest.raises(wr.WindrowError, match="did you mean one of these columns: \\['price'\\]"):
        w["prise"]
