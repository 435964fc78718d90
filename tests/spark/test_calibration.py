"""The constants of Spark are measured, and simulations compared with Spark itself."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from pyspark.sql import SparkSession

from windrow.cli import calibration_spark

pytestmark = [pytest.mark.spark, pytest.mark.campaign]


def test_every_step_on_spark_is_measured(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibration_spark, "ROWS", 50_000)
    found = dict(calibration_spark.OnSpark(spark, 0.1).all())
    assert found.keys() == {
        "task", "stage", "job", "native_row", "native_value", "native_read", "native_group",
        "hand_over", "read", "exchange", "result", "batch",
    }  # fmt: skip
    assert all(math.isfinite(value) for value in found.values())
    assert found["job"] > 0
    assert found["batch"] > 0


@pytest.mark.parametrize("master", ["local[1]", "local[2]", "local-cluster[2,1,1024]"])
def test_a_simulation_says_how_far_it_is_from_spark(tmp_path: Path, master: str) -> None:
    n = 100_000
    times = pa.array(np.arange(n) * 1000, pa.timestamp("us"))
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.table({"k": np.arange(n) % 10, "t": times, "x": np.arange(n)}), path)
    query = ["-w", "time 1 s/100 ms", "-a", "median(x)", "-k", "k", "-t", "t", "--slots", "2"]
    command = [sys.executable, "-m", "windrow.cli", "simulate", str(path), *query]
    ran = subprocess.run(
        [*command, "--replay", "--check", master], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    print(ran.stdout)
    _, head, *lines = ran.stdout.splitlines()
    assert head.split("  ")[-1].strip() == "replay is off"
    assert sum(line.endswith("%") for line in lines) == 1
