"""What every upsert asks of a batch: that it has the key, and no two rows with the same one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from pyspark.sql import DataFrame

from windrow.core.errors import WindrowError, near_names

Batch: TypeAlias = DataFrame
"""The rows of a micro-batch; of a bounded DataFrame, all of them."""


def check_key(batch: Any, key: Sequence[str]) -> None:
    """Raise unless the batch is a bounded DataFrame that has the columns of the key."""
    if not hasattr(batch, "sparkSession"):
        rule = "what upsert returns is called with a DataFrame and the id of a batch"
        raise WindrowError(rule, repr(batch), "pass it to .writeStream.foreachBatch(...).")
    if batch.isStreaming:
        hint = "write df.writeStream.foreachBatch(wr.sinks.upsert(...))."
        raise WindrowError("an upsert writes one batch at a time", "a streaming DataFrame", hint)
    for name in key:
        if name not in batch.columns:
            hint = near_names(name, batch.columns)
            raise WindrowError("the key of an upsert must be columns of the batch", name, hint)


def same_key_twice(key: Sequence[str]) -> WindrowError:
    """Rows of a batch have the same key, and only one of them could be kept."""
    return WindrowError(
        "the rows of a batch must have different keys",
        f"different rows with the same {list(key)}",
        "name every column that tells results apart: those of key_by, and window_id.",
    )
