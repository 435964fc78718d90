"""What emitters send on to the workers of bounded DataFrames."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from windrow.engine.columns.control import TIME
from windrow.spark import intake


def test_disordered_tuples_are_sent_as_short_runs_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "_RUN", 10)
    times = np.random.default_rng(1).permutation(95)
    tuples = pa.table({TIME: times, "x": np.arange(95)})
    runs = list(intake._runs(tuples))
    assert [len(run) for run in runs] == [10] * 9 + [5]
    sent = pa.concat_tables(runs)
    assert sent[TIME].to_pylist() == list(range(95))
    assert np.array_equal(times[sent["x"].to_numpy()], np.arange(95))


def test_tuples_in_order_and_what_has_no_time_are_sent_as_they_are() -> None:
    ordered = pa.table({TIME: np.arange(20_000)})
    partials = pa.table({"x": np.arange(20_000)[::-1]})
    for message in (ordered, partials, "a batch of windows"):
        assert list(intake._runs(message)) == [message]


def test_rows_are_taken_together_until_they_are_many_or_large(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(intake, "_BYTES", 80 * 8)
    narrow = [pa.record_batch({"x": np.arange(10, dtype=np.int8)})] * 20
    wide = [pa.record_batch({"x": np.arange(10)})] * 20
    assert [len(chunk) for chunk in intake.chunks(narrow, 120)] == [120, 80]
    assert [len(chunk) for chunk in intake.chunks(wide, 120)] == [80, 80, 40]
    assert list(intake.chunks([], 120)) == []
