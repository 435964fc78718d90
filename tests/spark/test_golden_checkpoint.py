"""A checkpoint that an earlier commit wrote is continued, to the oracle's results."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.golden_checkpoint import MODEL, PER_BATCH, read, row, run
from windrow.core import oracle

pytestmark = pytest.mark.spark


def test_a_golden_checkpoint_is_continued(spark: SparkSession, tmp_path: Path) -> None:
    checkpoint, before = read(tmp_path)
    after = run(spark.newSession(), checkpoint, 3)
    assert min(after) > 0, "it goes on, and does not begin anew"
    results = [tuple(r) for batch in (before | after).values() for r in batch]
    rows = [row(i) for i in range((max(after) + 1) * PER_BATCH)]
    windows = oracle.windows(MODEL, rows, key=["k"], time="t", order_by=["x"])
    expected = {(w.key[0], w.id): (len(w.rows), sum(r["x"] for r in w.rows)) for w in windows}
    assert {(k, id): (n, total) for k, id, n, total in results}.items() <= expected.items()
    for key in (None, 0, 1, 2):
        ids = sorted(id for k, id, _, _ in results if k == key)
        assert ids == list(range(len(ids))), f"none is lost and none comes twice of key {key}"
        assert any(k == key for batch in after.values() for k, *_ in batch)
