"""What is shown of a batch: a live table in a terminal, a line elsewhere."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from types import SimpleNamespace

import pytest
from rich.console import Console

from windrow.cli.progress import COLUMNS, Batch, BatchTable

REPORT = SimpleNamespace(
    batchId=7,
    numInputRows=50_000,
    inputRowsPerSecond=49_900.4,
    processedRowsPerSecond=125_000.0,
    durationMs={"addBatch": 350, "triggerExecution": 400},
    eventTime={"max": "2024-01-02T09:30:02.000Z", "watermark": "2024-01-02T09:30:00.250Z"},
    sources=[SimpleNamespace(startOffset="2", endOffset="3")],
    stateOperators=[SimpleNamespace(memoryUsedBytes=2_500_000)],
    observedMetrics={
        "results": {"windows": 498, "newest": 1_704_187_800_500_000},  # 09:30:00.5
        "windrow": {"dropped": 25},
    },
)
BATCH = Batch.of(REPORT)


def shown(batch: Batch) -> dict[str, str]:
    return {name: text(batch) for name, (_, text) in COLUMNS.items()}


def test_a_report_becomes_a_batch() -> None:
    assert shown(BATCH) == {
        "rows": "50,000",
        "rows/s in": "49,900",
        "done/s": "125,000",
        "batch": "0.40 s",
        # Of a quote of 0.5 s when the newest one is of 2 s, and the batch.
        "latency": "1.90 s",
        "watermark": "09:30:00.2",
        "state": "2.5 MB",
        "windows": "498",
        "dropped": "25",
    }
    assert BATCH.source_second == 3


def test_the_first_batch_has_neither_watermark_nor_latency() -> None:
    nothing = {"results": {"windows": 0, "newest": None}, "windrow": {"dropped": 0}}
    first = SimpleNamespace(
        **{
            **vars(REPORT),
            "eventTime": {"watermark": "1970-01-01T00:00:00.000Z"},
            "inputRowsPerSecond": None,
            "observedMetrics": nothing,
        }
    )
    found = shown(Batch.of(first))
    assert (found["watermark"], found["latency"], found["rows/s in"]) == ("", "", "0")


def test_without_a_terminal_a_batch_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    with BatchTable(Console(file=StringIO()), 20) as display:
        display.add(BATCH)
        display.update(1.0)
    head, line = capsys.readouterr().out.splitlines()
    assert len(head) == len(line) == 80
    assert line.split() == " ".join(shown(BATCH).values()).split()


def test_in_a_terminal_the_table_has_the_last_batches_and_totals() -> None:
    screen = StringIO()
    terminal = Console(file=screen, force_terminal=True, color_system=None, width=80, height=40)
    with BatchTable(terminal, 20) as display:
        for rows in range(100, 112):
            display.add(replace(BATCH, rows=rows))
        display.update(5.0)
    lines = screen.getvalue().split("rows/s in")[-1].splitlines()
    assert [int(line.split()[0]) for line in lines[1:11]] == list(range(102, 112))
    assert "5 of 20 s: 1,266 rows, 5,976 windows, 300 rows dropped as too late" in lines
