"""The live view as a browser shows it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import windrow as wr
from tests.spark.arrivals import Arrivals, start
from tests.unit.monitoring.streams import Clock, observed, progress, report, skewed
from windrow import functions as wf
from windrow.monitoring.batch import Batch
from windrow.monitoring.history import History
from windrow.monitoring.server import Server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator

playwright = pytest.importorskip("playwright.sync_api")
expect = playwright.expect
pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    found = shutil.which("chromium") or shutil.which("google-chrome")
    with playwright.sync_playwright() as started:
        # As root Chromium runs only without its sandbox.
        browser = started.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


class Live:
    """A page that shows a history, and the errors that came up in it."""

    def __init__(self, browser: Browser, url: str) -> None:
        self.page = browser.new_page()
        self.errors: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda said: self.errors.append(said.text))
        self.page.goto(url)

    def card(self, name: str) -> Locator:
        heading = self.page.locator("h2", has_text=name)
        return self.page.locator("article").filter(has=heading)

    def tile(self, query: str, name: str) -> Locator:
        return self.card(query).locator(f'[data-name="{name}"] b')

    def close(self) -> None:
        self.page.close()
        assert self.errors == []


Open = Callable[[History], Live]


@pytest.fixture
def opened(browser: Browser) -> Iterator[Open]:
    """Opens the page of a history; in the end, no error has come up in it."""
    servers: list[Server] = []
    pages: list[Live] = []

    def opened(history: History) -> Live:
        servers.append(Server(history, 0, "127.0.0.1"))
        pages.append(Live(browser, servers[-1].url))
        return pages[-1]

    yield opened
    for server, page in zip(servers, pages, strict=True):
        page.close()
        server.stop()


def test_numbers_appear_and_follow_the_stream(opened: Open) -> None:
    history, clock = skewed("quotes", hot=2, slow=1)
    live = opened(history)
    expect(live.card("quotes").locator(".state")).to_have_text("running")
    expect(live.tile("quotes", "windows fired")).to_contain_text("1,200")
    expect(live.tile("quotes", "rows dropped")).to_have_text("90 60 late")
    expect(live.tile("quotes", "rows held")).to_have_text("11,000 4 keys")
    expect(live.tile("quotes", "state")).to_contain_text("4.10 kB")
    expect(live.tile("quotes", "batch")).to_contain_text("0.50 s")
    expect(live.tile("quotes", "latency")).to_contain_text("1.50 s")
    expect(live.tile("quotes", "watermark lag")).to_contain_text("1.50 s")
    expect(live.card("quotes").locator(".curve")).to_have_count(8)
    stages = live.card("quotes").locator(".stage")
    expect(stages).to_have_text(["source", "emit hash(symbol) mod 4", "WinSeq x 4", "results"])
    metrics = {"windrow": observed([report(0, 0)], windows=10)}
    history.progressed("run of quotes", "id", "quotes", Batch.of(progress(30, 30, 100, metrics)))
    clock.now += 1
    expect(live.tile("quotes", "windows fired")).to_contain_text("1,210")


def test_a_hot_and_a_slow_worker_stand_out(opened: Open) -> None:
    history, _ = skewed("quotes", hot=2, slow=1)
    live = opened(history)
    expect(live.card("quotes").locator(".outstanding")).to_have_text(["2", "1"])
    warnings = live.card("quotes").locator(".warning")
    expect(warnings).to_have_text(
        ["Worker 1 needs 71 % of the time.", "Worker 2 takes 73 % of the rows."]
    )
    colours = {
        live.page.evaluate("bar => getComputedStyle(bar).backgroundColor", bar)
        for bar in live.card("quotes").locator(".bars i").element_handles()
    }
    assert len(colours) == 2


def test_a_query_that_ends_shows_as_stopped_or_failed(opened: Open) -> None:
    history, _ = skewed("quotes", hot=-1, slow=-1)
    history.started("run of trades", "id", "trades")
    live = opened(history)
    expect(live.page.locator("#status")).to_have_text("2 of 2 queries running")
    history.ended("run of quotes", "id", None)
    expect(live.card("quotes").locator(".state")).to_have_text("stopped")
    expect(live.tile("quotes", "rows/s")).to_contain_text("0")
    expect(live.page.locator("#status")).to_have_text("1 of 2 queries running")
    message = "<b>no</b> price in window 17"
    history.ended("run of trades", "id", message)
    expect(live.card("trades").locator(".state")).to_have_text("failed")
    expect(live.card("trades").locator(".message")).to_have_text(message)


@pytest.mark.spark
def test_a_stream_of_spark_with_a_hot_key(
    spark: SparkSession, browser: Browser, tmp_path: Path
) -> None:
    arrivals = Arrivals(tmp_path / "in", pa.schema([("k", pa.string()), ("x", pa.int64())]))
    arrivals.add([{"k": "hot" if i % 10 else str(i), "x": i} for i in range(1000)])
    rows = wr.stream(arrivals.read(spark, "k string, x bigint")).key_by("k").using(wr.KeyFarm(4))
    counted = rows.window(wr.CountWindow(9)).agg(middle=wf.median("x"))
    with wr.monitor(spark) as monitor:
        query = start(counted.to_df())
        live = Live(browser, monitor.url)
        query.processAllAvailable()
        told = {"timeout": 60_000.0}
        expect(live.tile(query.name, "windows fired")).to_contain_text("100", **told)
        expect(live.tile(query.name, "rows held")).to_have_text("100 101 keys", **told)
        expect(live.card(query.name).locator(".state")).to_have_text("running")
        warning = live.card(query.name).locator(".warning", has_text="of the rows")
        expect(warning).to_have_count(1)
        query.stop()
        expect(live.card(query.name).locator(".state")).to_have_text("stopped", **told)
        live.close()


def test_a_monitor_that_is_gone_is_told(browser: Browser) -> None:
    server = Server(History(Clock(1000)), 0, "127.0.0.1")
    page = browser.new_page()
    page.goto(server.url)
    expect(page.locator("#status")).to_have_text("no streaming query yet")
    server.stop()
    expect(page.locator("#status")).to_have_text("the monitor does not answer")
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [420, 1120])
def test_nothing_is_wider_than_the_page(
    browser: Browser, scheme: Literal["light", "dark"], width: int
) -> None:
    history, _ = skewed("a name that is rather " + "long" * 20, hot=2, slow=1)
    server = Server(history, 0, "127.0.0.1")
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page.goto(server.url)
    page.wait_for_selector(".outstanding")
    wide = page.evaluate("document.documentElement.scrollWidth")
    page.close()
    server.stop()
    assert wide <= width
