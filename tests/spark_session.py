"""One Spark session for all tests of a process."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyspark
import pytest
from pyspark.sql import SparkSession

from windrow.spark.settings import local_checkpoints

# Spark starts its workers with the first python3 on the PATH unless told otherwise.
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
# Tests run each piece of code seldom: to compile it well would cost more than it gives.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")


def environment_of_programs(folder: Path) -> dict[str, str]:
    """For programs with a Spark of their own, whose home is in the folder."""
    home = folder / "spark-home"
    if not home.exists():
        home.mkdir()
        home_without_zips(home)
    own = {"PYSPARK_PYTHON": sys.executable, "SPARK_HOME": str(home)}
    return {**{k: v for k, v in os.environ.items() if k != "SPARK_REMOTE"}, **own}


def home_without_zips(folder: Path) -> Path:
    """A Spark home of links to the installed one, without the zipped copy of PySpark.

    Spark's Python processes would import that copy first, and compile it anew: Spark starts such a
    process for every stateful operator of a stream. Without it they import the installed package.
    """
    for part in Path(pyspark.__file__).parent.iterdir():
        if part.name != "python":
            (folder / part.name).symlink_to(part)
    return folder


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    home = home_without_zips(tmp_path_factory.mktemp("spark"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_HOME", str(home))
        session = new_session()
    yield session
    session.stop()


@pytest.fixture(autouse=True)
def active_again(request: pytest.FixtureRequest) -> None:
    """Make the session the active one: a test before may have made another, with other settings."""
    if "spark" in request.fixturenames:
        session: Any = request.getfixturevalue("spark")
        sessions = session._get_j_spark_session_class(session._jvm)
        sessions.setActiveSession(session._jsparkSession)


def new_session() -> SparkSession:
    return (
        SparkSession.builder.master("local[2]")
        .appName("windrow-tests")
        .config("spark.sql.shuffle.partitions", 2)
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.log.level", "ERROR")
        .config("spark.ui.showConsoleProgress", "false")
        .config(map=dict(local_checkpoints(pyspark.__version__)))
        .getOrCreate()
    )
