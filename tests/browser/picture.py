"""Draws docs/images/monitor.png: `python -m tests.browser.picture`. Its numbers are made up."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

from tests.unit.monitoring.streams import Clock, observed, progress, report
from windrow.monitoring.batch import Batch
from windrow.monitoring.history import History
from windrow.monitoring.server import Server

IMAGES = Path(__file__).parents[2] / "docs" / "images"
TRENDS = [
    {"nodes": ["emit hash(symbol) mod 8"], "width": None},
    {"nodes": ["WinSeq x 8"], "width": 8},
]
HOT = 5
MESSAGE = """\
windrow.core.errors.WindrowError: spread raised KeyError('bid') on window 17 of key 'ACME'.
Hint: the window has the columns symbol, ts and price."""


def trends(number: int, draw: random.Random) -> Batch:
    """A batch of a query whose fifth worker has a hot key."""
    rows = draw.randint(48_000, 60_000)
    workers = []
    for i in range(8):
        own = report(0, i, int(rows * (0.51 if i == HOT else 0.07)), draw.randint(30_000, 45_000))
        own |= {"rows_held": 900 + draw.randint(0, 90), "keys": 15}
        own["state_bytes"] = draw.randint(280_000, 330_000)
        own["micros"] *= 5 if i == HOT else 1
        workers.append(own)
    told: dict[str, Any] = {"windows": rows // 25, "late": draw.randint(0, 9), "dropped": 9}
    watermark = int((998.2 + number + draw.random() / 2) * 1e6)
    metrics = {"windrow": observed(workers, plan=json.dumps(TRENDS), watermark=watermark, **told)}
    return Batch.of(progress(number, number, rows, metrics, draw.randint(300, 450)))


def history() -> History:
    """A query that runs, and one that has failed."""
    clock, draw = Clock(1000.0), random.Random(1)
    found = History(clock)
    for number in range(120):
        clock.now = 1000.5 + number
        found.progressed("trends", "1", "trends", trends(number, draw))
        if number < 70:
            found.progressed("spreads", "2", "spreads", Batch.of(progress(number, number)))
        if number == 70:
            found.ended("spreads", "2", MESSAGE)
    return found


def draw() -> None:
    """Take the picture, light and dark."""
    server = Server(history(), 0, "127.0.0.1")
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
            page.goto(server.url)
            page.wait_for_selector(".outstanding")
            page.screenshot(path=IMAGES / name, full_page=True)
        browser.close()
    server.stop()


if __name__ == "__main__":
    draw()
