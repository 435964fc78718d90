"""Tuning runs plans on a sample and keeps the fastest."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import dataset as ds
from pyarrow import parquet as pq

import windrow as wr
from windrow import functions as wf
from windrow.api import in_threads, tuning
from windrow.planner.plans import Resources

TABLE = {"k": np.arange(200) % 3, "t": np.arange(200), "x": np.arange(200.0)}
QUERY: Any = (
    wr.stream(TABLE).key_by("k").event_time("t").window(wr.TimeWindow(20, 5)).agg(m=wf.median("x"))
)


@pytest.fixture
def four_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plans for four cores, of which the clock says that each is faster than the one before."""
    made = lambda *a, **k: Resources(4)  # noqa: E731
    monkeypatch.setattr(in_threads, "Resources", made)
    ticks = (10.0 * i - 0.1 * i * i for i in itertools.count())
    monkeypatch.setattr(tuning, "perf_counter", lambda: next(ticks))


def test_the_fastest_plan_is_used(four_cores: None) -> None:
    found = wr.tune(QUERY)
    table = found.tuning
    assert table is not None
    assert table["is_fastest"].to_pylist() == [True, False, False, False]
    assert table["seconds"].to_pylist() == sorted(table["seconds"].to_pylist())
    assert repr(found.pattern) == table["plan"][0].as_py()
    assert found.ordered().collect().equals(QUERY.ordered().collect())


def test_a_query_whose_own_plan_is_the_fastest_stays_as_it_is() -> None:
    found = wr.tune(QUERY)
    assert found == QUERY
    assert found.tuning is not None
    assert found.tuning["plan"].to_pylist() == ["WinSeq()"]


def test_empty_input_and_files_are_tuned_too(four_cores: None, tmp_path: Path) -> None:
    rows = pa.table(TABLE)
    pq.write_table(rows, tmp_path / "rows.parquet")
    for source in (rows.slice(0, 0), ds.dataset(tmp_path)):
        query = wr.stream(source).key_by("k").event_time("t").window(wr.TimeWindow(20, 5))
        found = wr.tune(query.agg(m=wf.median("x")))
        assert found.tuning is not None
        assert found.tuning["is_fastest"].to_pylist().count(True) == 1


def test_plans_run_on_the_sample(four_cores: None) -> None:
    seen = []

    def see(w: wr.Window) -> dict[str, int]:
        seen.append(int(w["x"].max()))
        return {"n": len(w)}

    sample = {name: values[:50] for name, values in TABLE.items()}
    query = QUERY.apply(see, "n bigint")
    wr.tune(query, sample)
    assert max(seen) == 49


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        ({"k": [1], "t": [1]}, "needs the query's columns: 'x' of double; got no such column"),
        ({"k": [1], "t": [1], "x": [1]}, "needs the query's columns: 'x' of double; got bigint"),
    ],
)
def test_a_sample_needs_the_columns_of_the_query(sample: Any, message: str) -> None:
    with pytest.raises(wr.WindrowError, match=message):
        wr.tune(QUERY, sample)


def test_a_join_is_tuned_by_its_layouts() -> None:
    join = wr.join(TABLE, TABLE, within=5, on=wr.equi("k"), time="t")
    with pytest.raises(wr.WindrowError, match="for joins, measure layouts with layout= or degree="):
        wr.tune(join)  # type: ignore[arg-type]


def test_only_window_queries_are_tuned() -> None:
    with pytest.raises(wr.WindrowError, match="tune takes a window query; got str"):
        wr.tune("x")  # type: ignore[arg-type]
