"""Tuples reduced to partials of panes; the values expected are written down."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

import windrow as wr
from windrow import functions as wf
from windrow.engine.columns.control import PIECE, ROWS, TIME
from windrow.engine.evaluate.pane_reduction import PaneReduction, Panes, ReducedToPanes
from windrow.engine.stages.routes import ByKey
from windrow.engine.window_query import WindowQuery

# Panes of 10 from 5 on: [-5, 5) is -1, [5, 15) is 0, [15, 25) is 1.
TUPLES: dict[str, Any] = {
    "k": ["a", "b", "a", "a", "b", "a"],
    TIME: [14, 5, 15, 4, 24, 5],
    "x": [3, None, 7, None, -2, 1],
    "y": [0.5, 1.5, float("nan"), 2.0, None, -4.0],
    "s": ["p", None, None, "q", "r", "s"],
}
CODES = np.array([0, 1, 0, 0, 1, 0])


def tuples() -> pa.Table:
    return pa.table({**TUPLES, "x": pa.array(TUPLES["x"], pa.int32())})


def query(**functions: Any) -> WindowQuery:
    named = tuples().rename_columns(["k", "t", "x", "y", "s"])
    windowed = wr.stream(named).key_by("k").event_time("t").window(wr.TimeWindow(20, 10, 5))
    return windowed.agg(**functions).window_query()


def columns_of(panes: Panes) -> dict[str, list[Any]]:
    return {name: np.asarray(stored.values).tolist() for name, stored in panes.columns.items()}


def test_partials_are_in_order_of_key_and_pane() -> None:
    panes = PaneReduction(query(n=wf.count()), 10, 5).over(tuples(), CODES, 2, TIME)
    assert panes.codes.tolist() == [0, 0, 0, 1, 1]
    assert panes.panes.tolist() == [-1, 0, 1, 0, 1]
    assert panes.rows.tolist() == [1, 2, 1, 1, 1]
    assert columns_of(panes) == {"n#0": [1, 2, 1, 1, 1]}


def test_nulls_are_in_no_partial() -> None:
    reduction = PaneReduction(query(n=wf.count("x"), total=wf.sum("x")), 10, 5)
    found = columns_of(reduction.over(tuples(), CODES, 2, TIME))
    assert found["n#0"] == [0, 2, 1, 0, 1]
    assert found["total#0"] == found["n#0"]
    assert found["total#1"] == [0, 4, 7, 0, -2]


def test_columns_of_any_type_are_counted() -> None:
    reduction = PaneReduction(query(n=wf.count("s")), 10, 5)
    assert columns_of(reduction.over(tuples(), CODES, 2, TIME)) == {"n#0": [1, 2, 0, 0, 1]}


def test_extremes_of_floats_have_nan_as_the_greatest() -> None:
    reduction = PaneReduction(query(low=wf.min("y"), high=wf.max("y")), 10, 5)
    found = columns_of(reduction.over(tuples(), CODES, 2, TIME))
    assert found["low#0"] == found["high#0"] == [1, 2, 1, 1, 0]
    assert found["low#1"][:2] == [2.0, -4.0]
    assert found["high#1"][:2] == [2.0, 0.5]
    assert np.isnan(found["low#1"][2]) and np.isnan(found["high#1"][2])


def test_means_of_integers_are_summed_as_floats() -> None:
    """The sum of the same column as int64 would overflow."""
    most = 2**63 - 1
    table = pa.table({"k": ["a", "a"], TIME: [0, 1], "x": [most, most]})
    named = table.rename_columns(["k", "t", "x"])
    windowed = wr.stream(named).key_by("k").event_time("t").window(wr.TimeWindow(20, 10))
    both = windowed.agg(mean=wf.mean("x"), total=wf.sum("x")).window_query()
    panes = PaneReduction(both, 10, 0).over(table, np.zeros(2, np.int64), 1, TIME)
    assert columns_of(panes) == {
        "mean#0": [2],
        "mean#1": [2.0**64],
        "mean#1.lost": [0.0],
        "total#0": [2],
        "total#1": [-2],
    }


def test_panes_by_order_go_on_where_the_last_batch_stopped() -> None:
    """Key a has had one tuple, b four: panes of two tuples."""
    reduction = PaneReduction(query(n=wf.count(), total=wf.sum("x")), 2, 0)
    panes = reduction.over_order(tuples(), CODES, np.array([1, 4]), np.array([4, 2]))
    assert panes.codes.tolist() == [0, 0, 0, 1]
    assert panes.panes.tolist() == [0, 1, 2, 2]
    assert panes.rows.tolist() == [1, 2, 1, 2]
    assert columns_of(panes)["total#1"] == [3, 7, 1, -2]


def test_emitters_send_the_partials_of_each_key_to_its_worker() -> None:
    route = ReducedToPanes(query(n=wf.count(), high=wf.max("x")), 10, 5, TIME, ByKey(("k",), 3))
    assert route.n == 3
    parts = route.targets(tuples(), 0)
    sent = [row for part in parts for row in part.to_pylist()]
    a, b = ([row for row in sent if row["k"] == key] for key in "ab")
    assert [row[PIECE] for row in a] == [-1, 0, 1]
    assert [row[ROWS] for row in a] == [1, 2, 1]
    assert [row["high#1"] for row in a][1:] == [3, 7]
    assert [(row[PIECE], row["n#0"], row["high#0"]) for row in b] == [(0, 1, 0), (1, 1, 1)]
    assert sum(any(k == "a" for k in part["k"].to_pylist()) for part in parts) == 1


def test_emitters_send_the_same_partials_for_strings_and_for_their_codes() -> None:
    route = ReducedToPanes(query(total=wf.sum("x")), 10, 5, TIME, ByKey(("k",), 3))
    names = pa.array(["a", "b", None, "a", "b", None])
    codes = pa.DictionaryArray.from_arrays(
        pa.array([3, 1, None, 3, 1, None]), pa.array(list("xbxa"))
    )
    plain, encoded = (
        [part.sort_by([("k", "ascending"), (PIECE, "ascending")]) for part in route.targets(t, 0)]
        for t in (tuples().set_column(0, "k", keys) for keys in (names, codes))
    )
    assert encoded == plain
