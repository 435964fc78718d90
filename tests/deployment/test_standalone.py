"""A standalone cluster whose executors have nothing of this clone but what is shipped to them.

``make test-cluster`` makes what is shipped: an environment with compiled kernels, packed, and a
wheel with the kernels apart, for executors that have Windrow's dependencies.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.deployment.standalone import Cluster, cluster
from tests.deployment.submitted import (
    ARROW,
    CLIENT,
    ENVIRONMENT,
    PACKED,
    SHIPPED,
    WHEEL,
    WHEEL_AND_KERNELS,
    bring,
    run_without_java,
    submit,
    unpack_environment,
)
from tests.restarts import Rows, rows
from tests.spark.arrivals import Arrivals
from windrow import functions as wf
from windrow.core import WindowModel, oracle
from windrow.core.models import CountWindow, TimeWindow

STREAMS = ["members", "paned"]
pytestmark = [pytest.mark.cluster, pytest.mark.spark]

ORDER: dict[str, Any] = {"key": ["k"], "time": "t", "order_by": ["seq"], "delay": "4 ms"}
PANED, COUNTED = TimeWindow("12 ms", "4 ms"), CountWindow(12, 5)
AGGREGATIONS: dict[str, tuple[WindowModel, list[Any]]] = {
    "paned": (PANED, [wf.count(), wf.sum("x"), wf.max("x")]),
    "counted": (COUNTED, [wf.count(), wf.sum("x")]),
    "median": (PANED, [wf.median("x")]),
}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where programs are submitted: the driver has the environment at the same relative path."""
    folder = tmp_path_factory.mktemp("driver")
    unpack_environment(folder)
    return folder


@pytest.fixture
def came(tmp_path: Path) -> Rows:
    return rows(400)


def expected(name: str, came: Rows, **more: Any) -> Counter[str]:
    """The rows of an aggregation."""
    model, functions = AGGREGATIONS[name]
    return Counter(
        repr([*w.key, w.id, *(oracle.aggregate(f, w.rows) for f in functions)])
        for w in oracle.windows(model, came, **ORDER, **more)
    )


def expected_pairs(came: Rows) -> Counter[str]:
    """The pairs of the join."""

    def holds(x: Any, y: Any) -> bool:
        return x["k"] is not None and x["k"] == y["k"] and abs(x["x"] - y["x"]) <= 1

    found = oracle.join(came, came, holds, within=("3 ms", "1 ms"), time="t", how="inner")
    return Counter(repr([x["seq"], y["seq"]]) for x, y in found if x is not None and y is not None)


def found_rows(found: dict[str, Any], name: str) -> Counter[str]:
    return Counter(map(repr, found[name]))


def check_bounded(found: dict[str, Any], came: Rows) -> None:
    for name in AGGREGATIONS:
        wanted = expected(name, came)
        assert len(wanted) > 20 and found_rows(found, name) == wanted, name
    pairs = expected_pairs(came)
    assert len(pairs) > 20 and found_rows(found, "join") == pairs


def check_streams(found: dict[str, Any], came: Rows) -> None:
    assert found_rows(found, "paned") == expected("paned", came, open_windows="drop")
    members = Counter(
        repr([*w.key, w.id, [row["seq"] for row in w.rows]])
        for w in oracle.windows(COUNTED, came, **ORDER, open_windows="drop")
    )
    assert len(members) > 20 and found_rows(found, "members") == members


def kernels(below: Path) -> set[str]:
    """The names of the compiled kernels in a folder."""
    return {path.name for path in below.rglob("*.nbc")}


def executors_of(at: Cluster, archive: str) -> list[Path]:
    """The copies of an archive that the executors of all programs have unpacked."""
    return sorted(at.folder.glob(f"work-*/app-*/*/{archive}"))


def test_queries_in_a_packed_environment(
    running: Cluster, driver: Path, tmp_path: Path, came: Rows
) -> None:
    bring(came, Arrivals(tmp_path / "in", ARROW), 2)
    before = set(executors_of(running, "environment"))
    found = submit(running, driver, PACKED, tmp_path, "bounded", *AGGREGATIONS, "join")
    check_bounded(found, came)
    copies = set(executors_of(running, "environment")) - before
    assert {prefix for prefix, _ in found["python"]} == {str(copy) for copy in copies}
    assert all(windrow.startswith(prefix) for prefix, windrow in found["python"])
    shipped = kernels(driver)
    assert shipped
    for copy in copies:
        assert kernels(copy) == shipped, "an executor has compiled kernels"


def test_stream_in_a_packed_environment_goes_on_after_its_worker_is_killed(
    driver: Path, tmp_path: Path, came: Rows
) -> None:
    arrivals = Arrivals(tmp_path / "in", ARROW)
    with cluster(tmp_path / "cluster") as at:
        bring(came[:200], arrivals, 3)
        submit(at, driver, PACKED, tmp_path, "stream", *STREAMS)
        bring(came[200:], arrivals, 3)
        found = submit(at, driver, PACKED, tmp_path, "stream", *STREAMS, "--kill-worker")
        assert (tmp_path / "killed").exists()
        assert [worker.process.poll() is None for worker in at.workers].count(False) == 1
        copies = executors_of(at, "environment")
        assert len(copies) >= 4
        assert all(kernels(copy) == kernels(driver) for copy in copies)
    check_streams(found, came)


def test_wheel_among_the_python_files(
    running: Cluster, driver: Path, tmp_path: Path, came: Rows
) -> None:
    bring(came, Arrivals(tmp_path / "in", ARROW), 2)
    found = submit(running, driver, WHEEL, tmp_path, "bounded", *AGGREGATIONS, "join")
    check_bounded(found, came)
    assert {prefix for prefix, _ in found["python"]} == {str(SHIPPED / "plain")}
    assert all("windrow.zip" in windrow for _, windrow in found["python"])
    shipped = kernels(SHIPPED / "kernels")
    copies = executors_of(running, "kernels")
    assert shipped and len(copies) == 2
    assert all(kernels(copy) == shipped for copy in copies), "an executor has compiled kernels"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cluster, str]]:
    """A cluster, and the address of the server of Spark Connect in front of it."""
    with cluster(tmp_path_factory.mktemp("server")) as at:
        unpack_environment(at.folder)
        yield at, at.serve_connect(SHIPPED / "environment.tar.gz")


def folders_of_kernels(at: Cluster, archive: str) -> set[Path]:
    """Where the executors have kernels, apart from the copies of an archive in their sessions."""
    found = {path.parent for path in at.folder.glob("work-*/**/*.nbc")}
    return {path for path in found if archive not in path.relative_to(at.folder).parts}


@pytest.mark.parametrize("client", [sys.executable, CLIENT], ids=["pyspark", "pyspark-client"])
def test_packed_environment_through_spark_connect_from_a_client_without_java(
    server: tuple[Cluster, str], driver: Path, tmp_path: Path, came: Rows, client: str | Path
) -> None:
    at, remote = server
    bring(came, Arrivals(tmp_path / "in", ARROW), 2)
    before = set(executors_of(at, "*/environment"))
    names = [*AGGREGATIONS, "join"]
    found = run_without_java(remote, tmp_path, "bounded", *names, *ENVIRONMENT, python=client)
    check_bounded(found, came)
    copies = set(executors_of(at, "*/environment")) - before
    assert {prefix for prefix, _ in found["python"]} == {str(copy) for copy in copies}
    assert all(kernels(copy) == kernels(driver) for copy in copies)
    assert not folders_of_kernels(at, "environment"), "an executor has compiled kernels"


def test_streams_through_spark_connect(
    server: tuple[Cluster, str], tmp_path: Path, came: Rows
) -> None:
    arrivals = Arrivals(tmp_path / "in", ARROW)
    for part in (came[:200], came[200:]):
        bring(part, arrivals, 3)
        found = run_without_java(server[1], tmp_path, "stream", *STREAMS, python=CLIENT)
    check_streams(found, came)


def test_wheel_through_spark_connect(
    server: tuple[Cluster, str], tmp_path: Path, came: Rows
) -> None:
    at, remote = server
    bring(came, Arrivals(tmp_path / "in", ARROW), 2)
    names = [*AGGREGATIONS, "join"]
    found = run_without_java(remote, tmp_path, "bounded", *names, *WHEEL_AND_KERNELS, python=CLIENT)
    check_bounded(found, came)
    assert {prefix for prefix, _ in found["python"]} == {str(SHIPPED / "plain")}
    assert all("windrow.zip" in windrow for _, windrow in found["python"])
    copies = executors_of(at, "*/kernels")
    assert copies
    assert all(kernels(copy) == kernels(SHIPPED / "kernels") for copy in copies)
