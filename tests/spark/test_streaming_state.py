"""State on a stream: it survives restarts and cold processes, and is never read as another's."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors.exceptions.base import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

import windrow as wr
from tests.spark.arrivals import Arrivals, finished
from tests.spark.results import aggregates, assert_same, by_window, expected, run_all
from windrow import functions as wf
from windrow.core import WindowModel, oracle
from windrow.engine.state import log as state
from windrow.engine.state.log import StateLog
from windrow.engine.state.store import Store
from windrow.engine.state.worker_state import Stateful
from windrow.patterns import Pattern
from windrow.spark.stateful import HEADER

pytestmark = pytest.mark.spark

SCHEMA = "k string, t bigint, x bigint"
ARROW = pa.schema([("k", pa.string()), ("t", pa.int64()), ("x", pa.int64())])
FUNCTIONS: dict[str, Any] = {"n": wf.count(), "total": wf.sum("x"), "median": wf.median("x")}
ROWS: list[dict[str, Any]] = [
    {"k": "abc"[i * i % 3], "t": 1_000_000 + (i + 3 * (i % 2)) * 1000, "x": i} for i in range(120)
]
"""Disordered by less than 5 ms."""


class Restarted:
    """A stream to files whose query may change while it is stopped."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark, self.folder = spark, folder
        self.arrivals = Arrivals(folder / "in", ARROW)
        self.came: list[dict[str, Any]] = []

    def bring(self, n: int) -> None:
        batch = ROWS[len(self.came) : len(self.came) + n]
        self.came += batch
        self.arrivals.add(batch)

    @property
    def checkpoint(self) -> Path:
        return self.folder / "checkpoint"

    def source(self, schema: str = SCHEMA) -> DataFrame:
        return self.arrivals.read(self.spark, schema)

    def keyed(self, *keys: str, schema: str = SCHEMA) -> wr.Query:
        return wr.stream(self.source(schema)).key_by(*keys).event_time("t", "5 ms")

    def query(self, model: WindowModel, delay: str = "5 ms") -> wr.Query:
        return self.keyed("k").event_time("t", delay).window(model)

    def run(self, query: wr.Query | wr.Join) -> None:
        """Start, take in what has come, and stop."""
        writer = query.to_df().writeStream.format("parquet").trigger(availableNow=True)
        writer = writer.option("checkpointLocation", str(self.checkpoint))
        finished(lambda: writer.start(str(self.folder / "out")))

    def results(self) -> DataFrame:
        return self.spark.read.parquet(str(self.folder / "out"))

    def assert_exact(self, model: WindowModel, what: object = "", delay: str = "5 ms") -> None:
        how: dict[str, Any] = {"key": ["k"], "time": "t", "delay": delay, "open_windows": "drop"}
        windows = oracle.windows(model, self.came, **how)
        wanted = expected(windows, aggregates(FUNCTIONS))
        assert_same(by_window(self.results(), ["k"]), wanted, what)


@pytest.fixture
def stream(spark: SparkSession, tmp_path: Path) -> Restarted:
    return Restarted(spark, tmp_path)


def test_nothing_depends_on_workers_kept_in_memory(spark: SparkSession, tmp_path: Path) -> None:
    session = spark.newSession()
    session.conf.set("spark.windrow.keepWorkers", "false")
    runs: list[tuple[WindowModel, Pattern]] = [
        (wr.CountWindow(7, 3), wr.KeyFarm(2)),
        (wr.TimeWindow("16 ms", "4 ms"), wr.WinFarm(2, wr.PaneFarm(1, 1))),
        (wr.SessionWindow("1 ms"), wr.WinFarm(2, workers="agnostic")),
    ]

    def check(number: int, model: WindowModel, pattern: Pattern) -> None:
        stream = Restarted(session, tmp_path / str(number))
        for _ in range(4):
            stream.bring(30)
        stream.run(stream.query(model).agg(**FUNCTIONS).using(pattern))
        stream.assert_exact(model, pattern)

    run_all(functools.partial(check, i, *run) for i, run in enumerate(runs))


@pytest.mark.parametrize(
    ("model", "pattern"),
    [
        (wr.CountWindow(20, 6), wr.WinFarm(2, wr.PaneFarm(1, 2))),
        (wr.TimeWindow("30 ms", "10 ms"), wr.WinMapReduce(2, 2)),
        (wr.CountWindow(20, 6), wr.KeyFarm(1, hot_keys=["a"], hot=wr.PaneFarm(1, 1))),
        (wr.TimeWindow("30 ms", "10 ms"), wr.PaneFarm(2, 1, workers="agnostic")),
        (wr.SessionWindow("1 ms"), wr.KeyFarm(2, hot_keys=["b"], hot=wr.WinMapReduce(2, 1))),
    ],
    ids=str,
)
def test_windows_go_on_over_a_restart(
    stream: Restarted, model: WindowModel, pattern: Pattern
) -> None:
    for _ in range(3):
        stream.bring(40)
        stream.run(stream.query(model).agg(**FUNCTIONS).using(pattern))
    stream.assert_exact(model, pattern)


def test_a_stream_that_is_to_grow_begins_with_as_many_partitions_as_the_user_sets(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Each of the 8 workers has a partition of its own, so a task, which any core can take."""
    model = wr.CountWindow(7, 3)
    stream = Restarted(spark, tmp_path)
    for partitions in ("8", "2"):
        stream.spark = spark.newSession()
        stream.spark.conf.set("spark.sql.shuffle.partitions", partitions)
        stream.bring(60)
        stream.run(stream.query(model).agg(**FUNCTIONS))
    reader = spark.read.format("statestore").option("stateVarName", HEADER)
    headers = reader.load(str(stream.checkpoint)).select("partition_id").collect()
    assert sorted(row[0] for row in headers) == list(range(8))
    stream.assert_exact(model)


def test_the_delay_may_change_with_a_restart(stream: Restarted) -> None:
    model = wr.TimeWindow("30 ms", "10 ms")
    for delay in ("5 ms", "20 ms"):
        stream.bring(60)
        stream.run(stream.query(model, delay).agg(**FUNCTIONS).using(wr.KeyFarm(2)))
    stream.assert_exact(model, delay="20 ms")


@pytest.mark.parametrize(
    "patterns",
    [
        [wr.PaneFarm(2, 2, level=0), wr.PaneFarm(2, 2, level=1), wr.PaneFarm(2, 2, level=2)],
        [wr.WinFarm(2, workers="agnostic"), wr.WinFarm(3, workers="agnostic", level=2)],
    ],
    ids=["levels", "executors"],
)
def test_what_holds_no_state_may_change_with_a_restart(
    stream: Restarted, patterns: list[Pattern]
) -> None:
    model = wr.TimeWindow("30 ms", "10 ms")
    for pattern in patterns:
        stream.bring(40)
        stream.run(stream.query(model).agg(**FUNCTIONS).using(pattern))
    stream.assert_exact(model)


OTHERS: dict[str, tuple[Any, str]] = {
    "other windows": (
        lambda q: q.window(wr.CountWindow(5)).agg(**FUNCTIONS).using(wr.KeyFarm(2)),
        "window.length: was 8, is 5",
    ),
    "another function": (
        lambda q: q.agg(**{**FUNCTIONS, "median": wf.max("x")}).using(wr.KeyFarm(2)),
        'computation.functions.median.function: was "Median", is "Max"',
    ),
    "other keys": (
        lambda q: q.key_by("x").agg(**FUNCTIONS).using(wr.KeyFarm(2)),
        'keys[0].column: was "k", is "x"',
    ),
    "another degree": (
        lambda q: q.agg(**FUNCTIONS).using(wr.KeyFarm(3)),
        ".using(wr.KeyFarm(2))",
    ),
    "another pattern": (lambda q: q.agg(**FUNCTIONS).using(wr.WinSeq()), ".using(wr.KeyFarm(2))"),
}


@pytest.fixture(scope="module")
def begun(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Restarted:
    """A stream that has stopped, and whose next batch waits."""
    stream = Restarted(spark, tmp_path_factory.mktemp("begun"))
    stream.bring(40)
    stream.run(stream.query(wr.CountWindow(8)).agg(**FUNCTIONS).using(wr.KeyFarm(2)))
    stream.bring(40)
    return stream


@pytest.mark.parametrize("other", OTHERS)
def test_state_of_another_query_or_parallelism_is_refused(begun: Restarted, other: str) -> None:
    change, told = OTHERS[other]
    query = change(begun.query(wr.CountWindow(8)))
    with pytest.raises(StreamingQueryException) as raised:
        begun.run(query)
    said = str(raised.value)
    assert "the checkpoint holds the state of another query or of another parallelism" in said
    assert "start with a new checkpoint location" in said
    assert told in said


def counted(query: wr.Query) -> wr.Query:
    return query.window(wr.CountWindow(8)).agg(**FUNCTIONS)


def joined(begun: Restarted) -> wr.Join:
    return wr.join(begun.source(), begun.source(), within="5 ms", on=wr.equi("k"), time="t")


REFUSED_BY_CHECK: dict[str, tuple[Any, str]] = {
    "keys removed": (
        lambda b: counted(wr.stream(b.source()).event_time("t")).using(wr.WinSeq()),
        'keys[0].column: was "k", is not set',
    ),
    "keys added": (
        lambda b: counted(b.keyed("k", "x")).using(wr.KeyFarm(2)),
        'keys[1].column: was not set, is "x"',
    ),
    "event time dropped": (
        lambda b: counted(wr.stream(b.source()).key_by("k")).using(wr.KeyFarm(2)),
        'event_time.column: was "t", is not set',
    ),
    "idle timeout added": (
        lambda b: counted(b.keyed("k").event_time("t", idle_timeout="1 s")).using(wr.KeyFarm(2)),
        'idle_timeout: was not set, is "set"',
    ),
    "a window farm": (
        lambda b: counted(b.keyed("k")).using(wr.WinFarm(2)),
        'pattern.pattern: was "KeyFarm", is "WinFarm"',
    ),
    "a pane farm": (
        lambda b: counted(b.keyed("k")).using(wr.PaneFarm(2, 2)),
        ".using(wr.KeyFarm(2))",
    ),
    "a nested pattern": (
        lambda b: counted(b.keyed("k")).using(wr.KeyFarm(2, wr.PaneFarm(2, 1))),
        ".using(wr.KeyFarm(2))",
    ),
    "another degree": (
        lambda b: counted(b.keyed("k")).using(wr.KeyFarm(3)),
        "pattern.n: was 2, is 3",
    ),
    "another type": (
        lambda b: counted(b.keyed("k", schema=SCHEMA.replace("x big", "x "))).using(wr.KeyFarm(2)),
        'columns[0].type: was "bigint", is "int"',
    ),
    "a join": (joined, "query: was a query over windows, is a join"),
}


def test_the_check_tells_what_a_checkpoint_was_and_what_a_query_is(begun: Restarted) -> None:
    for other, (made, told) in REFUSED_BY_CHECK.items():
        with pytest.raises(wr.WindrowError) as raised:
            made(begun).check_checkpoint(begun.checkpoint)
        said = str(raised.value)
        assert told in said, other
        assert "the checkpoint holds the state of another query or of another parallelism" in said
        assert "start with a new checkpoint location" in said


def test_the_check_accepts_the_same_query_and_a_new_location(
    begun: Restarted, tmp_path: Path
) -> None:
    again = counted(begun.keyed("k").event_time("t", "9 ms")).using(wr.KeyFarm(2, level=1))
    again.check_checkpoint(begun.checkpoint)
    again.check_checkpoint(str(tmp_path / "new"))


@pytest.mark.parametrize("has_state", [True, False])
def test_the_check_refuses_the_checkpoint_of_another_program(
    begun: Restarted, tmp_path: Path, has_state: bool
) -> None:
    df = begun.source()
    rows = df.dropDuplicates(["k"]) if has_state else df
    writer = rows.writeStream.format("noop").trigger(availableNow=True)
    finished(lambda: writer.option("checkpointLocation", str(tmp_path)).start())
    with pytest.raises(wr.WindrowError, match="without state of Windrow") as raised:
        counted(begun.keyed("k")).check_checkpoint(tmp_path)
    assert raised.value.got == ("dedupe" if has_state else "no stateful operator")


REFUSED_BY_SPARK: dict[str, str] = {
    "a pane farm": "NOT_MATCH_IN_STATE_METADATA",
    "event time dropped": "STATE_STORE_INVALID_CONFIG_AFTER_RESTART",
    "a join": "now there are \\[2\\] sources",
    # The last: its clock leaves a file in the checkpoint that another second source cannot read.
    "idle timeout added": "now there are \\[2\\] sources",
}


@pytest.mark.parametrize("other", REFUSED_BY_SPARK)
def test_without_the_check_the_log_tells_why_spark_refuses_another_shape(
    begun: Restarted, other: str, caplog: pytest.LogCaptureFixture
) -> None:
    made, told = REFUSED_BY_CHECK[other]
    with pytest.raises(StreamingQueryException, match=REFUSED_BY_SPARK[other]):
        begun.run(made(begun))
    heard_of(begun)
    (said,) = [r.getMessage() for r in caplog.records if r.levelname == "ERROR"]
    assert f"a stream cannot continue from file:{begun.checkpoint}: the checkpoint holds" in said
    assert told in said


def heard_of(begun: Restarted) -> None:
    """Wait until listeners have heard of all that has happened."""
    begun.spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()


def test_after_refusals_the_same_query_goes_on(begun: Restarted) -> None:
    begun.run(begun.query(wr.CountWindow(8)).agg(**FUNCTIONS).using(wr.KeyFarm(2)))
    begun.assert_exact(wr.CountWindow(8))


def stored_by_a_newer_version(w: wr.Window) -> dict[str, Any]:
    """Makes the process that calls it store the state of its worker once in a newer format."""
    save, own = StateLog.save, state.FORMAT

    def newer(self: StateLog, worker: Stateful, store: Store) -> None:
        state.FORMAT = own + 1
        try:
            save(self, worker, store)
        finally:
            StateLog.save, state.FORMAT = save, own  # type: ignore[method-assign]

    StateLog.save = newer  # type: ignore[method-assign]
    return {"n": len(w)}


def test_state_of_a_newer_version_is_refused(stream: Restarted) -> None:
    stream.arrivals.add([{"k": "a", "t": 1_000_000 + i * 1000, "x": i} for i in (0, 1, 2)])
    query = stream.query(wr.CountWindow(3), "0 ms").apply(stored_by_a_newer_version, "n bigint")
    stream.run(query.using(wr.WinSeq()))
    stream.arrivals.add([{"k": "a", "t": 1_000_000 + i * 1000, "x": i} for i in (3, 4)])
    stream.run(query.using(wr.WinSeq()))  # its last batch fires the one window
    stream.arrivals.add([{"k": "a", "t": 1_010_000, "x": 5}])
    with pytest.raises(StreamingQueryException, match="a newer version of Windrow"):
        stream.run(query.using(wr.WinSeq()))


def failing_once(marker: str) -> Any:
    def median(w: wr.Window) -> dict[str, Any]:
        if w.id == 3 and not Path(marker).exists():
            Path(marker).touch()
            raise RuntimeError("this once")
        x = w["x"]
        return {"n": len(x), "total": int(x.sum()), "median": float(sorted(x)[len(x) // 2])}

    return median


def test_a_function_that_failed_leaves_no_trace_in_the_results(
    stream: Restarted, tmp_path: Path
) -> None:
    model = wr.CountWindow(5)
    for _ in range(3):
        stream.bring(40)
    query = stream.query(model).apply(
        failing_once(str(tmp_path / "failed")), "n bigint, total bigint, median double"
    )
    with pytest.raises(StreamingQueryException, match="this once"):
        stream.run(query.using(wr.KeyFarm(2)))
    stream.run(query.using(wr.KeyFarm(2)))
    stream.assert_exact(model)


# Joins, and other changes that are refused: what was stored, what is started, and what is told

EQUAL = wr.equi("k")
PAIRS: dict[str, Any] = {"within": "5 ms", "on": EQUAL, "time": "t", "delay": "5 ms", "degree": 2}


def pairs(b: Restarted, **other: Any) -> wr.Join:
    return wr.join(b.source(), b.source(), **{**PAIRS, **other})


def idle(b: Restarted) -> wr.Query:
    return counted(b.keyed("k").event_time("t", "5 ms", idle_timeout="1 hour")).using(wr.WinSeq())


def by_arrival(b: Restarted) -> wr.Query:
    return counted(wr.stream(b.source()).key_by("k")).using(wr.WinSeq())


CHANGES: dict[str, tuple[Any, dict[str, tuple[Any, str]]]] = {
    "a join": (
        pairs,
        {
            "another window": (lambda b: pairs(b, within="9 ms"), "was 5000, is 9000"),
            "another predicate": (
                lambda b: pairs(b, on=EQUAL & wr.band(x=1)),
                '"Band"',
            ),
            "another kind": (lambda b: pairs(b, how="left"), 'how: was "inner", is "left_outer"'),
            "windows": (
                lambda b: counted(b.keyed("k")).using(wr.WinSeq()),
                "query: was a join, is a query over windows",
            ),
        },
    ),
    "an idle timeout": (
        idle,
        {
            "dropped": (
                lambda b: counted(b.keyed("k")).using(wr.WinSeq()),
                'idle_timeout: was "set", is not set',
            )
        },
    ),
    "no event time": (
        by_arrival,
        {
            "added": (
                lambda b: counted(b.keyed("k")).using(wr.WinSeq()),
                'event_time.column: was not set, is "t"',
            )
        },
    ),
}


@pytest.mark.parametrize("was", CHANGES)
def test_every_change_is_told_by_the_check_and_after_a_refusal(
    stream: Restarted, was: str, caplog: pytest.LogCaptureFixture
) -> None:
    begin, others = CHANGES[was]
    stream.bring(20)
    stream.run(begin(stream))
    begin(stream).check_checkpoint(stream.checkpoint)
    stream.bring(20)
    for other, (made, told) in others.items():
        with pytest.raises(wr.WindrowError) as raised:
            made(stream).check_checkpoint(stream.checkpoint)
        assert told in str(raised.value), other
    made, told = list(others.values())[-1]
    with pytest.raises(StreamingQueryException):
        stream.run(made(stream))
    heard_of(stream)
    assert told in "\n".join(r.getMessage() for r in caplog.records if r.levelname == "ERROR")
    stream.run(begin(stream))
