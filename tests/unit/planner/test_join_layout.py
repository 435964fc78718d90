"""Which grid a join runs on."""

from __future__ import annotations

import json
import math
from typing import Any

import pyarrow as pa
import pytest

import windrow as wr
from windrow.engine.joins.grid import Grid
from windrow.engine.joins.join_query import JoinQuery
from windrow.planner import cost
from windrow.planner.join_cost import JoinLoad, predict_grid
from windrow.planner.join_layout import (
    choose_grid,
    choose_stream_grid,
    stream_degree,
)

SCHEMA = pa.schema([("a", pa.float64()), ("k", pa.int64())])
THETA = wr.theta(lambda x, y: x["a"] < y["a"])


def query(on: wr.Predicate) -> JoinQuery:
    table = SCHEMA.empty_table()
    return wr.join(table, table, within=1, on=on).query


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"layout": (2, 3)}, Grid(2, 3)),
        ({"layout": (2, 3), "degree": 6}, Grid(2, 3)),
        ({"layout": "square", "degree": 9}, Grid(3, 3)),
        ({"layout": "square", "cores": 8}, Grid(2, 2)),
        ({"layout": "linear", "degree": 4}, Grid(1, 4)),
        ({"layout": "linear", "degree": 4, "rates": (9, 1)}, Grid(4, 1)),
        ({"layout": "rectangular", "degree": 15, "rates": (1000, 3000)}, Grid(3, 5)),
        ({"cores": 16}, Grid(4, 4)),
        ({"cores": 4, "rates": (1, 100)}, Grid(1, 4)),
        ({"cores": 4, "rates": (100, 1)}, Grid(4, 1)),
        ({"cores": 7}, Grid(1, 7)),
        ({}, Grid()),
    ],
)
def test_any_predicate_runs_on_a_grid(given: dict[str, Any], expected: Grid) -> None:
    assert choose_grid(query(THETA), **given).grid == expected


@pytest.mark.parametrize(
    ("on", "given", "expected"),
    [
        (wr.equi("k"), {"cores": 4}, Grid(partitions=4, by=(0,))),
        (wr.equi("k") & THETA, {"degree": 3}, Grid(partitions=3, by=(0,))),
        (wr.band(a=1), {"cores": 4}, Grid(partitions=4, by=(0,), has_copies=True)),
        (wr.band(a=0) & wr.band(k=2), {"cores": 4}, Grid(partitions=4, by=(1,), has_copies=True)),
        (wr.band(a=1) & wr.equi("k", "a"), {"cores": 4}, Grid(partitions=4, by=(1, 2))),
        (wr.band(a=float("inf")), {"cores": 4}, Grid(2, 2)),
        (wr.equi("k"), {"layout": (2, 2)}, Grid(2, 2)),
        (wr.equi("k"), {"layout": (1, 2), "partitions": 3}, Grid(1, 2, 3, by=(0,))),
        (wr.equi("k"), {"partitions": 2, "degree": 8}, Grid(2, 2, 2, by=(0,))),
        (wr.equi("k"), {"partitions": 4}, Grid(partitions=4, by=(0,))),
    ],
)
def test_equalities_and_bands_are_partitioned_first(
    on: wr.Predicate, given: dict[str, Any], expected: Grid
) -> None:
    assert choose_grid(query(on), **given).grid == expected


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"layout": (0, 2)}, "layout rows must be a positive number of workers; got rows=0"),
        ({"layout": (2, 2.5)}, "layout columns must be a positive number"),
        ({"layout": (2,)}, r"layout must be \(m, n\) or one of"),
        ({"layout": "round"}, r"layout must be \(m, n\) or one of .*; got layout='round'"),
        ({"layout": "square", "degree": 6}, "square number of workers; got 6.\nHint: use 4 or 9"),
        ({"layout": (2, 2), "degree": 6}, "must equal the degree; got 1 x 2 x 2 with degree=6"),
        ({"degree": 0}, "degree must be a positive number of workers; got degree=0"),
        ({"degree": True}, "degree must be a positive number"),
        (
            {"partitions": 2},
            "partitions need a term that can partition rows, such as an equi or a finite band",
        ),
    ],
)
def test_what_is_wrong_is_said(given: dict[str, Any], message: str) -> None:
    with pytest.raises(wr.WindrowError, match=message):
        choose_grid(query(THETA), **given)


def over(seconds: int, on: wr.Predicate = THETA) -> JoinQuery:
    table = pa.table({"a": [1.0], "k": [1], "t": [1]})
    return wr.join(table, table, within=f"{seconds} s", on=on, time="t").query


@pytest.mark.parametrize(
    ("seconds", "rates", "degree"),
    [(300, (100, 100), 1), (300, (1000, 1000), 4), (300, (2100, 2100), 16), (60, (1e6, 1e6), 64)],
)
def test_a_stream_has_as_many_workers_as_keep_up_with_its_rates(
    seconds: int, rates: tuple[float, float], degree: int
) -> None:
    assert stream_degree(over(seconds), rates) == degree


def test_a_stream_whose_rates_are_unknown_has_the_usual_workers() -> None:
    assert stream_degree(over(300), None) == 8
    assert stream_degree(over(300, wr.equi("k")), None) == 8


def test_a_partitioned_stream_has_as_many_workers_as_keep_up_with_its_rows() -> None:
    """A partition holds few candidates for a row, however many rows the windows hold."""
    of_theta, of_equi = over(300), over(300, wr.equi("k"))
    assert stream_degree(of_theta, (2100, 2100)) == 16
    found = [stream_degree(of_equi, (rate, rate)) for rate in (100, 2100, 10_000, 1e6)]
    assert found == sorted(found)
    assert (found[0], found[1], found[-1]) == (1, 1, 64)
    assert choose_stream_grid(of_equi, (10_000, 10_000)).grid.partitions == found[2] > 1


@pytest.mark.parametrize("on", [THETA, wr.equi("k")])
@pytest.mark.parametrize("rates", [(1, 1), (1000, 50), (1e6, 1e6)])
def test_by_equations_3_to_9_each_core_helps_a_bounded_join(
    on: wr.Predicate, rates: tuple[float, float]
) -> None:
    load = JoinLoad.of(over(300, on), rates, is_stream=False)
    seconds = [
        predict_grid(choose_grid(over(300, on), cores=n, rates=rates).grid, load, n).seconds
        for n in (1, 2, 4, 16, 64)
    ]
    assert seconds == sorted(seconds, reverse=True)


def test_n_opt_is_that_of_equations_3_to_6() -> None:
    load = JoinLoad.of(over(300), (1000, 1000), is_stream=True)
    needed = cost.greatest_bandwidth(load.rates, load.windows, 0.5)
    one = cost.offered_bandwidth(1, load.pair, 0.5)
    assert load.optimal_degree == math.ceil(cost.join_scalability(needed, one))


def test_the_latency_of_a_layout_is_that_of_equations_7_to_9() -> None:
    load = JoinLoad.of(over(300), (1000, 3000), is_stream=False)
    found = predict_grid(Grid(2, 3), load, 6)
    left = cost.latency_of_side(load.windows[1], 3, load.pair)
    right = cost.latency_of_side(load.windows[0], 2, load.pair)
    assert found.latency == pytest.approx((1000 * left + 3000 * right) / 4000)
    assert found.copies == pytest.approx((3 * 1000 + 2 * 3000) / 4000)


def test_explain_weighs_layouts(capsys: pytest.CaptureFixture[str]) -> None:
    table = pa.table({"a": [1.0], "k": [1], "t": [1]})
    join = wr.join(table, table, within="300 s", on=THETA, time="t", rates=(1000, 1000), degree=4)
    join.explain("cost")
    lines = capsys.readouterr().out.split("\n")
    assert lines[0].startswith("chosen   2 x 2: ")
    assert lines[3] == "N_opt    3: the fewest workers that keep up with all pairs"
    assert lines[5] == "├─ * 2 x 2"
    sentences = [line for line in lines if "It would take" in line]
    assert len(sentences) >= 4
    join.explain("json")
    data = json.loads(capsys.readouterr().out)
    assert (data["layout"], data["n_opt"], data["rates"]) == ("2 x 2", 3, [1000, 1000])
    assert [each["is_chosen"] for each in data["layouts"]].count(True) == 1
    join.explain()
    assert capsys.readouterr().out.startswith("join     inner on ")
    assert join._repr_html_().startswith("<pre>join ")
    with pytest.raises(wr.WindrowError, match='mode must be "simple", "spark", "cost" or "json"'):
        join.explain("long")  # type: ignore[arg-type]


def test_windows_by_count_hold_the_same_rows_at_any_rate() -> None:
    table = SCHEMA.empty_table()
    query = wr.join(table, table, within=1_000_000, on=THETA).query
    assert stream_degree(query, (100, 100)) == 1
    assert stream_degree(query, (400, 400)) == 4


def test_the_reason_says_that_the_workers_keep_up() -> None:
    found = choose_stream_grid(over(300), (1000, 1000))
    assert found.grid == Grid(2, 2)
    copies = "fewest copies of rows at rates of 1000 to 1000"
    assert found.why == f"4 workers keep up with the rates; {copies}"
    assert choose_stream_grid(over(300), (1, 1)).why == "1 worker keeps up with the rates"
    assert choose_stream_grid(over(300), None).grid == Grid(2, 4)
