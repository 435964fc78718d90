"""Draws docs/images/monitor.png, of a real run of two minutes: `python -m tests.browser.picture`.

The first stream is the one of `windrow dashboard --demo`. The other one has a function that fails.
"""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

import windrow as wr
from windrow.cli.quotes import live_quotes, windows

IMAGES = Path(__file__).parents[2] / "docs" / "images"
RATE, BATCHES = 20_000, 90


def spread(w: wr.Window) -> dict[str, float]:
    """What bid and ask are apart; in the long run a bid is missing."""
    column = "price" if w.id < 500 else "bid"
    return {"spread": float(w[column].max() - w["price"].min())}


def spreads(quotes: DataFrame) -> DataFrame:
    """A query that fails."""
    query = wr.stream(quotes).key_by("symbol").event_time("ts", delay="500 ms")
    return query.window(wr.CountWindow(500)).apply(spread, returns="spread double").to_df()


def until(query: StreamingQuery, batches: int) -> None:
    """Wait until the query has had so many batches, or failed."""
    while query.isActive and (query.lastProgress is None or query.lastProgress.batchId < batches):
        time.sleep(0.5)


def draw() -> None:
    """Take the picture, light and dark."""
    spark = wr.local_spark()
    quotes = live_quotes(spark, RATE, time.time_ns() // 1000)
    results = {"trends": windows(quotes).to_df(), "spreads": spreads(quotes)}
    with wr.monitor(spark) as monitor, TemporaryDirectory() as folder:
        running = {}
        for name, rows in results.items():
            writer = rows.writeStream.format("noop").queryName(name)
            writer = writer.option("checkpointLocation", f"{folder}/{name}")
            running[name] = writer.trigger(processingTime="1 second").start()
        until(running["trends"], BATCHES)
        take(monitor.url)
        for query in running.values():
            query.stop()
    spark.stop()


def take(url: str) -> None:
    """Save what the page shows."""
    # Here, for the tests' collection imports this module where there is no Playwright.
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        path = shutil.which("chromium") or shutil.which("google-chrome")
        browser = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for scheme, name in (("light", "monitor.png"), ("dark", "monitor-dark.png")):
            page = browser.new_page(
                viewport={"width": 1000, "height": 700},
                color_scheme="dark" if scheme == "dark" else "light",
            )
            page.goto(url)
            page.wait_for_selector(".outstanding")
            page.screenshot(path=IMAGES / name, full_page=True)
        browser.close()


if __name__ == "__main__":
    draw()
