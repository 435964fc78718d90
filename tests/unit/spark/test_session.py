"""What a user set explicitly is never changed; what is changed is said."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import windrow as wr
from tests.unit.spark.sessions import ConnectSession, Session
from windrow.spark.session import make_ready_for_streams
from windrow.spark.settings import PARTITIONS, PROVIDER

CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
MANAGER = "spark.sql.streaming.checkpointFileManagerClass"


def fresh() -> Any:
    return Session()


def with_partitions(n: int) -> Any:
    session = fresh()
    session.conf.set(PARTITIONS, str(n))
    return session


def quietly_ready(session: Any, partitions: int) -> str:
    """The number of shuffle partitions a query then runs with."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make_ready_for_streams(session, partitions)
    return str(session.conf.get(PARTITIONS))


def test_configure_sets_what_streams_need_and_returns_old_and_new_values() -> None:
    session = fresh()
    changed = wr.configure(session)
    assert {name: old for name, (old, _) in changed.items()} == {
        PROVIDER: "x.HDFSBackedStateStoreProvider",
        CHANGELOG: "false",
        MANAGER: None,
        PARTITIONS: "200",
    }
    assert changed[PARTITIONS] == ("200", "2")
    assert changed[PROVIDER][1].endswith(".RocksDBStateStoreProvider")
    assert changed[MANAGER][1].endswith(".FileSystemBasedCheckpointFileManager")
    assert all(session.conf.get(name) == new for name, (_, new) in changed.items())


def test_configuring_twice_changes_nothing_more() -> None:
    session = fresh()
    wr.configure(session)
    assert wr.configure(session) == {}


def test_explicit_settings_are_never_changed() -> None:
    session = with_partitions(200)
    session.conf.set(CHANGELOG, "false")
    session.conf.set(MANAGER, "my.Manager")
    session.conf.set(PROVIDER, "my.Provider")
    before = session.conf.getAll
    assert wr.configure(session) == {}
    with pytest.warns(wr.WindrowWarning):
        make_ready_for_streams(session, 2)
    assert session.conf.getAll == before


@pytest.mark.parametrize(
    "session",
    [Session("yarn"), Session(files="hdfs://host"), ConnectSession(spark__master="local")],
)
def test_checkpoint_manager_is_only_for_local_disks(session: Any) -> None:
    assert MANAGER not in wr.configure(session)


def test_explicit_hdfs_backed_provider_is_refused_before_any_job() -> None:
    session = fresh()
    session.conf.set(PROVIDER, "org.apache.spark.x.HDFSBackedStateStoreProvider")
    with pytest.raises(wr.WindrowError, match=r"(?s)RocksDB.*got .*HDFSBacked.*Hint: unset it"):
        make_ready_for_streams(session, 2)


def test_implicit_changes_are_logged_once_with_old_and_new_value(
    caplog: pytest.LogCaptureFixture,
) -> None:
    session = fresh()
    make_ready_for_streams(session, 4)
    make_ready_for_streams(session, 4)
    assert len(caplog.records) == 1
    assert f"{PARTITIONS} from 200 to 4" in caplog.text
    assert f"{MANAGER} from no value to org.apache" in caplog.text


def test_a_second_query_that_needs_more_partitions_gets_them() -> None:
    session = fresh()
    assert [quietly_ready(session, n) for n in (2, 4, 3)] == ["2", "4", "4"]


def test_a_number_the_user_sets_between_two_queries_stays() -> None:
    session = fresh()
    assert quietly_ready(session, 2) == "2"
    session.conf.set(PARTITIONS, "6")
    assert quietly_ready(session, 3) == "6"
    with pytest.warns(wr.WindrowWarning, match="set to 6, and this query has 8 workers"):
        make_ready_for_streams(session, 8)


def test_many_partitions_for_few_workers_are_warned_of_where_the_user_called() -> None:
    with pytest.warns(wr.WindrowWarning, match="62 empty partitions") as caught:
        make_ready_for_streams(with_partitions(64), 2)
    assert [w.filename for w in caught] == [__file__]


def test_partitions_for_every_worker_are_not_warned_of() -> None:
    assert quietly_ready(with_partitions(8), 2) == "8"
