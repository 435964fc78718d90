"""The servers and the session of the pipeline's tests: stopped at the end, also on failure."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.pipeline import session as with_connectors
from tests.pipeline.servers import Kafka, Postgres, exit_in_order
from tests.spark_session import home_without_zips


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    exit_in_order()
    server = Postgres()
    yield server
    server.remove()


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    exit_in_order()
    server = Kafka(tmp_path_factory.mktemp("kafka"))
    yield server
    server.kill()


@pytest.fixture(scope="session")
def spark_home(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Where Python starts fast: Spark waits 10 s for it, which is short on a busy machine."""
    return str(home_without_zips(tmp_path_factory.mktemp("spark")))


@pytest.fixture(scope="session")
def spark(spark_home: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_HOME", spark_home)
        # Where Delta's tables of the catalog go.
        patch.chdir(tmp_path_factory.mktemp("warehouse"))
        started = with_connectors.session(cores=2)
    yield started
    started.stop()
