"""Whatever is killed, and whenever: results are exact, none is lost and none comes twice."""

from __future__ import annotations

import json
import random
import subprocess
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.e2e.streams_to_files import DELAY, JOINS, MODELS, NAMES, WITHIN
from tests.restarts import KillableProgram, Rows, rows
from tests.spark.arrivals import Arrivals
from windrow.core import oracle
from windrow.core.durations import microseconds
from windrow.core.watermark import final_watermark

pytestmark = pytest.mark.spark

ARROW = pa.schema([("k", pa.string()), ("t", pa.int64()), ("seq", pa.int32()), ("x", pa.int64())])
Program = partial(KillableProgram, "tests.e2e.streams_to_files", NAMES)


def expected(name: str, came: Rows) -> Counter[Any]:
    if name in JOINS:
        return expected_pairs(came)
    how: dict[str, Any] = {"key": ["k"], "time": "t", "order_by": ["seq"], "delay": DELAY}
    windows = oracle.windows(MODELS[name], came, open_windows="drop", **how)
    return Counter((w.key[0], w.id, tuple(r["seq"] for r in w.rows)) for w in windows)


def expected_pairs(came: Rows) -> Counter[Any]:
    """All pairs, and tuples without any whose windows are over."""

    def holds(x: Any, y: Any) -> bool:
        return x["k"] is not None and x["k"] == y["k"] and abs(x["x"] - y["x"]) <= 1

    left, right = map(microseconds, WITHIN)
    watermark = final_watermark(max(row["t"] for row in came), microseconds(DELAY))
    found = oracle.join(came, came, holds, within=WITHIN, time="t", how="full_outer")
    return Counter(
        (x and x["seq"], y and y["seq"])
        for x, y in found
        if (x is None or y is not None or x["t"] + left < watermark)
        and (y is None or x is not None or y["t"] + right < watermark)
    )


def assert_exact(folder: Path, came: Rows, names: list[str]) -> None:
    found = json.loads((folder / "results.json").read_text())
    for name in names:
        wanted = expected(name, came)
        got = Counter(tuple(tuple(v) if isinstance(v, list) else v for v in r) for r in found[name])
        assert len(wanted) > 20
        assert got == wanted, f"{name}: lost {wanted - got}, too many {got - wanted}"


@pytest.fixture
def came() -> Rows:
    return rows(400)


def bring(came: Rows, folder: Path, batches: int) -> None:
    arrivals = Arrivals(folder / "in", ARROW)
    length = len(came) // batches
    for i in range(0, len(came), length):
        arrivals.add(came[i : i + length])


@pytest.mark.campaign
def test_driver_killed_again_and_again_at_any_moment(tmp_path: Path, came: Rows) -> None:
    kills = 10
    bring(came, tmp_path, 5 + 2 * kills)
    names = ["counted", "paned", "joined", "scanned"]
    draw = random.Random(7)
    killed: list[list[str]] = []
    while len(killed) < kills:
        program = Program(tmp_path, "local[2]", *names)
        lines = program.lines
        if next(lines, None) is None:
            program.finish()
        # Some of its first batches, then any moment of the next.
        told = [next(lines, "the end") for _ in range(draw.randrange(5))]
        try:
            program.process.wait(draw.random() * 1.5)
        except subprocess.TimeoutExpired:
            program.kill()
        if "the end" in told or program.process.returncode == 0:
            break
        killed.append(told)
    assert len(killed) == kills, f"it ended too soon, killed only {len(killed)} times"
    Program(tmp_path, "local[2]", *names).finish()
    assert_exact(tmp_path, came, names)


@pytest.mark.parametrize(
    ("sizes", "names"),
    [
        ((2, 4, 1), ["resized", "rejoined"]),
        pytest.param((1, 8, 2), ["resized", "hinted"], marks=pytest.mark.campaign),
    ],
    ids=str,
)
def test_a_stream_goes_on_with_other_cores_after_being_killed(
    tmp_path: Path, came: Rows, sizes: tuple[int, ...], names: list[str]
) -> None:
    """Killed between: the default pattern's state fits any number of cores."""
    bring(came, tmp_path, 9)
    for cores in sizes[:-1]:
        program = Program(tmp_path, f"local[{cores}]", *names)
        told = [line for line, _ in zip(program.lines, range(4), strict=False)]
        program.kill()
        assert len(told) == 4, program.said.read_text()[-4000:]
    Program(tmp_path, f"local[{sizes[-1]}]", *names).finish()
    assert_exact(tmp_path, came, names)


def test_a_stream_of_files_goes_on_after_being_killed(tmp_path: Path, came: Rows) -> None:
    """Its tasks read the files: none is left out, and none is read twice."""
    bring(came, tmp_path, 5)
    program = Program(tmp_path, "local[2]", "scanned")
    told = [line for line, _ in zip(program.lines, range(3), strict=False)]
    program.kill()
    assert len(told) == 3, program.said.read_text()[-4000:]
    Program(tmp_path, "local[1]", "scanned").finish()
    assert_exact(tmp_path, came, ["scanned"])


def test_python_worker_killed_in_the_middle_of_a_batch(tmp_path: Path, came: Rows) -> None:
    """Spark runs the task again, on the same state."""
    bring(came, tmp_path, 5)
    Program(tmp_path, "local[2,4]", "counted", "--kill", "worker").finish()
    assert (tmp_path / "killed").exists()
    assert_exact(tmp_path, came, ["counted"])


@pytest.mark.campaign
def test_executor_killed_in_the_middle_of_a_batch(tmp_path: Path, came: Rows) -> None:
    bring(came, tmp_path, 5)
    names = ["counted", "sessions"]
    scratch = str(tmp_path / "scratch")
    how = ["--kill", "executor"]
    program = Program(tmp_path, "local-cluster[2,1,1024]", *names, *how, SPARK_LOCAL_DIRS=scratch)
    program.finish()
    assert (tmp_path / "killed").exists()
    assert_exact(tmp_path, came, names)
