"""Executors in processes of their own, and clients behind Spark Connect."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from tests.spark import streams_of_every_shape
from tests.spark.queries_of_every_shape import CHAIN, DATASETS, ON_CONNECT, SHAPES

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[2]
CONNECT = {
    "grpc": "grpcio",
    "grpc_status": "grpcio-status",
    "google.rpc": "googleapis-common-protos",
    "zstandard": "zstandard",
}


def is_missing(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is None
    except ModuleNotFoundError:
        return True


QUERIES, STREAMS = "queries_of_every_shape", "streams_of_every_shape"


def names_run(program: str, *arguments: str, **environment: str) -> list[str]:
    """The queries the program ran on such a Spark, a skip if it could not be started."""
    inherited = {k: v for k, v in os.environ.items() if k not in ("SPARK_REMOTE", "SPARK_HOME")}
    run = subprocess.run(
        [sys.executable, "-m", f"tests.spark.{program}", *arguments],
        cwd=ROOT,
        env={**inherited, "PYSPARK_PYTHON": sys.executable, **environment},
        capture_output=True,
        text=True,
        timeout=240,
    )
    lines = run.stdout.splitlines()
    if lines == ["starting"]:
        pytest.skip(f"{arguments[-1]} cannot start: {run.stderr[-2000:]}")
    assert run.returncode == 0, run.stderr[-4000:]
    said = [line.rsplit(maxsplit=1) for line in lines[lines.index("started") + 1 :]]
    # Spark's own workers say something, too.
    return [words[0] for words in said if len(words) == 2 and words[1].isdigit()]


def test_queries_of_every_shape_on_executors_of_their_own(tmp_path: Path) -> None:
    """Workers write below the Spark home: one of links keeps that out of the installed package."""
    home = tmp_path / "spark"
    home.mkdir()
    for part in Path(pyspark.__file__).parent.iterdir():
        (home / part.name).symlink_to(part)
    environment = {"SPARK_HOME": str(home), "SPARK_LOCAL_DIRS": str(tmp_path)}
    assert names_run(QUERIES, "local-cluster[2,1,1024]", **environment) == [*SHAPES, *DATASETS]
    assert (home / "work").is_dir()


def skip_without_connect() -> None:
    missing = [package for module, package in CONNECT.items() if is_missing(module)]
    if missing:
        pytest.skip(f"Spark Connect needs {', '.join(missing)}")


def test_queries_through_spark_connect() -> None:
    skip_without_connect()
    assert names_run(QUERIES, "--remote", "local[2]") == [*ON_CONNECT, *DATASETS, CHAIN]


@pytest.mark.campaign
def test_streams_through_spark_connect() -> None:
    skip_without_connect()
    names = names_run(STREAMS, "--remote", "local[2]")
    assert names == list(streams_of_every_shape.SHAPES)
