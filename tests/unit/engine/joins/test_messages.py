"""Messages and stages survive the way to another process."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from windrow.engine.datasets.steps import Step
from windrow.engine.joins.in_process import collect
from windrow.engine.stages import executor
from windrow.engine.stages.messages import pack, unpack
from windrow.engine.stages.traffic import Traffic, emit_traffic

cloudpickle = pytest.importorskip("pyspark.cloudpickle")


def packed_traffic(node: Any, traffic: Traffic) -> Traffic:
    sent = emit_traffic(node, traffic)
    return {target: [unpack(pack(m)) for m in messages] for target, messages in sent.items()}


def table(seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {"t": rng.integers(0, 100, 60), "k": ["x", "y", None] * 20, "a": rng.random(60)}
    )


@pytest.mark.parametrize("strategy", ["grid", "centralised", "handshake"])
@pytest.mark.parametrize("within", ["20 us", 7])
@pytest.mark.parametrize("how", ["full_outer", "semi"])
def test_joins_run_over_packed_messages(
    monkeypatch: pytest.MonkeyPatch, strategy: Any, within: Any, how: Any
) -> None:
    on = wr.equi("k") & wr.band(a=0.2) & wr.theta(lambda x, y: x["a"] < y["a"])
    grid: Any = {"layout": (2, 2), "partitions": 2} if strategy == "grid" else {"degree": 8}
    join = wr.join(
        table(1), table(2), within=within, on=on, time="t", how=how, strategy=strategy, **grid
    )
    expected = join.collect()
    query, stages = pickle.loads(cloudpickle.dumps((join.query, join.stages())))
    monkeypatch.setattr(executor, "emit_traffic", packed_traffic)
    found = collect(query, stages, [[Step(table(1)), Step(table(2), side=1)]])
    assert sorted(map(str, found.to_pylist())) == sorted(map(str, expected.to_pylist()))
    assert len(found) > 10
