"""A checkpoint that an earlier commit wrote is continued, to the oracle's results."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.golden_checkpoint import (
    CHAIN,
    OLDER,
    OLDER_CHAIN,
    PER_BATCH,
    WINDOWS,
    Golden,
    read,
    row,
    run,
)

pytestmark = pytest.mark.spark


GOLDEN = [OLDER, WINDOWS, OLDER_CHAIN, CHAIN]


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda g: f"{g.name}-v{g.version}")
def test_a_golden_checkpoint_is_continued(
    spark: SparkSession, tmp_path: Path, golden: Golden
) -> None:
    checkpoint, before = read(golden, tmp_path)
    after = run(golden, spark.newSession(), checkpoint, 3)
    assert min(after) > 0, "it goes on, and does not begin anew"
    results = [tuple(r) for batch in (before | after).values() for r in batch]
    expected = golden.expected([row(i) for i in range((max(after) + 1) * PER_BATCH)])
    assert all(expected[k, id] == found for k, id, *found in results)
    for key in {k for k, _ in expected}:
        ids = sorted(id for k, id, *_ in results if k == key)
        first = min(id for k, id in expected if k == key)
        wanted = list(range(first, first + len(ids)))
        assert ids == wanted, f"none is lost and none comes twice of key {key}"
        assert any(k == key for batch in after.values() for k, *_ in batch)
