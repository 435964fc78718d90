"""Golden state: what workers stored at one commit, which all later ones of that version must read.

``python -m tests.golden_state`` writes ``tests/data/golden/state-v<FORMAT>``, one archive per
scenario. Each has the blobs of all its workers halfway through a stream, and what the stream had
given by then. A version that exists is never written again: state that the current code cannot read
needs a new version. Versions that the log still reads keep their folders; what earlier commits
wrote in another layout, which is refused, is in ``state-v2-other-layout``.
"""

from __future__ import annotations

import json
import lzma
import zipfile
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa

import windrow as wr
from windrow import functions as wf
from windrow.core import WindowModel, oracle
from windrow.engine.in_process import WindowRunner
from windrow.engine.joins.in_process import JoinRunner
from windrow.engine.stages.runner import StageRunner
from windrow.engine.state.identity import describe
from windrow.engine.state.log import FORMAT, OLDEST, StateLog
from windrow.engine.state.store import MemoryStore
from windrow.engine.workers.worker import Worker
from windrow.patterns import Pattern
from windrow.patterns.windows import window_stages

GOLDEN = Path(__file__).parent / "data" / "golden"
FOLDER = GOLDEN / f"state-v{FORMAT}"
SCHEMA = pa.schema(
    [
        ("k", pa.string()),
        ("price", pa.decimal128(10, 2)),
        ("t", pa.int64()),
        ("x", pa.int64()),
        ("d", pa.float64()),
        ("tags", pa.list_(pa.string())),
    ]
)
ROWS: list[dict[str, Any]] = [
    {
        "k": [None, "a", "b", "c"][i % 5 % 4],
        "price": None if i % 7 == 0 else Decimal(("0.25", "1.50")[i % 2]),
        "t": i + 3 * (i % 2) + 20 * (i >= 12),
        "x": None if i % 11 == 5 else i * 37 % 50,
        "d": (i + 3 * (i % 2)) / 2,
        "tags": None if i % 5 == 0 else ["x"] * (i % 3),
    }
    for i in range(48)
]
"""Disordered by less than 4, with a gap."""
DELAY, BATCH, BEFORE = 4, 6, 5
"""How far the watermark is behind, the tuples per batch, and the batches that are stored."""
Given = Counter[str]
Functions = dict[str, wr.Aggregate[Any, Any, Any]]
Stores = dict[tuple[int, int], tuple[StateLog, MemoryStore]]
"""The state of workers, and the logs that write it, by stage and number."""


class Scenario(ABC):
    """A query halfway through its stream."""

    name: str

    @property
    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """What the state is stored with."""

    @abstractmethod
    def runner(self) -> StageRunner:
        """A new one."""

    @abstractmethod
    def push(self, runner: Any, rows: list[dict[str, Any]]) -> list[pa.Table]:
        """Take a batch in."""

    @abstractmethod
    def shown(self, table: pa.Table) -> list[str]:
        """Rows of the result in words."""

    @abstractmethod
    def expected(self) -> Given:
        """All results by the oracle."""

    def run(self, runner: StageRunner, batches: range) -> Given:
        """What these batches give."""
        given: list[pa.Table] = []
        for number in batches:
            came = ROWS[: (number + 1) * BATCH]
            given += self.push(runner, came[number * BATCH :])
            given += runner.advance(max(row["t"] for row in came) - DELAY)
        return self.words(given)

    def words(self, tables: list[pa.Table]) -> Given:
        return Counter(row for table in tables for row in self.shown(table))


@dataclass(frozen=True)
class Windows(Scenario):
    """An aggregation over windows."""

    name: str
    model: WindowModel
    functions: Functions
    pattern: Pattern
    keys: Sequence[str] = ("k",)
    order_by: Sequence[str] = ()

    def query(self) -> wr.Query:
        query = wr.stream(SCHEMA.empty_table()).event_time("t")
        query = query.key_by(*self.keys) if self.keys else query
        query = query.order_by(*self.order_by) if self.order_by else query
        return query.window(self.model).agg(**self.functions)

    @property
    def identity(self) -> dict[str, Any]:
        return describe(self.query().window_query(), self.pattern)

    def runner(self) -> WindowRunner:
        query = self.query().window_query()
        return WindowRunner(query, window_stages(query, self.pattern))

    def push(self, runner: WindowRunner, rows: list[dict[str, Any]]) -> list[pa.Table]:
        return runner.push(pa.Table.from_pylist(rows, SCHEMA))

    def shown(self, table: pa.Table) -> list[str]:
        for bound in ("window_start", "window_end"):
            if pa.types.is_timestamp(table.schema.field(bound).type):
                at = table.schema.get_field_index(bound)
                table = table.set_column(at, bound, table[bound].cast(pa.int64()))
        names = [*self.keys, "window_id", "window_start", "window_end", *self.functions]
        return [_words([row[name] for name in names]) for row in table.to_pylist()]

    def expected(self) -> Given:
        found = oracle.windows(self.model, ROWS, key=self.keys, time="t", order_by=[*self.order_by])
        return Counter(
            _words([*w.key, w.id, w.start, w.end, *self._results(w.rows)]) for w in found
        )

    def _results(self, rows: Any) -> list[Any]:
        return [oracle.aggregate(function, rows) for function in self.functions.values()]


def _words(row: list[Any]) -> str:
    return repr([round(value, 9) if isinstance(value, float) else value for value in row])


def spread(window: wr.Window) -> dict[str, Any]:
    """What of a window, and of a part of one, is returned by a user's own functions."""
    known = [x for x in window["x"].tolist() if x is not None and x == x]
    return {"n": len(window), "total": int(sum(known))}


def add(so_far: dict[str, Any], row: Any) -> dict[str, Any]:
    value = row["x"]
    is_known = value is not None and value == value
    return {"n": so_far["n"] + 1, "total": so_far["total"] + (int(value) if is_known else 0)}


def together(parts: list[Any]) -> dict[str, Any]:
    return {name: sum(part[name] for part in parts) for name in ("n", "total")}


@dataclass(frozen=True)
class Called(Windows):
    """A user's own functions over windows: ``apply``, ``fold`` or ``decompose``."""

    kind: str = "apply"

    def query(self) -> wr.Query:
        query, returns = super().query(), "n bigint, total bigint"
        if self.kind == "apply":
            return query.apply(spread, returns)
        if self.kind == "fold":
            return query.fold(add, {"n": 0, "total": 0}, returns)
        return query.decompose(
            partial=spread, combine=together, partial_returns=returns, returns=returns
        )

    def _results(self, rows: Any) -> list[Any]:
        return [len(rows), sum(row["x"] or 0 for row in rows)]


@dataclass(frozen=True)
class Joined(Scenario):
    """A join of the rows with even and with odd numbers."""

    name: str
    within: Any
    how: Any
    strategy: Any
    layout: tuple[int, int]

    def join(self) -> wr.Join:
        return wr.join(
            SCHEMA.empty_table(),
            SCHEMA.empty_table(),
            within=self.within,
            on=wr.equi("k") & wr.band(x=9),
            time="t",
            how=self.how,
            strategy=self.strategy,
            **({"layout": self.layout} if self.strategy == "grid" else {"degree": self.layout[1]}),
        )

    @property
    def identity(self) -> dict[str, Any]:
        return self.join()._identity()

    def runner(self) -> JoinRunner:
        join = self.join()
        return JoinRunner(join.query, join.stages())

    def push(self, runner: JoinRunner, rows: list[dict[str, Any]]) -> list[pa.Table]:
        left, right = (pa.Table.from_pylist(rows[side::2], SCHEMA) for side in (0, 1))
        return runner.push(left, right)

    def shown(self, table: pa.Table) -> list[str]:
        return [repr(list(row.values())) for row in table.to_pylist()]

    def expected(self) -> Given:
        how: dict[str, Any] = {"within": self.within, "time": "t", "how": self.how}
        blank = dict.fromkeys(SCHEMA.names)
        has_pairs = self.how not in ("semi", "anti")
        return Counter(
            repr([*(x or blank).values(), *((y or blank).values() if has_pairs else ())])
            for x, y in oracle.join(ROWS[0::2], ROWS[1::2], _are_near, **how)
        )


def _are_near(x: Any, y: Any) -> bool:
    if None in (x["k"], y["k"], x["x"], y["x"]):
        return False
    return bool(x["k"] == y["k"] and abs(x["x"] - y["x"]) <= 9)


class Spread(wr.Commutative[int, tuple[int, int], int]):
    """A user's own aggregate, whose partials are pickled."""

    returns = "bigint"

    def lift(self, value: int) -> tuple[int, int]:
        return value, value

    def combine(self, a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
        return min(a[0], b[0]), max(a[1], b[1])

    def lower(self, partial: tuple[int, int]) -> int:
        return partial[1] - partial[0]


NUMBERS: Functions = {"n": wf.count(), "total": wf.sum("x"), "most": wf.max("x")}
VALUES: Functions = {"xs": wf.collect("x"), "prices": wf.collect("price"), "middle": wf.median("x")}
SMALL: Functions = {"n": wf.count(), "total": wf.sum("x")}
"""What the functions of a user's own compute, too."""
MIDDLE: Functions = {"middle": wf.median("x")}
SPREAD: Functions = {"spread": wf.var("x"), "n": wf.count()}
OVERLAPPING, COUNTED = wr.TimeWindow(16, 4), wr.CountWindow(6, 2)
SCENARIOS: list[Scenario] = [
    Windows("time-panes", wr.TimeWindow(16, 4), NUMBERS, wr.KeyFarm(2)),
    Windows("landmark", wr.LandmarkWindow(20, 5), VALUES, wr.WinSeq()),
    Windows("count", wr.CountWindow(4, 3), VALUES, wr.WinSeq(), ("k", "price"), ("x",)),
    Windows("count-panes", wr.CountWindow(6, 4), NUMBERS, wr.PaneFarm(2, 2), ()),
    Windows("sessions", wr.SessionWindow(5), VALUES | {"tags": wf.last("tags")}, wr.KeyFarm(2)),
    Windows("delta", wr.DeltaWindow("d", 4.0, 1.5), VALUES, wr.WinSeq()),
    Windows("slide-by-time", wr.SlideByTimeWindow(3, 8), VALUES, wr.WinFarm(2, workers="agnostic")),
    Windows("slide-by-tuple", wr.SlideByTupleWindow(9, 2), VALUES, wr.WinSeq()),
    Windows("custom", wr.TimeWindow(16, 4), {"spread": Spread("x")}, wr.PaneFarm(2, 1)),
    Joined("outer-join", "15 us", "full_outer", "grid", (2, 1)),
    Joined("count-join", (7, 5), "left_outer", "centralised", (1, 2)),
    Windows("farm", OVERLAPPING, MIDDLE, wr.WinFarm(2, batch=2)),
    Windows("ranked-farm", COUNTED, MIDDLE, wr.WinFarm(2)),
    Windows("agnostic-sessions", wr.SessionWindow(5), MIDDLE, wr.WinFarm(2, workers="agnostic")),
    Windows("parts", OVERLAPPING, SMALL | {"last": wf.last("x")}, wr.WinMapReduce(2, 1)),
    Windows("parts-of-rows", OVERLAPPING, MIDDLE, wr.WinMapReduce(2, 2)),
    Windows("session-parts", wr.SessionWindow(5), SMALL, wr.WinMapReduce(2, 1)),
    Windows("panes-of-rows", OVERLAPPING, MIDDLE, wr.PaneFarm(2, 1)),
    Windows("panes-of-numbers", OVERLAPPING, SPREAD, wr.PaneFarm(1, 2)),
    Windows("ranked-panes", COUNTED, SPREAD, wr.PaneFarm(2, 1)),
    Windows("key-farm-of-panes", OVERLAPPING, MIDDLE, wr.KeyFarm(2, wr.PaneFarm(2, 1))),
    Windows("key-farm-of-parts", COUNTED, SMALL, wr.KeyFarm(2, wr.WinMapReduce(2, 1))),
    Windows("farm-of-panes", OVERLAPPING, SMALL, wr.WinFarm(2, wr.PaneFarm(2, 1))),
    Windows("ranked-farm-of-panes", COUNTED, MIDDLE, wr.WinFarm(2, wr.PaneFarm(1, 1))),
    Windows("farm-of-parts", OVERLAPPING, SMALL, wr.WinFarm(2, wr.WinMapReduce(2, 1))),
    Called("apply", COUNTED, SMALL, wr.KeyFarm(2), kind="apply"),
    Called("fold", wr.SessionWindow(5), SMALL, wr.KeyFarm(2), kind="fold"),
    Called("decompose", OVERLAPPING, SMALL, wr.PaneFarm(2, 1), kind="decompose"),
    Joined("anti-join", ("30 us", "20 us"), "anti", "grid", (1, 2)),
    Joined("handshake", "15 us", "inner", "handshake", (1, 2)),
]


def stored_by_versions() -> list[tuple[Scenario, Path]]:
    """The state that can be read: of each scenario, by the versions that had it."""
    found = []
    for scenario in SCENARIOS:
        for version in range(OLDEST, FORMAT + 1):
            paths = (GOLDEN / f"state-v{version}").glob(f"{scenario.name}.zip*")
            found += [(scenario, path) for path in paths]
    return found


def workers_of(runner: StageRunner) -> dict[tuple[int, int], Worker]:
    """The workers that hold state, by stage and number."""
    stages = runner.stateful()
    return {(i, j): w for i, workers in enumerate(stages) for j, w in enumerate(workers)}


def write(scenario: Scenario, path: Path) -> None:
    """Run a scenario up to the middle, storing state after each batch."""
    runner, given = scenario.runner(), Counter[str]()
    workers = workers_of(runner)
    stores = {place: (StateLog(scenario.identity, place[0]), MemoryStore()) for place in workers}
    for number in range(BEFORE):
        given += scenario.run(runner, range(number, number + 1))
        for place, (log, store) in stores.items():
            log.save(workers[place], store)
    arrived: Any = runner.arrived  # type: ignore[attr-defined]
    ran = {"watermark": runner.watermark, "arrived": arrived, "given": sorted(given.elements())}
    with lzma.open(path, "w") as file, zipfile.ZipFile(file, "w") as archive:
        archive.writestr("run.json", json.dumps(ran, indent=1))
        for (stage, worker), (_, store) in stores.items():
            for name, blob in store.blobs.items():
                archive.writestr(f"{stage}-{worker}/{name or 'header'}", blob)


def read(scenario: Scenario, path: Path) -> tuple[StageRunner, Stores, Given]:
    """A runner in the stored state, the state, and what was given by then."""
    blobs: dict[str, dict[str, bytes]] = {}
    opened: Any = lzma.open if path.suffix == ".xz" else open
    with opened(path, "rb") as file, zipfile.ZipFile(file) as archive:
        ran = json.loads(archive.read("run.json"))
        for name in archive.namelist():
            place, _, blob = name.partition("/")
            own = "" if blob == "header" else blob
            blobs.setdefault(place, {})[own] = archive.read(name)
    stored = {place: MemoryStore(blobs["{}-{}".format(*place)]) for place in _places(blobs)}
    runner, stores = loaded(scenario, stored, ran["watermark"], ran["arrived"])
    return runner, stores, Counter(ran["given"])


def _places(blobs: Iterable[str]) -> list[tuple[int, int]]:
    """The stages and numbers of workers, by the names of their folders."""
    names = (name.split("-") for name in blobs if name != "run.json")
    return [(int(stage), int(number)) for stage, number in names]


def loaded(
    scenario: Scenario, stored: dict[tuple[int, int], MemoryStore], watermark: int, arrived: Any
) -> tuple[StageRunner, Stores]:
    """A new runner whose workers have loaded their stored state."""
    runner = scenario.runner()
    stores: Stores = {}
    for place, worker in workers_of(runner).items():
        stores[place] = StateLog(scenario.identity, place[0]), stored[place]
        stores[place][0].load(worker, stored[place])
    runner.watermark = watermark
    runner.arrived = arrived  # type: ignore[attr-defined]
    return runner, stores


def restarted(
    scenario: Scenario, runner: StageRunner, stores: Stores
) -> tuple[StageRunner, Stores]:
    """Store the state of all workers, and go on with new ones."""
    for place, worker in workers_of(runner).items():
        log, store = stores[place]
        log.save(worker, store)
    stored = {place: store for place, (_, store) in stores.items()}
    arrived: Any = runner.arrived  # type: ignore[attr-defined]
    return loaded(scenario, stored, runner.watermark, arrived)


def main() -> None:
    if FOLDER.exists():
        raise SystemExit(f"{FOLDER} exists; a version of the state is written once")
    FOLDER.mkdir(parents=True)
    for scenario in SCENARIOS:
        write(scenario, FOLDER / f"{scenario.name}.zip.xz")


if __name__ == "__main__":
    main()
