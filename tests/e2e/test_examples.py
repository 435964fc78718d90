"""Every example runs, and what it returns is what it promises."""

from __future__ import annotations

from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pytest
from pyspark.sql import SparkSession

from examples import (
    algotrader,
    kafka_to_postgres,
    network_sessions,
    skyline,
    symbol_statistics,
    yahoo_streaming,
)

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_example_is_short_and_explained(path: Path) -> None:
    module = import_module(f"examples.{path.stem}")
    assert len(path.read_text().splitlines()) < 80
    assert f"python examples/{path.name}" in (module.__doc__ or "")


def test_a_pipeline_without_servers_says_how_to_start_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(kafka_to_postgres, "KAFKA", "127.0.0.1:1")
    kafka_to_postgres.main()
    said = capsys.readouterr().out
    assert "docker run" in said
    assert "apache/kafka" in said
    assert "postgres:" in said


@pytest.mark.spark
def test_algotrader_forecasts_the_price_of_a_second_later(
    spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    rows: list[dict[str, Any]] = algotrader.main()
    assert "forecast" in capsys.readouterr().out
    assert {row["symbol"] for row in rows} == {"ACME", "EMCA", "MACE"}
    for row in rows:
        symbol = ["ACME", "EMCA", "MACE"].index(row["symbol"])
        then = row["at"] + algotrader.AHEAD
        price = 100 * (symbol + 1) + 5 * np.sin(then / 5 + symbol)
        assert row["forecast"] == pytest.approx(price, abs=0.3)
        assert row["last"] == pytest.approx(row["forecast"], abs=2)


@pytest.mark.spark
def test_skyline_has_the_points_that_none_dominates(
    spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    rows: list[dict[str, Any]] = skyline.main()
    printed = capsys.readouterr().out
    assert "PaneFarm" in printed
    assert "undominated" in printed
    full = [row for row in rows if row["n"] == 10_000]
    assert len(full) == 100
    packets = skyline.packets()
    points = np.column_stack([packets[name] for name in skyline.FREQUENCIES])
    for row in (full[0], full[-1]):
        start = round(row["window_start"].timestamp() * 10_000) - int(skyline.START) // 100
        own = points[start : start + 10_000]
        front = {tuple(point.values()) for point in row["front"]}
        for point in own[:500]:
            is_dominated = bool(((own <= point).all(axis=1) & (own < point).any(axis=1)).any())
            assert (tuple(point) in front) is not is_dominated


@pytest.mark.spark
def test_every_view_counts_for_its_campaign(
    spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    rows: list[dict[str, Any]] = yahoo_streaming.main()
    assert "wholly in Spark" in capsys.readouterr().out
    events = yahoo_streaming.events()
    views = events.filter(pc.equal(events["event_type"], "view"))
    assert sum(row["views"] for row in rows) == len(views)
    assert len({row["campaign_id"] for row in rows}) == yahoo_streaming.CAMPAIGNS
    for row in rows:
        assert row["window_end"] - row["window_start"] == timedelta(seconds=10)
        assert row["window_start"] <= row["last_update"] < row["window_end"]


@pytest.mark.spark
def test_symbol_statistics_are_those_of_the_last_trades(
    spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    rows: list[dict[str, Any]] = symbol_statistics.main()
    assert "close" in capsys.readouterr().out
    trades = symbol_statistics.trades()
    of = {
        symbol: trades.filter(pc.equal(trades["symbol"], symbol))["price"].to_numpy()
        for symbol in ("ACME", "CAME", "EMCA", "MACE")
    }
    assert len(rows) == sum(-(-len(prices) // 50) for prices in of.values())
    for row in rows[::20]:
        own = of[row["symbol"]][row["window_start"] : row["window_end"]]
        assert row["n"] == len(own)
        found = [row["mean"], row["stddev"], row["p95"], *row["bar"].values()]
        bar = [own[0], own.max(), own.min(), own[-1]]
        expected = [own.mean(), own.std(ddof=1), np.quantile(own, 0.95), *bar]
        np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.spark
def test_a_burst_of_flows_is_a_session(
    spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    rows: list[dict[str, Any]] = network_sessions.main()
    assert "seconds" in capsys.readouterr().out
    flows = network_sessions.flows()
    assert len(rows) == network_sessions.HOSTS * network_sessions.BURSTS
    assert {row["flows"] for row in rows} == {network_sessions.FLOWS}
    for name in ("bytes", "packets"):
        assert sum(row[name] for row in rows) == pc.sum(flows[name]).as_py()
    for row in rows:
        assert row["window_start"] == row["first"]
        assert row["window_end"] - row["last"] == timedelta(seconds=30)
        assert (
            0 < row["seconds"] == (row["last"] - row["first"]) // timedelta(milliseconds=1) / 1000
        )
