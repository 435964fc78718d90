"""The servers and the session of the pipeline's tests: stopped at the end, also on failure."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.pipeline import session as with_connectors
from tests.pipeline.servers import Kafka, Postgres, exit_in_order


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
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    with pytest.MonkeyPatch.context() as patch:
        # Where Delta's tables of the catalog go.
        patch.chdir(tmp_path_factory.mktemp("warehouse"))
        started = with_connectors.session(cores=2)
    yield started
    started.stop()
