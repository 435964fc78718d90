from __future__ import annotations

from tests.unit.monitoring.streams import observed, progress
from windrow.monitoring.batch import Batch
from windrow.monitoring.standstill import Standstill

AT_2026 = 1_767_605_400_000_000


def batch(rows: int = 4, windows: int = 0, watermark: int | None = AT_2026) -> Batch:
    metrics = {"windrow": observed([], windows=windows, watermark=watermark)}
    return Batch.of(progress(rows=rows, metrics=metrics))


def watching() -> Standstill:
    standstill = Standstill()
    standstill.began("run")
    return standstill


def test_a_watermark_that_does_not_move_is_told_once() -> None:
    standstill = watching()
    said = [standstill.progressed("run", batch()) for _ in range(6)]
    assert [s is not None for s in said] == [False, False, False, True, False, False]
    assert "has read 16 rows, but no window has fired" in str(said[3])
    assert "stands still at 2026-01-05 09:30:00.000+00:00" in str(said[3])
    assert "event_time(idle_timeout=...)" in str(said[3])


def test_a_silent_stream_with_rows_is_told_once() -> None:
    standstill = watching()
    assert standstill.idled("run") is None
    assert standstill.progressed("run", batch()) is None
    assert "has read 4 rows" in str(standstill.idled("run"))
    assert standstill.idled("run") is None


def test_without_a_watermark_windows_are_not_complete() -> None:
    standstill = watching()
    standstill.progressed("run", batch(watermark=None))
    assert str(standstill.idled("run")).endswith("none of them is complete yet.")


def test_nothing_is_told_of_a_stream_that_fires_or_whose_watermark_moves() -> None:
    standstill = watching()
    for number in range(6):
        assert standstill.progressed("run", batch(watermark=AT_2026 + number)) is None
    assert standstill.progressed("run", batch(windows=1)) is None
    assert standstill.idled("run") is None
    assert standstill.watched == {}


def test_a_stream_of_long_windows_is_not_watched_for_ever() -> None:
    standstill = watching()
    for number in range(100):
        assert standstill.progressed("run", batch(watermark=AT_2026 + number)) is None
    assert standstill.watched == {}
