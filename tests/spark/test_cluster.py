"""Executors in processes of their own, and clients behind Spark Connect."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from tests.spark import streams_of_every_shape
from tests.spark.queries_of_every_shape import CHAIN, DATASETS, ON_CONNECT, SHAPES
from tests.spark_session import environment_of_programs

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


def names_run(folder: Path, program: str, *arguments: str, **environment: str) -> list[str]:
    """The queries the program ran on such a Spark, a skip if it could not be started."""
    run = subprocess.run(
        [sys.executable, "-m", f"tests.spark.{program}", *arguments],
        cwd=ROOT,
        env={**environment_of_programs(folder), **environment},
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
    """Workers write below the Spark home, which is not the installed package."""
    names = names_run(tmp_path, QUERIES, "local-cluster[2,1,1024]", SPARK_LOCAL_DIRS=str(tmp_path))
    assert names == [*SHAPES, *DATASETS]
    assert (tmp_path / "spark-home" / "work").is_dir()


def skip_without_connect() -> None:
    missing = [package for module, package in CONNECT.items() if is_missing(module)]
    if missing:
        pytest.skip(f"Spark Connect needs {', '.join(missing)}")


def test_queries_through_spark_connect(tmp_path: Path) -> None:
    skip_without_connect()
    assert names_run(tmp_path, QUERIES, "--remote", "local[2]") == [*ON_CONNECT, *DATASETS, CHAIN]


@pytest.mark.campaign
def test_streams_through_spark_connect(tmp_path: Path) -> None:
    skip_without_connect()
    names = names_run(tmp_path, STREAMS, "--remote", "local[2]")
    assert names == list(streams_of_every_shape.SHAPES)
