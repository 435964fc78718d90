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
    bars_of_a_minute,
    continue_after_a_stop,
    every_kilometre,
    late_rows,
    near_orders,
    network_sessions,
    skyline,
    symbol_statistics,
    trend_of_trends,
    yahoo_streaming,
)

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_example_is_short_and_explained(path: Path) -> None:
    module = import_module(f"examples.{path.stem}")
    assert len(path.read_text().splitlines()) < 80
    assert f"python examples/{path.name}" in (module.__doc__ or "")


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


@pytest.mark.spark
def test_bars_of_a_minute_are_those_of_its_trades(spark: SparkSession) -> None:
    rows: list[dict[str, Any]] = bars_of_a_minute.main()
    trades = bars_of_a_minute.trades()
    assert len(rows) == 2 * (bars_of_a_minute.TRADES // 600 - 1)
    symbols, times = trades["symbol"].to_numpy(), trades["ts"].to_numpy()
    for row in rows:
        minute = np.datetime64(row["minute"].replace(tzinfo=None))
        own = (symbols == row["symbol"]) & (times >= minute) & (times < minute + 60_000_000)
        prices = trades["price"].to_numpy()[own]
        bar = [prices[0], prices.max(), prices.min(), prices[-1]]
        assert [row["open"], row["high"], row["low"], row["close"]] == bar
        assert row["volume"] == trades["size"].to_numpy()[own].sum()


@pytest.mark.spark
def test_only_rows_whose_window_has_fired_are_dropped(spark: SparkSession) -> None:
    windows, dropped = late_rows.main()
    assert (windows[0], dropped) == ((10, 3, 20.4), 2)


@pytest.mark.spark
def test_consumption_is_that_of_the_kilometres_before(spark: SparkSession) -> None:
    rows: list[dict[str, Any]] = every_kilometre.main()
    table = every_kilometre.positions()
    km, litres, vehicle = (table[n].to_numpy() for n in ("km", "litres", "vehicle"))
    assert len(rows) > 60
    for row in rows:
        own = (vehicle == row["vehicle"]) & (km >= row["window_start"]) & (km < row["window_end"])
        assert row["consumption"] == pytest.approx(20 * litres[own].sum())


@pytest.mark.spark
def test_near_orders_are_all_pairs_in_reach(spark: SparkSession) -> None:
    rows: list[dict[str, Any]] = near_orders.main()
    buys, sells = near_orders.orders(1), near_orders.orders(2)
    times, prices = buys["ts"].to_numpy(), (buys["price"].to_numpy(), sells["price"].to_numpy())
    is_near = np.abs(times[:, None] - times) <= np.timedelta64(2, "s")
    # The predicate, in the very arithmetic of doubles.
    is_near &= np.abs(prices[0][:, None] - prices[1]) <= 0.01
    assert len(rows) == is_near.sum()


@pytest.mark.spark
def test_two_runs_give_every_window_once(spark: SparkSession) -> None:
    rows: list[dict[str, Any]] = continue_after_a_stop.main()
    windows = [(row["sensor"], row["window_id"]) for row in rows]
    each = range(continue_after_a_stop.SENSORS)
    assert sorted(windows) == [(sensor, i) for sensor in each for i in range(4)]
    for row in rows:
        seconds = np.arange(row["window_start"], row["window_end"])
        assert row["mean"] == pytest.approx(np.sin(seconds / 20).mean())


@pytest.mark.spark
def test_the_trend_turns_with_the_wave(spark: SparkSession) -> None:
    rows: list[dict[str, Any]] = trend_of_trends.main()
    assert len(rows) > 150
    for row in rows:
        middle = (row["at"].timestamp() - trend_of_trends.START / 1e6) - 5
        steepness = np.cos(middle * 2 * np.pi / 60)
        if abs(steepness) > 0.3:
            assert (row["slope"] > 0) == (steepness > 0)
