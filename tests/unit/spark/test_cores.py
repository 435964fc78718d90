"""How many tasks a session runs at once."""

from __future__ import annotations

from typing import Any

import pytest

import windrow as wr
from tests.unit.spark.sessions import ConnectSession, Session
from windrow.spark.cores import UNKNOWN_CORES, cores_of

DYNAMIC: dict[str, Any] = {
    "spark__dynamicAllocation__enabled": "true",
    "spark__executor__cores": "4",
}


@pytest.mark.parametrize(
    ("session", "cores"),
    [
        (Session("local"), 1),
        (Session("local[3]"), 3),
        (Session("local[3, 2]", spark__default__parallelism="64"), 3),
        (Session("local[*]", parallelism=12), 12),
        (Session("local-cluster[2,3,1024]", parallelism=2), 6),
        (Session("yarn", parallelism=48), 48),
        (Session("yarn", spark__executor__instances="5"), 5),
        (Session("yarn", spark__executor__instances="5", spark__executor__cores="4"), 20),
        (Session("spark://host:7077", spark__cores__max="32"), 32),
        (Session("yarn", spark__dynamicAllocation__maxExecutors="10", **DYNAMIC), 40),
        (Session("yarn", parallelism=7, **DYNAMIC), 7),
        (Session("yarn", parallelism=48, spark__windrow__cores="16"), 16),
        (ConnectSession(spark__master="local[5]"), 5),
        (ConnectSession(spark__executor__instances="3", spark__executor__cores="2"), 6),
        (ConnectSession(spark__default__parallelism="9"), 9),
        (ConnectSession(spark__windrow__cores="64"), 64),
    ],
)
def test_cores_are_what_the_session_tells(session: Any, cores: int) -> None:
    assert cores_of(session) == cores


def test_an_overwritten_master_setting_does_not_count() -> None:
    session: Any = Session("local[2]")
    session.conf.set("spark.master", "local[64]")
    assert cores_of(session) == 2


@pytest.mark.parametrize("given", ["0", "-1", "many", "1.5", ""])
def test_cores_setting_is_validated(given: str) -> None:
    session: Any = Session(spark__windrow__cores=given)
    with pytest.raises(wr.WindrowError, match=r"spark\.windrow\.cores must be a positive number"):
        cores_of(session)


def test_a_server_that_tells_nothing_is_assumed_to_have_two_and_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    session: Any = ConnectSession()
    assert cores_of(session) == cores_of(session) == UNKNOWN_CORES
    assert [r.levelname for r in caplog.records] == ["WARNING"]
    assert "set spark.windrow.cores" in caplog.text
